import type { Database } from "./database.ts"

const hour = 60 * 60_000
/** A time more than a month ahead was written by a wrong clock. */
const month = 30 * 24 * hour

const maxWindows = 10_000

/**
 * The start times of one agent's calls of one tool in the last hour. After a clock was set back some may be in the
 * future.
 */
export interface RateWindow {
  countAfter(bound: number): number
  /** The start time of the nth call from the end. */
  fromEnd(nth: number): number
}

/**
 * A cache of the start times in the store. There, times of one agent and tool only grow and only old ones are removed,
 * so each read needs only the times added since the last one.
 */
export class RateWindows {
  readonly #windows = new Map<string, CachedWindow>()
  readonly #since
  readonly #forgetOld
  readonly #forgetWrong
  readonly #take

  constructor(database: Database) {
    const ofOne = "agent = ?1 and tool = ?2"
    this.#since = database.prepare(`select at from starts where ${ofOne} and at >= ?3 and at <= ?4 order by at`)
    this.#forgetOld = database.prepare(`delete from starts where ${ofOne} and at <= ?3`)
    this.#forgetWrong = database.prepare(`delete from starts where ${ofOne} and at > ?3`)
    this.#take = database.prepare(
      `insert into starts (agent, tool, at) select ?1, ?2, ?3
       where (select count(*) from starts where ${ofOne} and at >= ?4 and at <= ?5) = ?6`,
    )
  }

  /** The window as it is in the store now. */
  current(agent: string, tool: string, at: number): RateWindow {
    const key = keyOf(agent, tool)
    let window = this.#windows.get(key)
    if (window === undefined || window.isWrong(at)) {
      if (this.#windows.size >= maxWindows) this.#windows.clear()
      this.#windows.set(key, (window = new CachedWindow()))
    }
    const { from, known } = window.end(at)
    window.add(this.#since.all(agent, tool, from, at + month) as { at: number }[], known)
    window.dropUntil(at - hour)
    window.readAt = at
    return window
  }

  /** The window as it was when it was last read. */
  cached(agent: string, tool: string, at: number): RateWindow | undefined {
    const window = this.#windows.get(keyOf(agent, tool))
    if (window === undefined || window.isWrong(at)) return undefined
    window.dropUntil(at - hour)
    return window
  }

  /** The same, if it was read in the last tenth of a second. */
  recent(agent: string, tool: string, at: number): RateWindow | undefined {
    const age = at - (this.#windows.get(keyOf(agent, tool))?.readAt ?? -Infinity)
    return age >= 0 && age <= 100 ? this.cached(agent, tool, at) : undefined
  }

  /** Adds a start to the window that was last read; false when another process has added one since. */
  take(agent: string, tool: string, at: number): boolean {
    const window = this.#windows.get(keyOf(agent, tool))
    if (window === undefined) return false
    if (window.hasOld) {
      this.#forgetOld.run(agent, tool, at - hour)
      this.#forgetWrong.run(agent, tool, at + month)
      window.hasOld = false
    }
    const { from, known } = window.end(at)
    const started = Math.max(at, window.last ?? 0)
    const { changes } = this.#take.run(agent, tool, started, from, at + month, known)
    if (Number(changes) === 0) return false
    window.add([{ at: started }], 0)
    return true
  }

  /** Clears the cache, because starts that were added may have been rolled back. */
  forget(): void {
    this.#windows.clear()
  }
}

function keyOf(agent: string, tool: string): string {
  return `${agent}\0${tool}`
}

class CachedWindow implements RateWindow {
  /** True if the store may still have starts of this window that are more than an hour old. */
  hasOld = true
  readAt = -Infinity
  #times: number[] = []
  /** The number of times at the beginning that are more than an hour old. */
  #expired = 0

  get last(): number | undefined {
    return this.#times.at(-1)
  }

  /** Reports whether the clock jumped so far that this may differ from the store. */
  isWrong(at: number): boolean {
    return (this.last ?? at) > at + month || (this.#expired > 0 && (this.#times[this.#expired - 1] ?? 0) > at - hour)
  }

  /** The time from which the store may have more starts, and how many from then on are cached. */
  end(at: number): { from: number; known: number } {
    const from = this.last
    if (from === undefined || from <= at - hour) return { from: at - hour + 1, known: 0 }
    let known = 0
    for (let index = this.#times.length - 1; this.#times[index] === from; index -= 1) known += 1
    return { from, known }
  }

  /** Adds the rows, except the first `known`, which are cached already. */
  add(rows: readonly { at: number }[], known: number): void {
    for (let index = known; index < rows.length; index += 1) this.#times.push(rows[index]!.at)
  }

  dropUntil(bound: number): void {
    const expired = this.#firstAfter(bound)
    if (expired > this.#expired) this.hasOld = true
    this.#expired = expired
    if (expired < 10_000 || expired < this.#times.length / 2) return
    // One expired time stays, to notice a clock that was set back.
    this.#times = this.#times.slice(expired - 1)
    this.#expired = 1
  }

  countAfter(bound: number): number {
    return this.#times.length - Math.max(this.#expired, this.#firstAfter(bound))
  }

  fromEnd(nth: number): number {
    return this.#times[Math.max(this.#expired, this.#times.length - nth)] ?? 0
  }

  #firstAfter(bound: number): number {
    let low = 0
    let high = this.#times.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#times[middle] ?? 0) > bound) high = middle
      else low = middle + 1
    }
    return low
  }
}
