import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { CliContext } from "./context.ts"
import { printMessage } from "./output.ts"

/** Time limit of a command's wait for MCP servers to list their tools. */
const timeoutMs = 20_000
/** The silent part of that time. */
const silentMs = 1000

type Servers = Pick<Quartermaster, "mcp">

/** Waits until the tools of MCP servers are known. Tools known from the last connection need no wait. */
export async function waitForServers(context: CliContext, { mcp }: Servers): Promise<void> {
  if (mcp.list().length === 0) return
  const timer = setTimeout(() => printMessage(context, waitingText({ mcp })), silentMs)
  try {
    await mcp.ready(timeoutMs)
  } finally {
    clearTimeout(timer)
  }
}

/** The same for one tool. A tool that is already known needs no wait, so a server that hangs does not delay it. */
export async function waitForTool(
  context: CliContext,
  app: Quartermaster,
  agentId: string,
  tool: string,
): Promise<void> {
  const [name = ""] = tool.split("@")
  if (app.mcp.list().length === 0 || app.findTool(name) !== undefined) return
  if (app.visibleTools(agentId).some((known) => known.name === name)) return
  await waitForServers(context, app)
}

/** The servers that have not answered yet. */
export function startingServers({ mcp }: Servers): string[] {
  return mcp.list().flatMap(({ name, state }) => (state === "connecting" || state === "waiting" ? [name] : []))
}

function waitingText(app: Servers): string {
  const names = startingServers(app).join(", ")
  return `Waiting up to ${timeoutMs / 1000} seconds for MCP servers to list their tools${names === "" ? "" : `: ${names}`}.`
}
