import type { Quartermaster } from "../../../app/quartermaster.ts"
import { scopes as allScopes, usualScopes, type Scope } from "../../../core/organisation.ts"

/** The caller of an endpoint for which nobody has to be signed in. */
export const nobody: Caller = { kind: "person", id: "", name: "", roles: [], scopes: [], isMachineUser: false }

/** A person or an agent that makes a request, with their rights. */
export interface Caller {
  kind: "person" | "agent"
  id: string
  name: string
  roles: readonly string[]
  scopes: readonly Scope[]
  /** For an agent: its token. */
  tokenId?: string
  /** For somebody at the console: their session. */
  sessionId?: string
  /** The user of this machine, who is nobody of the organisation. */
  isMachineUser: boolean
}

export const sessionCookie = "qm_session"

/** The header in which a page sends its own secret of the session. */
export const sessionHeader = "x-quartermaster-session"

/** Reads the token of an Authorization header. */
export function bearerToken(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^bearer\s+(\S+)/i.exec(header)?.[1]
}

/** Reads our cookie of a Cookie header. */
export function sessionCookieIn(header = ""): string | undefined {
  return cookie.exec(header)?.[1]
}

const cookie = new RegExp(`(?:^|; *)${sessionCookie}=([^;]*)`)

/** The refusal of a bearer token that is not valid. */
export const unknownToken = {
  sentence:
    "The token is unknown, expired or revoked, or its agent has ended. Create a new one with: qm tokens create --agent <agent>",
  challenge: 'Bearer realm="quartermaster", error="invalid_token"',
}

type Known = Pick<Quartermaster, "tokens" | "org" | "signIn">

/** Finds the agent or the person that has this bearer token. */
export function callerOfToken(app: Known, token: string): Caller | undefined {
  const agent = app.tokens.holder(token)
  if (agent !== undefined) {
    const { agentId: id, id: tokenId } = agent
    return { kind: "agent", id, name: id, roles: [], scopes: ["call"], tokenId, isMachineUser: false }
  }
  const person = app.org.personOfToken(token)
  return person && callerOfPerson(app, person.id, false)
}

/** Finds the person that has this session. The cookie alone is not enough: every server on the same host gets it. */
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
