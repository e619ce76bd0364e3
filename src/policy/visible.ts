import type { LevelOrder } from "../model/permission.ts"
import type { AgentView } from "../model/organisation.ts"
import type { Policy } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { ended } from "./reasons.ts"

export interface Groups {
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean
  /** The tool an agent means by a name; needed where tools depend on others. */
  resolve?(name: string, who: AgentView | undefined): RegisteredTool | undefined
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
  neededBy: readonly string[] = [],
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
    spawnerBecause(tool, who, groups, levelOrder) ??
    dependencyBecause(tool, who, groups, levelOrder, policy, neededBy)
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

/** A tool that is off because it lacks another one is told of by `dependencyBecause`. */
export function switchedOffBecause({ enabled, name, lacks = [] }: RegisteredTool): Reason | undefined {
  if (enabled || lacks.length > 0) return undefined
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

/** A tool needs those it depends on: registered by somebody, and open to this agent. */
export function dependencyBecause(
  tool: RegisteredTool,
  who: AgentView,
  groups: Groups,
  order: LevelOrder,
  policy?: Pick<Policy, "hidden">,
  neededBy: readonly string[] = [],
): Reason | undefined {
  const { name, id, lacks = [] } = tool
  const needs = [...new Set([tool, ...(tool.together ?? [])].flatMap(({ dependsOn = [] }) => dependsOn))]
  if (lacks.length > 0) {
    const missing = [...new Set(lacks)].join(", ")
    return say("dependency", id, `Tool ${name} needs ${missing}, which nobody has registered. It is off until then.`)
  }
  if (groups.resolve === undefined) return undefined
  const above = [...neededBy, name]
  for (const need of needs) {
    const found = groups.resolve(need, who)
    // By other names needs may still go in a circle; what is being asked already needs no second answer.
    if (found !== undefined && above.includes(found.name)) continue
    const reason =
      found === undefined
        ? say("dependency", id, "it is provided for others only.")
        : hiddenBecause(found, who, groups, order, policy, above)
    if (reason === undefined) continue
    return say("dependency", id, `Tool ${name} needs ${need}, which this agent may not use: ${reason.sentence}`)
  }
  return undefined
}

function say(voice: string, source: string, sentence: string): Reason {
  return { voice, source, sentence }
}
