import { Ending } from "../../core/ending.ts"
import type { Ports } from "../state/ports.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { firstDenial } from "../../policy/decide/visible.ts"
import type { ActiveCall } from "../state/active-call.ts"
import { nearestName } from "../../lib/nearest-name.ts"
import { notAvailable } from "./not-available.ts"

const deepest = 8

/** Ends the call when the tool is hidden from the agent. The same checks decide which tools are listed. */
export function visible(call: ActiveCall, tool: RegisteredTool, ports: Ports): void {
  const { tools, policy, settings } = ports
  const denial = firstDenial(tool, call.who, { tools, policy, levelOrder: settings.levelOrder })
  if (denial !== undefined) {
    const { reason, ending } = denial
    call.reasons = [reason]
    if (ending === "frozen")
      throw new Ending("frozen", dialectText`${toolRef(tool.name)} was not executed: ${reason.sentence}`)
    const refusal = notAvailable(tool.name, reason, ports.settings.language)
    throw new Ending(
      "tool_not_available",
      call.who === undefined ? [...refusal, ...nearestAgent(call, ports)] : refusal,
    )
  }
  // A stored call was made by the loop, whoever looks at it or goes on with it.
  if (tool.exposedAs === "loop" && call.request.fromLoop !== true && call.row === undefined) {
    const sentence = dialectText`Tool ${toolRef(tool.name)} is not available: only the agent loop itself asks people with it.`
    throw new Ending("tool_not_available", sentence)
  }
  if (call.depth > deepest) {
    throw new Ending("permission_denied", `Tools may call tools ${deepest} deep at most. Do the work in fewer layers.`)
  }
  if (call.parent !== undefined && call.request.takeSubCall?.() === false) {
    const sentence = "The run has made as many calls as it may. Answer with what you have, and say what is left to do."
    throw new Ending("permission_denied", sentence)
  }
}

/** For an agent whose name may be misspelt. */
function nearestAgent({ request }: ActiveCall, { organisation, settings }: Ports): string[] {
  const ids = organisation.listAgents().map(({ id }) => id)
  const guess = settings.language === "zh" ? undefined : nearestName(request.agentId, ids)
  return guess === undefined ? [] : [` Did you mean agent '${guess}'?`]
}
