import type { App } from "../model/app.ts"
import { spawnersOf } from "./agents.ts"
import type { Loaded, Session } from "./house.ts"
import { isInside } from "./session.ts"
import { NotAllowed } from "./usage.ts"

/**
 * Who calls and looks: the flag, else the configuration, else the person at the keyboard. Inside a tool that is the agent
 * its host started it for (QM_AGENT) or one below it; where the host named none, anyone who is named but the built-in ones.
 */
export function agentOf(session: Session, loaded: Loaded, app: Pick<App, "org">, named = session.flags.agent): string {
  const configured = loaded.config.agent
  if (!isInside(session.io)) return named ?? configured ?? "operator"
  const host = session.io.env["QM_AGENT"] || undefined
  const agent = named ?? host ?? configured
  if (host !== undefined && agent !== undefined) refuseStranger(app, agent, host)
  else if (agent === undefined || builtIn.includes(agent)) refuseBuiltIn(agent)
  return agent
}

const builtIn: readonly string[] = ["root", "operator"]

function refuseStranger({ org }: Pick<App, "org">, id: string, host: string): void {
  if (id === host) return
  const agent = org.findAgent(id)
  if (agent !== undefined && spawnersOf(org, agent).includes(host)) return
  throw new NotAllowed(
    `This runs inside a tool (QM_INSIDE is set) of agent ${host} (QM_AGENT), so it cannot call or look as '${id}'. Leave --agent out, or name an agent below ${host}.`,
  )
}

function refuseBuiltIn(id: string | undefined): never {
  const what = id === undefined ? "nobody says for which agent" : `'${id}' is not an agent it may speak for`
  throw new NotAllowed(
    `This runs inside a tool (QM_INSIDE is set), and ${what}. The host that starts the tool sets QM_AGENT to its agent.`,
  )
}
