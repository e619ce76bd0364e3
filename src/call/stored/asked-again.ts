import { isSameReason, type ReasonParams, type Sentence } from "../../core/reason.ts"
import type { ApprovalCard, CallRow } from "../../core/call.ts"
import { canonicalJson } from "../../lib/canonical-json.ts"
import type { Preview } from "../../core/preview.ts"
import type { Proposal } from "./card.ts"

/** The values shown now, in place of those that a stored call shows. */
interface ShownNow {
  proposal: Proposal
  card: ApprovalCard
  preview: Preview | null
  /** Approvers who were removed since. */
  removed: readonly string[]
}

/** A note on a card, and its parts for translation. */
export interface Note {
  note: string
  again: readonly Sentence[]
}

/** Why a stored call is put up for approval again: who approved what, and what has changed since. */
export function whyAskedAgain(row: CallRow, now: ShownNow): Note {
  const { answer, revision } = row
  const found = changesSince(row, now)
  const changes = found.length === 0 ? [part("again_changed", "something about it has changed")] : found
  const since =
    answer?.approved === true
      ? part("again_approved", `${answer.by} approved revision ${revision}. Since then`, { by: answer.by, revision })
      : part("again_since", `Since revision ${revision}`, { revision })
  return { note: `${since.text} ${changes.map(({ text }) => text).join(", and ")}.`, again: [since, ...changes] }
}

/** Why a call waits as it was after a person edited it. */
export function whyNotEdited(by: string, problem: string): Note {
  const note = `The input ${by} gave cannot be used: ${problem}`
  return { note, again: [part("again_unusable", note, { by })] }
}

function part(code: string, text: string, params?: ReasonParams): Sentence {
  return params === undefined ? { code, text } : { code, params, text }
}

function changesSince(row: CallRow, { proposal, card, preview, removed }: ShownNow): Sentence[] {
  const { tool, asks, raw } = proposal
  const same = (one: unknown, other: unknown) => canonicalJson(one) === canonicalJson(other)
  const reasons = asks.filter((ask) => ask.code !== "call_changed" && !row.asks.some((old) => isSameReason(old, ask)))
  const found = [
    ...removed.map((by) => part("again_removed", `${by} was removed from the organisation`, { by })),
    ...changedFiles(row.card.files, card.files),
    ...(row.definitionHash === tool.definitionHash
      ? []
      : [part("again_tool", `the tool ${tool.name} has changed`, { tool: tool.name })]),
    ...(row.card.inputDigest === card.inputDigest && row.input === raw
      ? []
      : [part("again_input", "its input has changed")]),
    ...(same(row.card.touches, card.touches) ? [] : [part("again_touches", "what it touches has changed")]),
    ...(same(row.card.approvers, card.approvers) ? [] : [part("again_approvers", "who must agree has changed")]),
    ...reasons.map(({ sentence }) => {
      const reason = sentence.replace(/\.$/, "")
      return part("again_reason", `there is another reason to ask: ${reason}`, { reason })
    }),
  ]
  return found.length > 0 || same(row.preview, preview) ? found : [part("again_preview", "its preview has changed")]
}

const mostFiles = 3

function changedFiles(before: ApprovalCard["files"], after: ApprovalCard["files"]): Sentence[] {
  const names = Object.keys(before).filter((name) => name in after && before[name] !== after[name])
  const more = names.length - mostFiles
  // The name of a file must not look like the next line of a message.
  const plain = names.map((name) => (/\p{Cc}/u.test(name) ? JSON.stringify(name) : name))
  const listed = [...plain.slice(0, mostFiles), ...(more > 0 ? [`${more} more`] : [])]
  if (names.length === 0) return []
  const text = `${listed.join(", ")} ${names.length === 1 ? "has" : "have"} changed`
  return more > 0
    ? [part("again_more_files", text, { files: plain.slice(0, mostFiles), count: names.length })]
    : [part("again_files", text, { files: plain })]
}
