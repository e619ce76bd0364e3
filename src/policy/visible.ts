import type { LevelOrder } from "../model/permission.ts"
import type { AgentView } from "../model/organisation.ts"
import type { Policy } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { ended } from "./reasons.ts"

export interface Groups {
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
  policy?: Pick<Policy, "hidden">,
): Reason | undefined {
  if (who === undefined) return unknownAgent
  return (
    frozenBecause(who) ??
    switchedOffBecause(tool) ??
    quarantinedBecause(tool) ??
    groupBecause(tool, who, groups) ??
    roleBecause(tool, who) ??
    departmentBecause(tool, who) ??
    levelBecause(tool, who, levelOrder) ??
    policy?.hidden(tool, who) ??
    spawnerBecause(tool, who, groups, levelOrder)
  )
}

export const unknownAgent: Reason = {
  voice: "agent",
  source: "organisation",
  sentence: "The agent is not known, has ended, or has no known role. Create it first.",
}

export function frozenBecause({ agent, frozen }: AgentView): Reason | undefined {
  if (frozen === undefined) return undefined
  const { by, at, because } = frozen
  const why = because === undefined ? "." : `: ${ended(because)}`
  const when = new Date(at).toISOString()
  return say(
    "freeze",
    "freeze",
    `Agent ${agent.id} was frozen by ${by} at ${when}${why} A person ends it: qm thaw --agent ${agent.id}, or qm thaw when everyone is frozen.`,
  )
}

export function switchedOffBecause({ enabled, name }: RegisteredTool): Reason | undefined {
  if (enabled) return undefined
  return say("configuration", "tools.enabled", `Tool ${name} is switched off. Add it to tools.enabled to use it.`)
}

export function quarantinedBecause({ quarantine, group }: RegisteredTool): Reason | undefined {
  return quarantine === undefined ? undefined : say("pin", group, quarantine)
}

export function groupBecause(
  tool: RegisteredTool,
  { role, groups: held }: AgentView,
  groups: Groups,
): Reason | undefined {
  if (groups.inGroups(tool, held)) return undefined
  return say("group", `role ${role.name}`, `Role ${role.name} has no group with this tool; give it '${tool.group}'.`)
}

/** A role made by an agent has whatever name its maker chose, so its name gives no right. */
export function roleBecause({ id, permission }: RegisteredTool, { role }: AgentView): Reason | undefined {
  const { allowedRoles } = permission
  const named = allowedRoles.length === 0 || allowedRoles.includes(role.name)
  if (named && (allowedRoles.length === 0 || role.madeBy !== "agent")) return undefined
  const maker = named ? ": it was made by an agent" : ""
  return say("role", id, `Role ${role.name} not in allowed roles${maker}`)
}

export function departmentBecause({ id, permission }: RegisteredTool, { department }: AgentView): Reason | undefined {
  const { allowedDepartments } = permission
  if (allowedDepartments.length === 0 || allowedDepartments.includes(department ?? "")) return undefined
  return say("department", id, `Department ${department ?? "(none)"} not allowed`)
}

export function levelBecause(
  { id, permission }: RegisteredTool,
  { level }: AgentView,
  order: LevelOrder,
): Reason | undefined {
  const { minLevel } = permission
  if (minLevel === undefined || (order === "asc" ? level >= minLevel : level <= minLevel)) return undefined
  return say("level", id, `Level ${level} ${order === "asc" ? "below minimum" : "above maximum"} ${minLevel}`)
}

/** What an agent may not know of, nobody it spawned may. */
export function spawnerBecause(
  tool: RegisteredTool,
  { spawners }: AgentView,
  groups: Groups,
  order: LevelOrder,
): Reason | undefined {
  for (const spawner of spawners) {
    const reason =
      groupBecause(tool, spawner, groups) ??
      roleBecause(tool, spawner) ??
      departmentBecause(tool, spawner) ??
      levelBecause(tool, spawner, order)
    if (reason === undefined) continue
    const { id } = spawner.agent
    return say("spawner", `agent ${id}`, `Agent ${id}, which is above this one, may not use it: ${reason.sentence}`)
  }
  return undefined
}

function say(voice: string, source: string, sentence: string): Reason {
  return { voice, source, sentence }
}
