import { wholeCharacters } from "../../model/text.ts"

/**
 * What is kept of a text that comes in pieces and may never end: its beginning and its end, each up to a number of
 * characters. What lay between is counted.
 */
export class KeptText {
  readonly #mostFirst: number
  readonly #mostLast: number
  #first = ""
  /** Once something stands behind the beginning, nothing is added to it. */
  #hasBegun = false
  #last: string[] = []
  #lastLength = 0
  #dropped = 0

  constructor(limits: { first: number; last: number }) {
    this.#mostFirst = limits.first
    this.#mostLast = limits.last
  }

  get dropped(): number {
    return this.#dropped
  }

  add(piece: string): void {
    const room = this.#hasBegun ? 0 : this.#mostFirst - this.#first.length
    const begins = room > 0 ? wholeCharacters(piece, Math.min(room, piece.length)) : ""
    this.#first += begins
    const rest = piece.slice(begins.length)
    if (rest === "") return
    this.#hasBegun = true
    this.#last.push(rest)
    this.#lastLength += rest.length
    if (this.#lastLength > 2 * this.#mostLast) this.#shorten()
  }

  /** All that is kept; where something is missing, a line says how much. */
  text(): string {
    this.#shorten()
    const last = this.#last.join("")
    if (this.#dropped === 0) return this.#first + last
    const mark = `[${this.#dropped} characters were not kept]\n`
    return this.#first === "" ? mark + last : `${this.#first}\n${mark}${last}`
  }

  #shorten(): void {
    if (this.#lastLength <= this.#mostLast) return
    const all = this.#last.join("")
    const start = all.length - this.#mostLast
    const kept = all.slice(isSecondHalf(all, start) ? start + 1 : start)
    this.#dropped += all.length - kept.length
    this.#last = [kept]
    this.#lastLength = kept.length
  }
}

function isSecondHalf(text: string, place: number): boolean {
  const unit = text.charCodeAt(place)
  return unit >= 0xdc00 && unit <= 0xdfff
}
