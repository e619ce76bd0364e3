import type { LoadedConfig } from "../config/load.ts"
import type { App } from "../model/app.ts"
import { ancestorIds } from "./agents.ts"
import type { CliContext } from "./context.ts"
import { isInsideTool } from "./open-app.ts"
import { NotAllowed } from "./usage.ts"

/**
 * The agent a command acts as: --agent, otherwise the configured agent, otherwise `operator`. Inside a tool it must be the
 * agent the host set in QM_AGENT or one of its sub-agents; without QM_AGENT it must be named and not be built in.
 */
export function callingAgent(
  context: CliContext,
  loaded: LoadedConfig,
  app: Pick<App, "org">,
  named = context.flags.agent,
): string {
  const configured = loaded.config.agent
  if (!isInsideTool(context.io)) return named ?? configured ?? "operator"
  const host = context.io.env["QM_AGENT"] || undefined
  const agent = named ?? host ?? configured
  if (host !== undefined && agent !== undefined) refuseUnrelated(app, agent, host)
  else if (agent === undefined || builtIn.includes(agent)) refuseBuiltIn(agent)
  return agent
}

const builtIn: readonly string[] = ["root", "operator"]

function refuseUnrelated({ org }: Pick<App, "org">, id: string, host: string): void {
  if (id === host) return
  const agent = org.findAgent(id)
  if (agent !== undefined && ancestorIds(org, agent).includes(host)) return
  throw new NotAllowed(
    `This runs inside a tool (QM_INSIDE is set) of agent ${host} (QM_AGENT), so it cannot act as '${id}'. Leave out --agent, or name a sub-agent of ${host}.`,
  )
}

function refuseBuiltIn(id: string | undefined): never {
  const what = id === undefined ? "no agent is named" : `it may not act as agent '${id}'`
  throw new NotAllowed(
    `This runs inside a tool (QM_INSIDE is set), and ${what}. The program that starts the tool must set QM_AGENT.`,
  )
}
