import type { LevelOrder } from "../model/permission.ts"
import type { AgentView } from "../model/organisation.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"

interface Groups {
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean
}

/**
 * Why a tool is hidden from an agent, or undefined when it is not. Only who asks and which tool it is count here; a
 * tool is listed exactly when this says nothing, and what is not listed cannot be called.
 */
export function hiddenBecause(
  tool: RegisteredTool,
  who: AgentView | undefined,
  groups: Groups,
  levelOrder: LevelOrder,
): Reason | undefined {
  if (who === undefined) {
    return say("agent", "organisation", "The agent is not known, has ended, or has no known role. Create it first.")
  }
  if (!tool.enabled) {
    return say(
      "configuration",
      "tools.enabled",
      `Tool ${tool.name} is switched off. Add it to tools.enabled to use it.`,
    )
  }
  const { role } = who
  if (!groups.inGroups(tool, who.groups)) {
    return say("group", `role ${role.name}`, `Role ${role.name} has no group with this tool; give it '${tool.group}'.`)
  }
  const { allowedRoles, allowedDepartments, minLevel } = tool.permission
  if (allowedRoles.length > 0 && !allowedRoles.includes(role.name)) {
    return say("role", tool.id, `Role ${role.name} not in allowed roles`)
  }
  if (allowedDepartments.length > 0 && !allowedDepartments.includes(who.department ?? "")) {
    return say("department", tool.id, `Department ${who.department ?? "(none)"} not allowed`)
  }
  if (minLevel !== undefined && (levelOrder === "asc" ? who.level < minLevel : who.level > minLevel)) {
    const side = levelOrder === "asc" ? "below minimum" : "above maximum"
    return say("level", tool.id, `Level ${who.level} ${side} ${minLevel}`)
  }
  return undefined
}

function say(voice: string, source: string, sentence: string): Reason {
  return { voice, source, sentence }
}
