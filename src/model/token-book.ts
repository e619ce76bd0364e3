/** A secret by which a program speaks for an agent at a door. Only its hash is kept. */
export interface AgentToken {
  readonly id: string
  readonly agentId: string
  /** What people call it. */
  readonly name: string
  /** The person at the program, whose answers count as theirs; without one it only speaks for the agent. */
  readonly person?: string | undefined
  readonly createdBy: string
  readonly createdAt: number
  /** Milliseconds since 1970; null for one that does not expire. */
  readonly expiresAt: number | null
}

export interface NewAgentToken {
  agentId: string
  name?: string | undefined
  person?: string | undefined
  /** Milliseconds it is good for; 90 days when left out, null for ever. */
  lifetimeMs?: number | null | undefined
}

export interface TokenBook {
  /** The token itself is returned here and never again. */
  create(given: NewAgentToken, by: string): Promise<{ token: string; entry: AgentToken }>
  /** Those that still count, oldest first. */
  list(filter?: { agentId?: string | undefined }): readonly AgentToken[]
  /** A unique beginning of the id is enough. Ends the agent's waiting calls that came by it. */
  revoke(id: string, by: string): Promise<AgentToken | undefined>
  /** Whose token it is; undefined when it is unknown, revoked or expired, or its agent ended. */
  holder(token: string): AgentToken | undefined
}
