import { Ending } from "../../core/ending.ts"
import { canonicalJson } from "../../lib/canonical-json.ts"
import type { Ports } from "../state/ports.ts"
import { isSameReason } from "../../core/reason.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { removedApprovers } from "../../approvals/queue/answer-pending.ts"
import { boundFiles } from "../stored/card.ts"
import { decideNow } from "./allowed.ts"
import type { ActiveCall } from "../state/active-call.ts"
import { agentStoppedEnding } from "../state/stopped-endings.ts"
import { visible } from "./visible.ts"

/**
 * Checks a call once more that waited for its permit. It ends when it is denied by now, when a person would have to approve
 * something new, or when a file that was approved has changed.
 */
export async function recheckBeforeRun(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
): Promise<void> {
  const stopped = agentStoppedEnding(call, ports)
  if (stopped !== undefined) throw stopped
  call.who = ports.organisation.view(call.request.agentId)
  visible(call, tool, ports)
  const { verdict, reasons } = decideNow(call, tool, input, ports)
  const { row } = call
  const approved = row?.answer?.approved === true ? row.asks : []
  const asks = verdict === "ask" ? reasons.filter(({ shadow }) => shadow === undefined) : []
  const unanswered = asks.find((ask) => !approved.some((known) => isSameReason(known, ask)))
  if (unanswered !== undefined) throw changed(tool, unanswered.sentence)
  if (row?.answer?.approved !== true) return
  const [removed] = removedApprovers(row, ports)
  if (removed !== undefined) throw changed(tool, `${removed}, who approved it, was removed from the organisation.`)
  const files = await boundFiles(call, ports)
  if (canonicalJson(files) !== canonicalJson(row.card.files)) throw changed(tool, "A file that it names has changed.")
}

function changed(tool: RegisteredTool, why: string): Ending {
  const sentence = dialectText`${toolRef(tool.name)} was not executed, because something changed while it waited for its turn: ${why} Call again.`
  return new Ending("permission_denied", sentence)
}
