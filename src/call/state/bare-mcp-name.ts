import type { AgentView } from "../../core/organisation.ts"
import type { Tools } from "../../registry/tools.ts"
import type { RegisteredTool } from "../../core/tool.ts"

/**
 * The tool of an MCP server by the name its server gives it (`echo` for `mcp:everything:echo`), if the agent sees exactly
 * one such tool. Hidden tools do not count: what the agent is told must not depend on them.
 */
export function byBareMcpName(
  written: string,
  who: AgentView | undefined,
  tools: Pick<Tools, "namesIn" | "resolve">,
  isVisible: (tool: RegisteredTool) => boolean,
): RegisteredTool | undefined {
  if (who === undefined) return undefined
  const at = written.indexOf("@")
  const bare = at === -1 ? written : written.slice(0, at)
  let only: RegisteredTool | undefined
  for (const name of tools.namesIn(who.groups, who)) {
    if (!name.startsWith("mcp:")) continue
    const tool = tools.resolve(at === -1 ? name : name + written.slice(at), who)
    if (tool?.mcp?.name !== bare || (tool.exposedAs ?? "tool") !== "tool" || !isVisible(tool)) continue
    if (only !== undefined) return undefined
    only = tool
  }
  return only
}
