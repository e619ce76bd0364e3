import { randomUUID } from "node:crypto"
import { WebStandardStreamableHTTPServerTransport, type Server } from "@modelcontextprotocol/server"
import type { Speaker } from "./door.ts"

/** One client of the era that has sessions. */
export interface Session {
  readonly id: string
  readonly speaker: Speaker
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  usedAt: number
  /** Requests that are on their way. */
  busy: number
  /** Whether its client listens. */
  listens: boolean
}

export interface SessionsOptions {
  server(speaker: Speaker, sessionId: string): Server
  now(): number
  /** 15 minutes when left out. */
  idleMs?: number | undefined
  /** 1,000 when left out. */
  most?: number | undefined
}

/** The sessions of all clients. A session belongs to the token that began it; for any other token it is not there. */
export class Sessions {
  readonly #options: SessionsOptions
  readonly #idleMs: number
  readonly #most: number
  readonly #sessions = new Map<string, Session>()

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#idleMs = options.idleMs ?? 15 * 60_000
    this.#most = options.most ?? 1000
  }

  get size(): number {
    return this.#sessions.size
  }

  /** A new session; when there are too many, in the place of the one that was idle longest. Undefined if none is idle. */
  async begin(speaker: Speaker): Promise<Session | undefined> {
    if (this.#sessions.size >= this.#most) {
      const idle = this.#longestIdle(this.#greediest()) ?? this.#longestIdle()
      if (idle === undefined) return undefined
      this.end(idle)
    }
    const id = randomUUID()
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => id })
    const server = this.#options.server(speaker, id)
    const session = { id, speaker, server, transport, usedAt: this.#options.now(), busy: 0, listens: false }
    this.#sessions.set(id, session)
    await server.connect(transport)
    const { onclose: told } = server
    Object.assign(server, {
      onclose: () => {
        this.#sessions.delete(id)
        told?.()
      },
    })
    return session
  }

  find(id: string, speaker: Speaker): Session | undefined {
    const session = this.#sessions.get(id)
    if (session === undefined || !isSame(session.speaker, speaker)) return undefined
    if (!this.#isOver(session)) return session
    this.end(session)
    return undefined
  }

  /** Marks a session as in use until the returned function is called. */
  use(session: Session): () => void {
    session.busy += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      session.busy -= 1
      session.usedAt = this.#options.now()
    }
  }

  /** Marks that its client listens until the returned function is called. */
  listen(session: Session): () => void {
    session.listens = true
    return () => {
      session.listens = false
      session.usedAt = this.#options.now()
    }
  }

  end(session: Session): void {
    this.#sessions.delete(session.id)
    void session.server.close().catch(() => {})
  }

  /** Ends those nobody used for too long, and those whose token does not count any more. */
  sweep(counts: (speaker: Speaker) => boolean): void {
    for (const session of this.#sessions.values()) {
      if (this.#isOver(session) || !counts(session.speaker)) this.end(session)
    }
  }

  endAll(): void {
    for (const session of this.#sessions.values()) this.end(session)
  }

  /** A client that listens is there, however long it says nothing. */
  #isOver({ busy, listens, usedAt }: Session): boolean {
    return busy === 0 && !listens && this.#options.now() - usedAt >= this.#idleMs
  }

  /** Whose token has most of them: it makes room first, so that nobody drives out the clients of others. */
  #greediest(): string | undefined {
    const counts = new Map<string, number>()
    for (const { speaker } of this.#sessions.values()) {
      const token = tokenOf(speaker)
      counts.set(token, (counts.get(token) ?? 0) + 1)
    }
    return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0]
  }

  /** Those that listen go last. */
  #longestIdle(token?: string): Session | undefined {
    let found: Session | undefined
    for (const session of this.#sessions.values()) {
      if (session.busy > 0 || (token !== undefined && tokenOf(session.speaker) !== token)) continue
      if (found === undefined || isBefore(session, found)) found = session
    }
    return found
  }
}

function isBefore(one: Session, other: Session): boolean {
  return one.listens === other.listens ? one.usedAt < other.usedAt : other.listens
}

function tokenOf({ tokenId, agentId }: Speaker): string {
  return tokenId ?? agentId
}

function isSame(one: Speaker, other: Speaker): boolean {
  return one.agentId === other.agentId && one.tokenId === other.tokenId
}
