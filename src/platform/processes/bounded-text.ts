import { wholeCharacters } from "../../core/model-text.ts"

/**
 * Keeps the beginning and the end of a text that comes in pieces and may never end, each up to a number of characters,
 * and counts what was dropped between them.
 */
export class BoundedText {
  readonly #maxFirst: number
  readonly #maxLast: number
  #first = ""
  /** The beginning is complete once something follows it. */
  #isFirstComplete = false
  #last: string[] = []
  #lastLength = 0
  #dropped = 0

  constructor(limits: { first: number; last: number }) {
    this.#maxFirst = limits.first
    this.#maxLast = limits.last
  }

  get dropped(): number {
    return this.#dropped
  }

  add(piece: string): void {
    const room = this.#isFirstComplete ? 0 : this.#maxFirst - this.#first.length
    const begins = room > 0 ? wholeCharacters(piece, Math.min(room, piece.length)) : ""
    this.#first += begins
    const rest = piece.slice(begins.length)
    if (rest === "") return
    this.#isFirstComplete = true
    this.#last.push(rest)
    this.#lastLength += rest.length
    if (this.#lastLength > 2 * this.#maxLast) this.#shorten()
  }

  /** The kept text, with a line that says how much was dropped. */
  text(): string {
    this.#shorten()
    const last = this.#last.join("")
    if (this.#dropped === 0) return this.#first + last
    const mark = `[${this.#dropped} characters were not kept]\n`
    return this.#first === "" ? mark + last : `${this.#first}\n${mark}${last}`
  }

  #shorten(): void {
    if (this.#lastLength <= this.#maxLast) return
    const all = this.#last.join("")
    const start = all.length - this.#maxLast
    const kept = all.slice(isSecondHalf(all, start) ? start + 1 : start)
    this.#dropped += all.length - kept.length
    this.#last = [kept]
    this.#lastLength = kept.length
  }
}

/** Reports whether the second half of a surrogate pair is at this position. */
function isSecondHalf(text: string, position: number): boolean {
  const unit = text.charCodeAt(position)
  return unit >= 0xdc00 && unit <= 0xdfff
}
