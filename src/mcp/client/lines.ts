/** A server sent more in one message than it may. */
export class TooLarge extends Error {
  override readonly name = "TooLarge"

  constructor(limit: number) {
    super(`sent more than ${Math.round(limit / 1024 / 1024)} MB in one message`)
  }
}

/** Cuts a stream of bytes into lines, holding at most `limit` bytes of an unfinished one. */
export class Lines {
  #parts: Buffer[] = []
  #held = 0
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The lines that are complete now, without their ends. Throws `TooLarge`. */
  *take(chunk: Buffer): Generator<string> {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      if (this.#held + end - start > this.#limit) throw new TooLarge(this.#limit)
      yield this.#complete(chunk.subarray(start, end))
      start = end + 1
    }
    if (start === chunk.length) return
    this.#held += chunk.length - start
    if (this.#held > this.#limit) throw new TooLarge(this.#limit)
    this.#parts.push(start === 0 ? chunk : chunk.subarray(start))
  }

  #complete(last: Buffer): string {
    if (this.#held === 0) return last.toString("utf8")
    const line = Buffer.concat([...this.#parts, last]).toString("utf8")
    this.#parts = []
    this.#held = 0
    return line
  }
}
