import { fstatSync, type BigIntStats } from "node:fs"
import { versionOf } from "./facts.ts"

export interface ContentCacheOptions {
  /** The most bytes of all contents together. */
  readonly maxBytes?: number
  readonly now?: () => number
}

/** A change within this time of the last one may leave the same times: clocks of file systems are coarse. */
const unsettledMs = 2000

/** The cost of an entry besides its content. */
const entryBytes = 500

/**
 * Keeps what files contained while device, inode, size and times are equal. A file is opened and checked each time before
 * it is looked up here; whatever was used longest ago goes first. Callers get copies.
 */
export class ContentCache {
  readonly #entries = new Map<string, { readonly version: string; readonly bytes: Uint8Array }>()
  readonly #maxBytes: number
  readonly #now: () => number
  #bytes = 0

  constructor({ maxBytes = 32 * 1024 * 1024, now = Date.now }: ContentCacheOptions = {}) {
    this.#maxBytes = maxBytes
    this.#now = now
  }

  /** The number of bytes it holds. */
  get bytes(): number {
    return this.#bytes
  }

  get(stat: BigIntStats): Buffer | undefined {
    const key = keyOf(stat)
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.version !== versionOf(stat)) {
      this.#bytes -= sizeOf(entry.bytes)
      return undefined
    }
    this.#entries.set(key, entry)
    return Buffer.from(entry.bytes)
  }

  /** Call it before reading; the function returned takes what was read. */
  reading(descriptor: number, stat: BigIntStats): (bytes: Buffer) => void {
    const began = this.#now()
    return (bytes) => {
      const changed = stat.mtimeMs > stat.ctimeMs ? stat.mtimeMs : stat.ctimeMs
      if (began - Number(changed) < unsettledMs || sizeOf(bytes) > this.#maxBytes) return
      const version = versionOf(stat)
      // It may have been written to while it was read.
      if (BigInt(bytes.length) !== stat.size || versionOf(fstatSync(descriptor, { bigint: true })) !== version) return
      this.#put(keyOf(stat), { version, bytes: new Uint8Array(bytes) })
    }
  }

  #put(key: string, entry: { version: string; bytes: Uint8Array }): void {
    this.#drop(key)
    this.#entries.set(key, entry)
    this.#bytes += sizeOf(entry.bytes)
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= sizeOf(entry.bytes)
  }
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

function sizeOf({ length }: Uint8Array): number {
  return length + entryBytes
}
