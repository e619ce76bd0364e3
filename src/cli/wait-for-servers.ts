import type { App } from "../model/app.ts"

/** How long a command waits for MCP servers to list their tools. */
const timeoutMs = 20_000

/** Waits until the tools of MCP servers are known. Tools known from the last connection need no wait. */
export async function waitForServers({ mcp }: Pick<App, "mcp">): Promise<void> {
  if (mcp.list().length > 0) await mcp.ready(timeoutMs)
}

/** The same for one tool. A tool that is already known needs no wait, so a server that hangs does not delay it. */
export async function waitForTool(app: App, agentId: string, tool: string): Promise<void> {
  const [name] = tool.split("@")
  if (app.mcp.list().length === 0) return
  if ([...app.visibleTools(agentId), ...app.toolsInDialect(agentId)].some((known) => known.name === name)) return
  await waitForServers(app)
}
