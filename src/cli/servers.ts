import type { App } from "../model/app.ts"

/** How long a command waits for other people's servers to say what they offer. */
const patienceMs = 20_000

/** Waits until what other people's servers offer is known; what was known at the last connection needs no wait. */
export async function meetServers({ mcp }: Pick<App, "mcp">): Promise<void> {
  if (mcp.list().length > 0) await mcp.ready(patienceMs)
}

/** The same for one tool. One that this agent knows already needs no wait: a server that hangs must not delay it. */
export async function meetTool(app: App, agentId: string, tool: string): Promise<void> {
  const [name] = tool.split("@")
  if (app.mcp.list().length === 0) return
  if ([...app.visibleTools(agentId), ...app.shownTools(agentId)].some((known) => known.name === name)) return
  await meetServers(app)
}
