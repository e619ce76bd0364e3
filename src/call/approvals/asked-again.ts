import type { ApprovalCard, CallRow } from "../../model/call.ts"
import { canonicalJson } from "../../lib/canonical-json.ts"
import { isSameReason } from "../../model/reason.ts"
import type { Preview } from "../../model/preview.ts"
import type { Proposal } from "./card.ts"

/** What is shown now, in place of what a stored call shows. */
interface ShownNow {
  proposal: Proposal
  card: ApprovalCard
  preview: Preview | null
}

/** Why a stored call is put up for approval again: who approved what, and what has changed since. */
export function whyAskedAgain(row: CallRow, now: ShownNow): string {
  const { answer, revision } = row
  const found = changesSince(row, now)
  const changes = found.length === 0 ? ["something about it has changed"] : found
  const since =
    answer?.approved === true ? `${answer.by} approved revision ${revision}. Since then` : `Since revision ${revision}`
  return `${since} ${changes.join(", and ")}.`
}

function changesSince(row: CallRow, { proposal: { tool, asks, raw }, card, preview }: ShownNow): string[] {
  const same = (one: unknown, other: unknown) => canonicalJson(one) === canonicalJson(other)
  const reasons = asks.filter((ask) => ask.code !== "call_changed" && !row.asks.some((old) => isSameReason(old, ask)))
  const found = [
    ...changedFiles(row.card.files, card.files),
    ...(row.definitionHash === tool.definitionHash ? [] : [`the tool ${tool.name} has changed`]),
    ...(row.card.inputDigest === card.inputDigest && row.input === raw ? [] : ["its input has changed"]),
    ...(same(row.card.touches, card.touches) ? [] : ["what it touches has changed"]),
    ...(same(row.card.approvers, card.approvers) ? [] : ["who must agree has changed"]),
    ...reasons.map(({ sentence }) => `there is another reason to ask: ${sentence.replace(/\.$/, "")}`),
  ]
  return found.length > 0 || same(row.preview, preview) ? found : ["its preview has changed"]
}

const mostFiles = 3

function changedFiles(before: ApprovalCard["files"], after: ApprovalCard["files"]): string[] {
  const names = Object.keys(before).filter((name) => name in after && before[name] !== after[name])
  const more = names.length - mostFiles
  // The name of a file must not look like the next line of a message.
  const plain = names.map((name) => (/\p{Cc}/u.test(name) ? JSON.stringify(name) : name))
  const listed = [...plain.slice(0, mostFiles), ...(more > 0 ? [`${more} more`] : [])]
  if (names.length === 0) return []
  return [`${listed.join(", ")} ${names.length === 1 ? "has" : "have"} changed`]
}
