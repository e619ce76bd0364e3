import type { Quartermaster } from "../../../app/quartermaster.ts"
import { scopes as allScopes, usualScopes, type Scope } from "../../../core/organisation.ts"

/** Who makes a request, and what they may do. */
export interface Caller {
  kind: "person" | "agent"
  id: string
  name: string
  roles: readonly string[]
  scopes: readonly Scope[]
  /** For an agent: its token. */
  tokenId?: string | undefined
  /** For somebody at the console: their session. */
  sessionId?: string | undefined
  /** The user of this machine, who is nobody of the organisation. */
  isMachineUser: boolean
}

export const sessionCookie = "qm_session"

/** The header in which a page sends its own secret of the session. */
export const sessionHeader = "x-quartermaster-session"

/** Why a bearer token was not taken. */
export const unknownToken = {
  sentence:
    "The token is unknown, expired or revoked, or its agent has ended. Create a new one with: qm tokens create --agent <agent>",
  challenge: 'Bearer realm="quartermaster", error="invalid_token"',
}

type Known = Pick<Quartermaster, "tokens" | "org" | "signIn">

/** Who has this bearer token: an agent, or a person of the organisation. */
export function callerOfToken(app: Known, token: string): Caller | undefined {
  const agent = app.tokens.holder(token)
  if (agent !== undefined) {
    const { agentId: id, id: tokenId } = agent
    return { kind: "agent", id, name: id, roles: [], scopes: ["call"], tokenId, isMachineUser: false }
  }
  const person = app.org.personOfToken(token)
  return person && callerOfPerson(app, person.id, false)
}

/** Who has this session. The cookie alone is not enough: every server on the same host gets it. */
export function callerOfSession(app: Known, cookie: string | undefined, page: string | undefined): Caller | undefined {
  const session = cookie === undefined || page === undefined ? undefined : app.signIn.holder({ cookie, page })
  if (session === undefined) return undefined
  const { person, isMachineUser, sessionId } = session
  return { ...callerOfPerson(app, person, isMachineUser), sessionId }
}

/** A person of the organisation, or the user of this machine. */
export function callerOfPerson(app: Known, id: string, isMachineUser: boolean): Caller {
  const person = app.org.findPerson(id)
  const scopes = isMachineUser ? allScopes : (person?.scopes ?? usualScopes)
  return { kind: "person", id, name: person?.name ?? id, roles: person?.roles ?? [], scopes, isMachineUser }
}
