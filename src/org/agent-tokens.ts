import type { Documents } from "../model/ports.ts"
import type { TokenBook } from "../model/token-book.ts"

export interface TokenOffice {
  documents: Documents
  isKnown(agentId: string): boolean
  isPerson(id: string): boolean
  /** Ends what waits and came by a revoked token of this agent. */
  onRevoked(agentId: string): Promise<void>
  now(): number
}

export function agentTokens(_office: TokenOffice): TokenBook {
  return {
    create: async () => {
      throw new Error("not yet")
    },
    list: () => [],
    revoke: async () => undefined,
    holder: () => undefined,
  }
}
