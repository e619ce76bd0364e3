import { setTimeout as sleep } from "node:timers/promises"
import type { CallRow, ApprovalCard } from "../../core/call.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { canonicalJson, sha256 } from "../../lib/canonical-json.ts"
import type { Ports } from "../state/ports.ts"
import type { Verdict } from "../../core/verdict.ts"
import type { Preview } from "../../core/preview.ts"
import { isSameReason, type Reason } from "../../core/reason.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { readPreview } from "../../schema/read-preview.ts"
import { rememberable } from "../../approvals/queue/grants.ts"
import { ruleTouching } from "../../approvals/queue/offered-rule.ts"
import { cardHeader, type ActiveCall } from "../state/active-call.ts"

const previewMs = 10_000

/** The tool and the input that may run. */
export interface Execution {
  tool: RegisteredTool
  input: unknown
}

/** A proposal for a person to approve: a tool with an input, and why approval is needed. */
export interface Proposal extends Execution {
  /** The input before defaults, in canonical JSON: what the approval queue shows. */
  raw: string
  verdict: Verdict
  asks: readonly Reason[]
}

/** Makes the card that approvers see and that their approval is bound to, besides the row itself. */
export async function makeCard(
  call: ActiveCall,
  { tool, input, verdict }: Proposal,
  ports: Ports,
): Promise<ApprovalCard> {
  const commands = call.declared?.filter(({ kind }) => kind === "command") ?? []
  return {
    ...cardHeader(call, tool),
    inputDigest: sha256(canonicalJson(input)),
    touches: call.touches,
    files: await boundFiles(call, ports),
    ...(call.touches.list.some(({ kind }) => kind === "write") ? { sizes: await ports.fileSizes(call.touches) } : {}),
    ...(commands.length === 0 ? {} : { commandParts: commands.flatMap((touch) => ports.guards.commandParts(touch)) }),
    question: tool.question?.(input),
    approvers: verdict.approvers ?? [],
    remember: rememberable(tool, verdict, call.touches, call.request.taskId),
    ruleTouching: ruleTouching(tool, verdict, call.touches, ports),
  }
}

/** The card of a call that begins to wait: it also says which hosts are new. */
export async function makeShownCard(call: ActiveCall, proposal: Proposal, ports: Ports): Promise<ApprovalCard> {
  const card = await makeCard(call, proposal, ports)
  const hosts = card.touches.list.flatMap(({ kind, what }) => (kind === "host" ? what : []))
  return hosts.length === 0 ? card : { ...card, newHosts: await ports.newHosts(hosts) }
}

/** Digests of the files that an approval is bound to: those that the call touches and those that its commands run. */
export async function boundFiles({ touches, declared = [] }: ActiveCall, ports: Ports): Promise<ApprovalCard["files"]> {
  if (touches.list.length === 0) return {}
  const commands = declared.filter(({ kind }) => kind === "command")
  const named = commands.flatMap((touch) => ports.guards.commandFiles(touch))
  return ports.digests({
    ...touches,
    list: [...touches.list, ...named.map((what) => ({ kind: "read" as const, what }))],
  })
}

/** The tool's preview. If it fails, the approver sees that it failed. */
export async function renderPreview({ tool, input }: Execution, call: ActiveCall): Promise<Preview | null> {
  if (tool.preview === undefined) return null
  try {
    const shown = await Promise.race([tool.preview(input, call), sleep(previewMs, undefined, { ref: false })])
    return shown === undefined ? { kind: "text", text: "(The preview took too long.)" } : readPreview(shown)
  } catch (error) {
    return { kind: "text", text: `(The preview failed: ${errorMessage(error)})` }
  }
}

/** Reports whether the row in the approval queue shows this tool with these reasons. */
export function showsProposal(row: CallRow, { tool, asks }: Proposal): boolean {
  if (row.tool !== tool.name || row.definitionHash !== tool.definitionHash) return false
  // The card that shows an edited input says who edited it, whatever its reasons are.
  const isShown = (ask: Reason) => ask.code === "input_edited" && ask.source === row.card.editedBy
  return asks.every((ask) => isShown(ask) || row.asks.some((shown) => isSameReason(shown, ask)))
}

/** Reports whether the row shows exactly this: tool, definition, input, preview, files and every reason to ask. */
export async function coversProposal(
  call: ActiveCall,
  row: CallRow,
  proposal: Proposal,
  ports: Ports,
): Promise<boolean> {
  if (!showsProposal(row, proposal)) return false
  if (canonicalJson(row.preview) !== canonicalJson(await renderPreview(proposal, call))) return false
  const card = await makeCard(call, proposal, ports)
  return card.inputDigest === row.card.inputDigest && bindingPart(card) === bindingPart(row.card)
}

function bindingPart({ touches, files, approvers }: ApprovalCard): string {
  return canonicalJson({ touches, files, approvers })
}
