import { randomUUID } from "node:crypto"
import { WebStandardStreamableHTTPServerTransport, type Server } from "@modelcontextprotocol/server"
import type { ClientIdentity } from "./client-identity.ts"

/** The session of one client (protocol revisions before 2026). */
export interface ClientSession {
  readonly id: string
  readonly identity: ClientIdentity
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
  openRequests: number
  /** True while the client holds a GET stream open. */
  isListening: boolean
}

export interface ClientSessionsOptions {
  server(identity: ClientIdentity, sessionId: string): Server
  onEnd?(sessionId: string): void
  now(): number
  /** 15 minutes when left out. */
  idleMs?: number
  /** 1,000 when left out. */
  max?: number
}

/** The sessions of all clients. A session can only be used with the token that began it. */
export class ClientSessions {
  readonly #options: ClientSessionsOptions
  readonly #idleMs: number
  readonly #max: number
  readonly #sessions = new Map<string, ClientSession>()

  constructor(options: ClientSessionsOptions) {
    this.#options = options
    this.#idleMs = options.idleMs ?? 15 * 60_000
    this.#max = options.max ?? 1000
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Begins a session. When there are too many, it replaces the one idle longest; undefined if none is idle. */
  async begin(identity: ClientIdentity): Promise<ClientSession | undefined> {
    if (this.#sessions.size >= this.#max) {
      const idle = this.#longestIdle(this.#tokenWithMostSessions()) ?? this.#longestIdle()
      if (idle === undefined) return undefined
      this.end(idle)
    }
    const id = randomUUID()
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id })
    const server = this.#options.server(identity, id)
    const usedAt = this.#options.now()
    const session: ClientSession = { id, identity, server, transport, usedAt, openRequests: 0, isListening: false }
    this.#sessions.set(id, session)
    await server.connect(transport)
    const { onclose } = server
    Object.assign(server, {
      onclose: () => {
        this.#sessions.delete(id)
        this.#options.onEnd?.(id)
        onclose?.()
      },
    })
    return session
  }

  find(id: string, identity: ClientIdentity): ClientSession | undefined {
    const session = this.#sessions.get(id)
    if (session === undefined || !isSameClient(session.identity, identity)) return undefined
    if (!this.#isOver(session)) return session
    this.end(session)
    return undefined
  }

  /** Marks a session as in use until the returned function is called. */
  use(session: ClientSession): () => void {
    session.openRequests += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      session.openRequests -= 1
      session.usedAt = this.#options.now()
    }
  }

  /** Marks a session as listening until the returned function is called. */
  listen(session: ClientSession): () => void {
    session.isListening = true
    return () => {
      session.isListening = false
      session.usedAt = this.#options.now()
    }
  }

  end(session: ClientSession): void {
    this.#sessions.delete(session.id)
    void session.server.close().catch(() => {})
  }

  /** Ends sessions that were idle for too long, and those whose token is no longer valid. */
  sweep(isValid: (identity: ClientIdentity) => boolean): void {
    for (const session of this.#sessions.values()) {
      if (this.#isOver(session) || !isValid(session.identity)) this.end(session)
    }
  }

  endAll(): void {
    for (const session of this.#sessions.values()) this.end(session)
  }

  /** A session with an open GET stream never becomes idle. */
  #isOver({ openRequests, isListening, usedAt }: ClientSession): boolean {
    return openRequests === 0 && !isListening && this.#options.now() - usedAt >= this.#idleMs
  }

  /** This token loses a session first, so that one token cannot push out the clients of others. */
  #tokenWithMostSessions(): string | undefined {
    const counts = new Map<string, number>()
    for (const { identity } of this.#sessions.values()) {
      const token = tokenOf(identity)
      counts.set(token, (counts.get(token) ?? 0) + 1)
    }
    return [...counts].sort(([, left], [, right]) => right - left)[0]?.[0]
  }

  /** Sessions that listen are chosen last. */
  #longestIdle(token?: string): ClientSession | undefined {
    let found: ClientSession | undefined
    for (const session of this.#sessions.values()) {
      if (session.openRequests > 0 || (token !== undefined && tokenOf(session.identity) !== token)) continue
      if (found === undefined || isBefore(session, found)) found = session
    }
    return found
  }
}

function isBefore(left: ClientSession, right: ClientSession): boolean {
  return left.isListening === right.isListening ? left.usedAt < right.usedAt : right.isListening
}

function tokenOf({ tokenId, agentId }: ClientIdentity): string {
  return tokenId ?? agentId
}

function isSameClient(left: ClientIdentity, right: ClientIdentity): boolean {
  return left.agentId === right.agentId && left.tokenId === right.tokenId
}
