/** A server sent a message above the size limit. */
export class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge"

  constructor(limit: number) {
    super(`sent more than ${Math.round(limit / 1024 / 1024)} MB in one message`)
  }
}

/** Splits a stream of bytes into lines, with at most `limit` bytes of an incomplete one in memory. */
export class LineSplitter {
  #parts: Buffer[] = []
  #heldBytes = 0
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The lines that are now complete, without line ends. Throws `MessageTooLarge`. */
  *split(chunk: Buffer): Generator<string> {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      if (this.#heldBytes + end - start > this.#limit) throw new MessageTooLarge(this.#limit)
      yield this.#complete(chunk.subarray(start, end))
      start = end + 1
    }
    if (start === chunk.length) return
    this.#heldBytes += chunk.length - start
    if (this.#heldBytes > this.#limit) throw new MessageTooLarge(this.#limit)
    this.#parts.push(start === 0 ? chunk : chunk.subarray(start))
  }

  #complete(last: Buffer): string {
    if (this.#heldBytes === 0) return last.toString("utf8")
    const line = Buffer.concat([...this.#parts, last]).toString("utf8")
    this.#parts = []
    this.#heldBytes = 0
    return line
  }
}
