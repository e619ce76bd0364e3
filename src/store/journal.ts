import { messageOf } from "../model/message.ts"
import type { RecordKey } from "./key.ts"
import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { StoreUnavailable } from "../model/ending.ts"
import { newId } from "../model/identity.ts"
import type { Durability, RecordEntry } from "../model/record.ts"
import { entryText } from "./entry-text.ts"
import { ensureFolder } from "./folder.ts"
import { frameText, numbered, sealOf } from "./frames.ts"

/** A file is followed by a new one at this size; the old one is removed once its lines are in the table. */
const fileLimit = 64 * 1024 * 1024

/**
 * How far ahead the file is made longer for synced entries. A sync of a file that keeps its length need not write the
 * length too, which saves a third of its time; what is not written yet reads as zeros.
 */
const reserve = 16 * 1024 * 1024

/** Above this a sync is slow enough to be worth a thread of its own even for a single caller. */
const slowSyncMs = 3

interface Waiting {
  entry: RecordEntry
  json: string
  grade: Durability
  resolve(): void
  reject(error: unknown): void
}

/**
 * The file a process writes its records to first. What is kept in one turn of the event loop is one frame: one write,
 * one seal, and one sync for those who ask for it.
 */
export class Journal {
  readonly uuid = newId()
  readonly #dir: string
  readonly #key: RecordKey
  readonly #owner: string
  readonly #written: (seq: number) => void
  #descriptor = -1
  #size = 0
  #reserved = 0
  #seq = 0
  #seal = ""
  #pending: Waiting[] = []
  #unsynced: Waiting[] = []
  #syncing = false
  #averageSyncMs = 0
  #dirty = false
  #background: NodeJS.Timeout | undefined
  /** The numbers of starts whose ends are still to come. */
  readonly #starts = new Map<string, number>()

  constructor(dir: string, key: RecordKey, owner: string, written: (seq: number) => void) {
    this.#dir = dir
    this.#key = key
    this.#owner = owner
    this.#written = written
  }

  /** How many lines were written. */
  get seq(): number {
    return this.#seq
  }

  /** Resolves when the entry is handed to the operating system, or with *power*, when it is on the disk. */
  keep(entry: RecordEntry, grade: Durability): Promise<void> {
    const json = entryText(entry)
    return new Promise((resolve, reject) => {
      this.#pending.push({ entry, json, grade, resolve, reject })
      // Runs when every call that can go on has gone on, so that their entries share a frame.
      if (this.#pending.length === 1) process.nextTick(this.#flush)
    })
  }

  close(): void {
    this.#flush()
    clearTimeout(this.#background)
    if (this.#descriptor === -1) return
    this.#closeFile()
    this.#descriptor = -1
  }

  #closeFile(): void {
    if (this.#reserved > 0) ftruncateSync(this.#descriptor, this.#size)
    if (this.#dirty) fdatasyncSync(this.#descriptor)
    closeSync(this.#descriptor)
  }

  readonly #flush = (): void => {
    const batch = this.#pending
    if (batch.length === 0) return
    this.#pending = []
    try {
      if (this.#descriptor === -1 || this.#size > fileLimit) this.#nextFile()
      if (batch.some(({ grade }) => grade === "power")) this.#lengthen()
      this.#write(batch)
    } catch (error) {
      for (const waiting of batch) waiting.reject(cannotWrite(error))
      return
    }
    this.#dirty = true
    this.#background ??= setTimeout(() => this.#syncInBackground(), 1000).unref()
    this.#written(this.#seq)
    for (const waiting of batch) {
      if (waiting.grade === "power") this.#unsynced.push(waiting)
      else waiting.resolve()
    }
    if (this.#unsynced.length > 0 && !this.#syncing) this.#sync()
  }

  #write(batch: readonly Pick<Waiting, "entry" | "json">[]): void {
    let lines = ""
    let seq = this.#seq
    for (const { entry, json } of batch) {
      seq++
      const start = entry.kind === "end" ? this.#starts.get(entry.callId) : undefined
      lines += start === undefined ? numbered(seq, json) : numbered(seq, `${json.slice(0, -1)},"s":${start}}`)
    }
    const seal = sealOf(this.#key, this.#seal, lines)
    this.#size += this.#writeWhole(frameText(lines, seal))
    for (const { entry } of batch) {
      this.#seq++
      if (entry.kind === "start") this.#starts.set(entry.callId, this.#seq)
      else if (entry.kind === "end") this.#starts.delete(entry.callId)
    }
    this.#seal = seal
  }

  #lengthen(): void {
    if (this.#reserved - this.#size > reserve / 2) return
    this.#reserved = this.#size + reserve
    ftruncateSync(this.#descriptor, this.#reserved)
  }

  /** Writes all of the text or none of it: half a frame is taken back. */
  #writeWhole(text: string): number {
    const length = Buffer.byteLength(text)
    let written = 0
    try {
      written = writeSync(this.#descriptor, text, this.#size)
      if (written < length) {
        const bytes = Buffer.from(text)
        while (written < length) {
          written += writeSync(this.#descriptor, bytes, written, length - written, this.#size + written)
        }
      }
      return length
    } catch (error) {
      if (written > 0) ftruncateSync(this.#descriptor, this.#size)
      this.#reserved = 0
      throw error
    }
  }

  #nextFile(): void {
    ensureFolder(this.#dir)
    const name = join(this.#dir, `${this.uuid}.${String(this.#seq + 1).padStart(12, "0")}.log`)
    const descriptor = openSync(name, "wx", 0o600)
    if (this.#descriptor !== -1) this.#closeFile()
    this.#descriptor = descriptor
    this.#size = 0
    this.#reserved = 0
    if (this.#seq > 0) return
    const entry = { kind: "note" as const, callId: "", at: Date.now(), by: this.#owner, text: "begin" }
    this.#write([{ entry, json: JSON.stringify(entry) }])
  }

  #sync(): void {
    const callers = this.#unsynced
    if (callers.length === 0) return
    this.#unsynced = []
    this.#dirty = false
    const began = performance.now()
    const done = (error: unknown) => {
      this.#averageSyncMs += (performance.now() - began - this.#averageSyncMs) / 16
      if (error) for (const caller of callers) caller.reject(cannotWrite(error))
      else for (const caller of callers) caller.resolve()
    }
    // A single caller is served in place: a thread's round trip costs it a third more. A crowd, or a slow disk, is not.
    if (callers.length === 1 && this.#averageSyncMs < slowSyncMs) {
      try {
        fdatasyncSync(this.#descriptor)
        return done(undefined)
      } catch (error) {
        return done(error)
      }
    }
    this.#syncing = true
    fdatasync(this.#descriptor, (error) => {
      this.#syncing = false
      done(error)
      this.#sync()
    })
  }

  #syncInBackground(): void {
    this.#background = undefined
    if (!this.#dirty || this.#descriptor === -1) return
    this.#dirty = false
    fdatasync(this.#descriptor, (error) => {
      if (error) this.#dirty = true
    })
  }
}

function cannotWrite(error: unknown): StoreUnavailable {
  const what = messageOf(error)
  return new StoreUnavailable(`The journal cannot be written (${what}).`, { cause: error })
}
