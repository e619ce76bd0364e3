import { width } from "../../terminal/width.ts"
import type { Rows } from "./layout.ts"

const escape = "\u001b"
const eraseRow = `${escape}[K`
const eraseBelow = `${escape}[J`

/**
 * A terminal that text is only ever added to, with a few live rows below it that are drawn again in place. While it is
 * paused, somebody else has the terminal; what is printed meanwhile comes afterwards.
 */
export class LiveScreen {
  readonly #output: NodeJS.WriteStream
  /** Returns the live rows as they are now. */
  readonly #live: () => Rows
  /** The live rows on the terminal, and the columns they were drawn for. */
  #drawn: Rows | undefined
  #printed: string[] = []
  #timer: NodeJS.Timeout | undefined
  #isPaused = true

  constructor(output: NodeJS.WriteStream, live: () => Rows) {
    this.#output = output
    this.#live = live
  }

  get columns(): number {
    return this.#output.columns || 80
  }

  /** Adds rows above the live ones. */
  print(rows: readonly string[]): void {
    this.#printed.push(...rows)
    this.draw()
  }

  /** Draws the live rows again, soon. */
  draw(): void {
    this.#timer ??= setTimeout(() => this.drawNow(), frameMs)
  }

  drawNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#isPaused) return
    const live = this.#live()
    const { rows, cursor } = live
    const above = this.#printed.map((row) => `${row}${eraseRow}\n`).join("")
    const below = rows.map((row) => `${row}${eraseRow}`).join("\n")
    const up = rows.length - 1 - cursor.row
    this.#printed = []
    this.#output.write(
      `${this.#toTop()}${above}${below}${eraseBelow}${up > 0 ? `${escape}[${up}A` : ""}\r${cursor.column > 0 ? `${escape}[${cursor.column}C` : ""}`,
    )
    this.#drawn = live
  }

  /** Takes the live rows off the terminal and leaves it to somebody else. */
  pause(): void {
    this.drawNow()
    this.#output.write(`${this.#toTop()}${eraseBelow}`)
    this.#drawn = undefined
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.drawNow()
  }

  clear(): void {
    this.#output.write(`${escape}[H${escape}[2J`)
    this.#drawn = undefined
    this.drawNow()
  }

  /** Moves to the first live row. A terminal that became narrower has broken rows into several. */
  #toTop(): string {
    if (this.#drawn === undefined) return ""
    const { rows, cursor } = this.#drawn
    const broken = rows.slice(0, cursor.row).map((row) => Math.max(1, Math.ceil(width(row) / this.columns)))
    const up = broken.reduce((sum, each) => sum + each, 0) + Math.floor(cursor.column / this.columns)
    return up > 0 ? `\r${escape}[${up}A` : "\r"
  }
}

/** A frame of the screen: what comes faster is drawn together. */
const frameMs = 30
