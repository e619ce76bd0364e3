import type { Database } from "./database.ts"

const hour = 60 * 60_000
/** What lies a month ahead was written by a clock that was wrong. */
const month = 30 * 24 * hour

const mostWindows = 10_000

/** When the calls of one agent and tool started in the last hour. After a clock was set back some may lie ahead. */
export interface Window {
  countAfter(bound: number): number
  /** When the call started that is the nth from the end. */
  fromEnd(nth: number): number
}

/**
 * A mirror of the starts in the store. Times of one agent and tool only grow there, and only what is over is taken
 * away, so that each look reads no more than what came since the last one, however many there are.
 */
export class Windows {
  readonly #mirrors = new Map<string, Mirror>()
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

  /** As it is in the store now. */
  of(agent: string, tool: string, at: number): Window {
    const key = keyOf(agent, tool)
    let mirror = this.#mirrors.get(key)
    if (mirror === undefined || mirror.isWrong(at)) {
      if (this.#mirrors.size >= mostWindows) this.#mirrors.clear()
      this.#mirrors.set(key, (mirror = new Mirror()))
    }
    const { from, known } = mirror.end(at)
    mirror.add(this.#since.all(agent, tool, from, at + month) as { at: number }[], known)
    mirror.dropUntil(at - hour)
    mirror.lookedAt = at
    return mirror
  }

  /** As it was when it was looked at last. */
  known(agent: string, tool: string, at: number): Window | undefined {
    const mirror = this.#mirrors.get(keyOf(agent, tool))
    if (mirror === undefined || mirror.isWrong(at)) return undefined
    mirror.dropUntil(at - hour)
    return mirror
  }

  /** The same, if that was no more than a tenth of a second ago. */
  recent(agent: string, tool: string, at: number): Window | undefined {
    const age = at - (this.#mirrors.get(keyOf(agent, tool))?.lookedAt ?? -Infinity)
    return age >= 0 && age <= 100 ? this.known(agent, tool, at) : undefined
  }

  /** Takes a place in the window that was looked at last; false when another process has taken one since. */
  take(agent: string, tool: string, at: number): boolean {
    const mirror = this.#mirrors.get(keyOf(agent, tool))
    if (mirror === undefined) return false
    if (mirror.hasOld) {
      this.#forgetOld.run(agent, tool, at - hour)
      this.#forgetWrong.run(agent, tool, at + month)
      mirror.hasOld = false
    }
    const { from, known } = mirror.end(at)
    const started = Math.max(at, mirror.last ?? 0)
    const { changes } = this.#take.run(agent, tool, started, from, at + month, known)
    if (Number(changes) === 0) return false
    mirror.add([{ at: started }], 0)
    return true
  }

  /** Whatever was taken may not have been kept. */
  forget(): void {
    this.#mirrors.clear()
  }
}

function keyOf(agent: string, tool: string): string {
  return `${agent}\0${tool}`
}

class Mirror implements Window {
  /** Whether the store may hold starts of this window that are over. */
  hasOld = true
  lookedAt = -Infinity
  #times: number[] = []
  /** How many at the beginning are over. */
  #over = 0

  get last(): number | undefined {
    return this.#times.at(-1)
  }

  /** Whether the clock was so wrong that this may not be what the store has. */
  isWrong(at: number): boolean {
    return (this.last ?? at) > at + month || (this.#over > 0 && (this.#times[this.#over - 1] ?? 0) > at - hour)
  }

  /** From when on there may be more, and how many from then on are known. */
  end(at: number): { from: number; known: number } {
    const from = this.last
    if (from === undefined || from <= at - hour) return { from: at - hour + 1, known: 0 }
    let known = 0
    for (let index = this.#times.length - 1; this.#times[index] === from; index -= 1) known += 1
    return { from, known }
  }

  /** The first of the rows are known. */
  add(rows: readonly { at: number }[], known: number): void {
    for (let index = known; index < rows.length; index += 1) this.#times.push(rows[index]!.at)
  }

  dropUntil(bound: number): void {
    const over = this.#firstAfter(bound)
    if (over > this.#over) this.hasOld = true
    this.#over = over
    if (over < 10_000 || over < this.#times.length / 2) return
    // One stays behind, to tell how far back the clock may go.
    this.#times = this.#times.slice(over - 1)
    this.#over = 1
  }

  countAfter(bound: number): number {
    return this.#times.length - Math.max(this.#over, this.#firstAfter(bound))
  }

  fromEnd(nth: number): number {
    return this.#times[Math.max(this.#over, this.#times.length - nth)] ?? 0
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
