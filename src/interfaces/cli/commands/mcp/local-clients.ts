import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import type { LocalMcp } from "../../../http/transport/local-mcp.ts"
import type { CliContext } from "../../common/context.ts"
import { version } from "../../common/version.ts"
import { readBuiltinFlag, shownTools } from "./builtin-groups-flag.ts"
import { clientIdentity } from "./client-identity.ts"

/** Serves the clients of every `qm mcp` in this process, so that they share its MCP servers and its queue. */
export function localMcpClients(context: CliContext, app: Quartermaster, loaded: LoadedConfig): LocalMcp {
  return async ({ agent, builtin }) => {
    const groups = readBuiltinFlag(builtin)
    const flags = agent === undefined ? context.flags : { ...context.flags, agent }
    const identity = await clientIdentity({ ...context, flags }, app, loaded)
    const mcpTools = (agentId: string) => shownTools(app, agentId, groups)
    const { serveStdio } = await import("../../../mcp/stdio.ts")
    const options = { version: version(), inClient: loaded.config.approvals?.inClient }
    return (wire, signal) =>
      serveStdio({ ...app, mcpTools }, identity, { ...options, stdin: wire, stdout: wire, signal })
  }
}
