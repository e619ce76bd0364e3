/** What somebody may do over HTTP. An agent's token has `call`, and `read` of its own calls. */
export const scopes = ["read", "call", "approve", "manage"] as const
export type Scope = (typeof scopes)[number]

/** What people have unless the configuration gives them something else. */
export const usualScopes: readonly Scope[] = ["read", "call", "approve"]

/** A person who is signed in to the console. */
export interface SignedIn {
  readonly sessionId: string
  readonly person: string
  /** The user of this machine, who may do everything. */
  readonly isMachineUser: boolean
  readonly expiresAt: number
}

/** Signs people in to the console: a link is for one person, once, for minutes; it becomes a session. */
export interface SignIn {
  /** Returns the secret of a link. Only its hash is stored. */
  createLink(given: { person: string; isMachineUser: boolean }): Promise<{ link: string; expiresAt: number }>
  /** Uses up a link. Returns the secret of a new session; undefined when the link is unknown, used or expired. */
  redeem(link: string): Promise<{ secret: string; session: SignedIn } | undefined>
  /** The session with this secret, unless it has ended, its time is over or its person is gone. */
  holder(secret: string): SignedIn | undefined
  end(sessionId: string, by: string): Promise<void>
}
