import { pendingItem } from "../../approvals/queue/answer-pending.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { ActiveCall } from "../state/active-call.ts"
import type { Ports } from "../state/ports.ts"

/**
 * Reports whether the program that runs the tool itself may ask its own person: where the configuration lets it, the verdict
 * names nobody who must agree, and the risk is not high.
 */
export function callerMayAsk({ request, row }: ActiveCall, ports: Ports): boolean {
  if (request.elsewhere?.mayAsk !== true || row?.state !== "waiting") return false
  const { approvers, risk } = pendingItem(row, ports)
  return approvers.length === 0 && risk.band !== "high"
}

/** Nobody here has approved it: what comes of it is no answer, and nothing is remembered of it. */
export async function leaveToCaller(call: ActiveCall, tool: RegisteredTool, ports: Ports): Promise<void> {
  const { callId, request } = call
  const text = `${request.elsewhere?.client} asks its own person. If it runs, it was allowed in the client, not verified.`
  const entry = { callId, agentId: request.agentId, tool: tool.name, text }
  await ports.recorder.write({ kind: "note", at: ports.now(), ...entry }, ports.settings.durability)
  call.asksElsewhere = true
}
