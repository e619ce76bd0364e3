import type { AgentView } from "../model/organisation.ts"
import type { Layer, RegisteredTool } from "../model/tool.ts"

/** The version of a tool this agent is held to. */
export function pinOf(who: AgentView | undefined, name: string): string | undefined {
  return who !== undefined && Object.hasOwn(who.pins, name) ? who.pins[name] : undefined
}

/** Where an agent's tools are looked for, its own layer first. */
export function layersOf(who: AgentView | undefined): Layer[] {
  if (who === undefined) return ["system"]
  const department: Layer[] = who.department === undefined ? [] : [`department:${who.department}`]
  return [`agent:${who.agent.id}`, ...department, "system"]
}

/** The version that is meant, or else the newest that is switched on. */
export function pick(
  versions: readonly RegisteredTool[] | undefined,
  version: string | undefined,
): RegisteredTool | undefined {
  if (versions === undefined) return undefined
  if (version !== undefined) return versions.find((tool) => tool.version === version)
  return versions.find((tool) => tool.enabled) ?? versions[0]
}
