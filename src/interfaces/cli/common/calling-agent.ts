import type { LoadedConfig } from "../../../config/load.ts"
import type { Quartermaster } from "../../../app/quartermaster.ts"
import { ancestorIds, wholeAgentId } from "./known-names.ts"
import type { CliContext } from "./context.ts"
import { isInsideTool } from "./open-app.ts"
import { CannotDo, NotAllowed } from "./usage.ts"

/**
 * The agent a command acts as: --agent, otherwise the configured agent, otherwise `operator`. Inside a tool it must be the
 * agent the host set in QM_AGENT or one of its sub-agents; without QM_AGENT it must be named and not be built in.
 */
export function callingAgent(
  context: CliContext,
  loaded: LoadedConfig,
  app: Pick<Quartermaster, "org">,
  named = context.flags.agent,
): string {
  const configured = loaded.config.agent
  if (!isInsideTool(context.io)) return requireKnown(named ?? configured ?? "operator", loaded, app)
  const host = context.io.env["QM_AGENT"] || undefined
  const agent = named ?? host ?? configured
  if (host !== undefined && agent !== undefined) refuseUnrelated(app, agent, host)
  else if (agent === undefined || builtIn.includes(agent)) refuseBuiltIn(agent)
  return requireKnown(agent, loaded, app)
}

/** Like `callingAgent`, for what begins to serve an agent: it must not have ended. */
export function activeAgent(context: CliContext, loaded: LoadedConfig, app: Pick<Quartermaster, "org">): string {
  const id = callingAgent(context, loaded, app)
  if (app.org.findAgent(id)?.status === "active") return id
  throw new CannotDo("agent_not_found", `Agent '${id}' was terminated. 'qm agents list' shows those that remain.`)
}

function requireKnown(id: string, { ignoredAgents }: LoadedConfig, app: Pick<Quartermaster, "org">): string {
  if (builtIn.includes(id)) return id
  const untrusted = ignoredAgents.find((agent) => agent.id === id)
  if (untrusted === undefined || app.org.findAgent(id) !== undefined) return wholeAgentId(app, id)
  throw new CannotDo(
    "agent_not_found",
    `Agent '${id}' is in ${untrusted.file}, which is not trusted, so it does not exist yet. 'qm check' shows what the file does; after that, run 'qm trust'.`,
  )
}

const builtIn: readonly string[] = ["root", "operator"]

function refuseUnrelated({ org }: Pick<Quartermaster, "org">, id: string, host: string): void {
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
