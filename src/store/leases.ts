import { hostname } from "node:os"
import { whenFree, type Database } from "./database.ts"
import { ownerLives } from "./owner.ts"

const beatMs = 5000
const deadAfterMs = 20_000

/** Tells processes that live from those that died: by their pid on this machine, by their heartbeat on others. */
export class Leases {
  readonly #owner: string
  readonly #open: () => Promise<Database>
  readonly #hear: (owner: string) => Promise<void>
  readonly #heard = new Set<string>()
  #beating: NodeJS.Timeout | undefined

  /** `hear` takes in what a dead process wrote last. */
  constructor(owner: string, open: () => Promise<Database>, hear: (owner: string) => Promise<void>) {
    this.#owner = owner
    this.#open = open
    this.#hear = hear
  }

  /** From now on this process is known to live. Resolves after the first beat. */
  async begin(): Promise<void> {
    if (this.#beating !== undefined) return
    this.#beating = setInterval(() => void this.#beat().catch(() => {}), beatMs).unref()
    await this.#beat()
  }

  /** A process counts as dead only once its last words were heard: nobody goes on with a call that it ended. */
  alive(owner: string): boolean | Promise<boolean> {
    if (owner === "" || this.#heard.has(owner)) return false
    const [host] = owner.split("|")
    const isHere = host === hostname()
    const lives = isHere ? ownerLives(owner) : this.#beats(owner)
    return lives === true ? true : this.#whenHeard(owner, lives, isHere)
  }

  async close(): Promise<void> {
    if (this.#beating === undefined) return
    clearInterval(this.#beating)
    const database = await this.#open()
    await whenFree(() => database.prepare("delete from processes where owner = ?").run(this.#owner)).catch(() => {})
  }

  async #whenHeard(owner: string, lives: boolean | Promise<boolean>, isHere: boolean): Promise<boolean> {
    if (await lives) return true
    await this.#hear(owner)
    if (isHere) this.#heard.add(owner)
    return false
  }

  async #beat(): Promise<void> {
    const database = await this.#open()
    await whenFree(() => {
      database.prepare("insert or replace into processes (owner, beat_at) values (?, ?)").run(this.#owner, Date.now())
      database.prepare("delete from processes where beat_at < ?").run(Date.now() - 100 * deadAfterMs)
    })
  }

  async #beats(owner: string): Promise<boolean> {
    const database = await this.#open()
    const row = (await whenFree(() => database.prepare("select beat_at from processes where owner = ?").get(owner))) as
      | { beat_at: number }
      | undefined
    return row !== undefined && row.beat_at > Date.now() - deadAfterMs
  }
}
