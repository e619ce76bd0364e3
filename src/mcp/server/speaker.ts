/** Who speaks at the other end. */
export interface Speaker {
  readonly agentId: string
  readonly tokenId?: string | undefined
  /** Whose answers count when the client gives them; without one it may not answer. */
  readonly person?: string | undefined
}
