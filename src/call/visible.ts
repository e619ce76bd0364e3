import { Ending } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { hiddenBecause } from "../policy/visible.ts"
import type { Walk } from "./walk.ts"

const deepest = 8

/** Whether this agent may know of the tool. The same question decides what is listed. */
export function visible(walk: Walk, tool: RegisteredTool, ports: Ports): void {
  const reason = hiddenBecause(tool, walk.who, ports.tools, ports.settings.levelOrder, ports.policy)
  if (reason !== undefined) {
    walk.reasons = [reason]
    if (reason.voice === "freeze") throw new Ending("frozen", `${tool.name} was not executed: ${reason.sentence}`)
    throw new Ending(
      "tool_not_available",
      `工具 ${tool.name} 对此岗位不可用 (tool ${tool.name} is not available to this role): ${reason.sentence}`,
    )
  }
  if (walk.depth > deepest) {
    throw new Ending("permission_denied", `Tools may call tools ${deepest} deep at most. Do the work in fewer layers.`)
  }
}
