/** A person who is signed in to the console. */
export interface SignedIn {
  readonly sessionId: string
  readonly person: string
  /** The user of this machine, who may do everything. */
  readonly isMachineUser: boolean
  readonly expiresAt: number
}

/**
 * A session has two secrets, and counts only with both. A browser sends a cookie to every port of a host, so any
 * program that serves a page on this machine can learn the cookie. What a page stores stays with its own port.
 */
export interface SessionSecrets {
  readonly cookie: string
  readonly page: string
}

export interface PersonSession {
  readonly id: string
  readonly isMachineUser: boolean
  readonly startedAt: number
  readonly expiresAt: number
}

/** Signs people in to the console: with a link, which is for one person, once, for minutes, or with a person's own token. */
export interface SignIn {
  /** Returns the secret of a link. Only its hash is stored. */
  createLink(given: { person: string; isMachineUser: boolean }): Promise<{ link: string; expiresAt: number }>
  /** Uses up a link. Returns the secrets of a new session; undefined when the link is unknown, used or expired. */
  redeem(link: string): Promise<{ secrets: SessionSecrets; session: SignedIn } | undefined>
  /**
   * Begins a session with a person's token, which stays as it is. Undefined for a token that is unknown, expired or an agent's.
   * The session ends with the token, too.
   */
  redeemToken(token: string): Promise<{ secrets: SessionSecrets; session: SignedIn } | undefined>
  /** The session with these secrets, unless it has ended, its time is over, or its person or their token is gone. */
  holder(secrets: SessionSecrets): SignedIn | undefined
  end(sessionId: string, by: string): Promise<void>
  /** The sessions of a person that count now, oldest first, and when they signed in last. */
  sessionsOf(person: string): { sessions: readonly PersonSession[]; lastSignIn: number | undefined }
  /** Ends all sessions of a person and their unused links. Returns how many sessions there were. */
  endAll(person: string, by: string): Promise<number>
}
