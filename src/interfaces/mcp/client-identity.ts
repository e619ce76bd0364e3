/** For whom a client makes its requests. */
export interface ClientIdentity {
  readonly agentId: string
  readonly tokenId?: string
  /** The person whose answers the client sends. Without one it may not answer approvals. */
  readonly person?: string
}
