import { nearestName } from "../../../../lib/nearest-name.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { builtinGroups } from "../../../../registry/builtin-groups.ts"
import type { McpToolDefinition } from "../../../../core/mcp.ts"
import { commaList, UsageError } from "../../common/usage.ts"

const known: readonly string[] = builtinGroups.map(([id]) => id)

/** The groups that `--builtin` names; undefined for all of them. */
export function readBuiltinFlag(given: string | undefined): readonly string[] | undefined {
  const groups = commaList(given)
  if (groups === undefined || groups.includes("all")) return undefined
  const wrong = groups.find((group) => !known.includes(group))
  if (wrong === undefined) return groups
  const guess = nearestName(wrong, known)
  throw new UsageError(
    `There is no built-in group '${wrong}'. ${guess === undefined ? `Give some of ${known.join(", ")}, or all.` : `Did you mean '${guess}'?`}`,
  )
}

/** The tools that an MCP client is shown of an agent's: of the built-in ones those of the groups, and all others. */
export function shownTools(
  app: Pick<Quartermaster, "mcpTools" | "visibleTool">,
  agentId: string,
  groups: readonly string[] | undefined,
): readonly McpToolDefinition[] {
  const all = app.mcpTools(agentId)
  if (groups === undefined) return all
  const hidden = new Set(known.filter((id) => !groups.includes(id)))
  return all.filter(({ name }) => !hidden.has(app.visibleTool(agentId, name)?.group ?? ""))
}
