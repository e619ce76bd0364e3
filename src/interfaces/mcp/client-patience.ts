const maxClients = 1000

/**
 * Tracks the clients that keep a request open for longer than the 60 seconds after which many give up, also those that
 * follow progress. Only what a client has done shows it: no protocol says it.
 */
export class ClientPatience {
  readonly #waitMs: number
  readonly #lastsMs: number
  readonly #lasts = new Map<string, boolean>()

  constructor({ waitMs, lastsMs }: { waitMs: number; lastsMs: number }) {
    this.#waitMs = waitMs
    this.#lastsMs = lastsMs
  }

  lasts(client: string): boolean {
    return this.#lasts.get(client) === true
  }

  /** A request of the client is over. Once it has given up on one, it gets tickets. */
  note(client: string, { tookMs, gaveUp }: { tookMs: number; gaveUp: boolean }): void {
    if (tookMs < (gaveUp ? this.#waitMs : this.#lastsMs) || this.#lasts.get(client) === false) return
    if (this.#lasts.size >= maxClients) this.#lasts.delete(this.#lasts.keys().next().value!)
    this.#lasts.set(client, !gaveUp)
  }
}
