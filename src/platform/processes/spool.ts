import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { readFile } from "node:fs/promises"
import type { WholeOutput } from "./process-access.ts"

/** Bytes to keep in memory before writing to a file. */
const maxInMemory = 1024 * 1024

/**
 * Everything a command prints, as bytes in order: in memory first, then in a file that only this user can read. Stops at
 * its limit and sets `isCut`.
 */
export class Spool {
  readonly #file: () => string
  readonly #limit: number
  #pieces: Uint8Array[] = []
  #opened: { path: string; descriptor: number } | undefined
  #bytes = 0
  #isCut = false

  constructor(options: { limit: number; file: () => string }) {
    this.#file = options.file
    this.#limit = options.limit
  }

  add(bytes: Uint8Array): void {
    const room = this.#limit - this.#bytes
    const piece = bytes.length > room ? bytes.subarray(0, Math.max(0, room)) : bytes
    if (piece.length < bytes.length) this.#isCut = true
    if (piece.length === 0) return
    this.#bytes += piece.length
    if (this.#opened === undefined) {
      this.#pieces.push(piece)
      if (this.#bytes > maxInMemory) this.#write(() => this.#toFile())
    } else this.#write(() => writeAll(this.#opened!.descriptor, piece))
  }

  /** Returns the whole output. The caller drops it when done. */
  take(): WholeOutput {
    this.#close()
    const { path } = this.#opened ?? {}
    return {
      bytes: this.#bytes,
      isCut: this.#isCut,
      read: () => (path === undefined ? Promise.resolve(Buffer.concat(this.#pieces)) : readFile(path)),
      drop: () => this.drop(),
    }
  }

  drop(): void {
    this.#close()
    this.#pieces = []
    if (this.#opened !== undefined) rmSync(this.#opened.path, { force: true })
  }

  #toFile(): void {
    const path = this.#file()
    this.#opened = { path, descriptor: openSync(path, "wx", 0o600) }
    for (const piece of this.#pieces) writeAll(this.#opened.descriptor, piece)
    this.#pieces = []
  }

  /** If the disk is full, the copy is cut and the command goes on. */
  #write(act: () => void): void {
    try {
      act()
    } catch {
      this.#isCut = true
      this.#bytes = this.#limit
    }
  }

  #close(): void {
    if (this.#opened === undefined || this.#opened.descriptor < 0) return
    closeSync(this.#opened.descriptor)
    this.#opened.descriptor = -1
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written)
}
