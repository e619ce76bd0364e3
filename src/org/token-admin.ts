/** A token that lets a program call tools as an agent, over HTTP or MCP. Only its hash is stored. */
export interface AgentToken {
  readonly id: string
  readonly agentId: string
  /** A label for people. */
  readonly name: string
  /** The person who uses the program. Answers given through it count as theirs; without a person it cannot answer approvals. */
  readonly person?: string
  readonly createdBy: string
  readonly createdAt: number
  /** Milliseconds since 1970. Null: it does not expire. */
  readonly expiresAt: number | null
}

export interface NewAgentToken {
  agentId: string
  name?: string
  person?: string
  /** Milliseconds until it expires. Default: 90 days. Null: never. */
  lifetimeMs?: number | null
}

export interface AgentTokens {
  /** Returns the token itself, which cannot be read again later. */
  create(given: NewAgentToken, by: string): Promise<{ token: string; entry: AgentToken }>
  /** The valid tokens, oldest first. */
  list(filter?: { agentId?: string }): readonly AgentToken[]
  /** A unique beginning of the id is enough. Ends the waiting calls that were made with the token. */
  revoke(id: string, by: string): Promise<AgentToken | undefined>
  /** The token's entry. Undefined when it is unknown, revoked or expired, or its agent was terminated. */
  holder(token: string): AgentToken | undefined
}
