import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import type { ClientIdentity } from "../../../mcp/client-identity.ts"
import { activeAgent } from "../../common/calling-agent.ts"
import type { CliContext } from "../../common/context.ts"
import { isInsideTool, personOf } from "../../common/open-app.ts"

/** The agent the client calls as, and the person whose answers it may give. Inside a tool there is no such person. */
export async function clientIdentity(
  context: CliContext,
  app: Quartermaster,
  loaded: LoadedConfig,
): Promise<ClientIdentity> {
  const agentId = activeAgent(context, loaded, app)
  if (isInsideTool(context.io)) return { agentId }
  return { agentId, person: (await personOf(context, app, loaded)).id }
}
