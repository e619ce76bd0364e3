import { hostname } from "node:os"
import { retryWhileBusy, type Database } from "./database.ts"
import { isOwnerAlive } from "./owner.ts"

const beatMs = 5000
const deadAfterMs = 20_000

/** Tells live processes from dead ones: on this machine by their pid, on others by their heartbeat. */
export class Leases {
  readonly #owner: string
  readonly #open: () => Promise<Database>
  readonly #recover: (owner: string) => Promise<void>
  readonly #recovered = new Set<string>()
  #beating: NodeJS.Timeout | undefined

  /** `recover` moves the journal of a dead process and closes the rows of calls it ended. */
  constructor(owner: string, open: () => Promise<Database>, recover: (owner: string) => Promise<void>) {
    this.#owner = owner
    this.#open = open
    this.#recover = recover
  }

  /** Starts the heartbeat of this process. Resolves after the first beat. */
  async begin(): Promise<void> {
    if (this.#beating !== undefined) return
    this.#beating = setInterval(() => void this.#beat().catch(() => {}), beatMs).unref()
    await this.#beat()
  }

  /** A process counts as dead only after it was recovered, so that no other process continues a call that it ended. */
  isAlive(owner: string): boolean | Promise<boolean> {
    if (owner === "" || this.#recovered.has(owner)) return false
    const [host] = owner.split("|")
    const isHere = host === hostname()
    const alive = isHere ? isOwnerAlive(owner) : this.#hasHeartbeat(owner)
    return alive === true ? true : this.#recoverIfDead(owner, alive, isHere)
  }

  async close(): Promise<void> {
    if (this.#beating === undefined) return
    clearInterval(this.#beating)
    const database = await this.#open()
    await retryWhileBusy(() => database.prepare("delete from processes where owner = ?").run(this.#owner)).catch(
      () => {},
    )
  }

  async #recoverIfDead(owner: string, alive: boolean | Promise<boolean>, isHere: boolean): Promise<boolean> {
    if (await alive) return true
    await this.#recover(owner)
    if (isHere) this.#recovered.add(owner)
    return false
  }

  async #beat(): Promise<void> {
    const database = await this.#open()
    await retryWhileBusy(() => {
      database.prepare("insert or replace into processes (owner, beat_at) values (?, ?)").run(this.#owner, Date.now())
      database.prepare("delete from processes where beat_at < ?").run(Date.now() - 100 * deadAfterMs)
    })
  }

  async #hasHeartbeat(owner: string): Promise<boolean> {
    const database = await this.#open()
    const row = (await retryWhileBusy(() =>
      database.prepare("select beat_at from processes where owner = ?").get(owner),
    )) as { beat_at: number } | undefined
    return row !== undefined && row.beat_at > Date.now() - deadAfterMs
  }
}
