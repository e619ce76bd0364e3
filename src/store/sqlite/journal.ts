import { errorMessage } from "../../lib/error-message.ts"
import type { RecordKey } from "./record-key.ts"
import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { StoreUnavailable } from "../../core/ending.ts"
import { moreSpace } from "./database.ts"
import { newId } from "../../lib/new-id.ts"
import type { Durability } from "../../core/reason.ts"
import type { AuditEntry, StartEntry } from "../../core/audit-entry.ts"
import { entryText } from "./entry-text.ts"
import { ensureFolder } from "../../lib/ensure-folder.ts"
import { frameBytes, numberLine } from "./frames.ts"

/** At this size a new file is begun. The old one is removed once its lines are in the table. */
const fileLimit = 64 * 1024 * 1024

/**
 * By how much the file is lengthened in advance for synced entries. A sync takes a third less time when the length of the
 * file does not change. The unwritten part reads as zeros.
 */
const reserve = 16 * 1024 * 1024

/** Above this a sync runs in a thread even for a single caller. */
const slowSyncMs = 3

interface PendingEntry {
  entry: AuditEntry
  json: string
  durability: Durability
  resolve(): void
  /** Missing for a queued start: when it cannot be written, the end of its call fails. */
  reject?(error: unknown): void
}

/**
 * The file a process writes its entries to first. All entries of one turn of the event loop form one frame: one write,
 * one seal, and at most one sync.
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
  #pending: PendingEntry[] = []
  #flushesThisTurn = false
  #flushesNextTurn = false
  #unsynced: PendingEntry[] = []
  #syncing = false
  #averageSyncMs = 0
  #dirty = false
  #background: NodeJS.Timeout | undefined
  /** The line numbers of starts whose ends are not written yet, by call. */
  readonly #starts = new Map<string, number>()

  constructor(dir: string, key: RecordKey, owner: string, written: (seq: number) => void) {
    this.#dir = dir
    this.#key = key
    this.#owner = owner
    this.#written = written
  }

  /** The number of lines written so far. */
  get seq(): number {
    return this.#seq
  }

  /** Resolves when the operating system has the entry, or with *power*, when it is on the disk. */
  write(entry: AuditEntry, durability: Durability): Promise<void> {
    const json = entryText(entry)
    return new Promise((resolve, reject) => {
      this.#pending.push({ entry, json, durability, resolve, reject })
      if (this.#flushesThisTurn) return
      // Runs after all calls that can continue now have continued, so that their entries share a frame.
      this.#flushesThisTurn = true
      process.nextTick(this.#flushThisTurn)
    })
  }

  /** Writes a start together with the next entry, at the latest in the next turn of the event loop. */
  queue(entry: StartEntry, written: () => void): void {
    this.#pending.push({ entry, json: entryText(entry), durability: "crash", resolve: written })
    if (this.#flushesNextTurn) return
    this.#flushesNextTurn = true
    setImmediate(this.#flushNextTurn)
  }

  close(): void {
    this.flush()
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

  readonly #flushThisTurn = (): void => {
    this.#flushesThisTurn = false
    this.flush()
  }

  readonly #flushNextTurn = (): void => {
    this.#flushesNextTurn = false
    this.flush()
  }

  /** Writes all pending entries. */
  flush(): void {
    const batch = this.#pending
    if (batch.length === 0) return
    this.#pending = []
    try {
      if (this.#descriptor === -1 || this.#size > fileLimit) this.#nextFile()
      if (batch.some(({ durability }) => durability === "power")) this.#lengthen()
      this.#write(batch)
    } catch (error) {
      this.#fail(batch, cannotWrite(error))
      return
    }
    this.#dirty = true
    this.#background ??= setTimeout(() => this.#syncInBackground(), 1000).unref()
    this.#written(this.#seq)
    for (const pending of batch) {
      if (pending.durability === "power") this.#unsynced.push(pending)
      else pending.resolve()
    }
    if (this.#unsynced.length > 0 && !this.#syncing) this.#sync()
  }

  /** Queued starts stay for the next try, unless the end of their call is in the same batch. */
  #fail(batch: readonly PendingEntry[], error: StoreUnavailable): void {
    const ended = new Set(batch.map(({ entry }) => (entry.kind === "end" ? entry.callId : undefined)))
    for (const pending of batch) {
      if (pending.reject !== undefined) pending.reject(error)
      else if (!ended.has(pending.entry.callId)) this.#pending.push(pending)
    }
  }

  #write(batch: readonly Pick<PendingEntry, "entry" | "json">[]): void {
    let lines = ""
    let seq = this.#seq
    for (const { entry, json } of batch) {
      seq++
      if (entry.kind === "start") this.#starts.set(entry.callId, seq)
      const start = entry.kind === "end" ? this.#starts.get(entry.callId) : undefined
      lines += start === undefined ? numberLine(seq, json) : numberLine(seq, `${json.slice(0, -1)},"s":${start}}`)
    }
    const { bytes, seal } = frameBytes(this.#key, this.#seal, lines)
    try {
      this.#writeWhole(bytes)
    } catch (error) {
      for (const { entry } of batch) if (entry.kind === "start") this.#starts.delete(entry.callId)
      throw error
    }
    for (const { entry } of batch) if (entry.kind === "end") this.#starts.delete(entry.callId)
    this.#seq = seq
    this.#seal = seal
  }

  #lengthen(): void {
    if (this.#reserved - this.#size > reserve / 2) return
    this.#reserved = this.#size + reserve
    ftruncateSync(this.#descriptor, this.#reserved)
  }

  /** Writes the whole frame or nothing: a partly written frame is truncated. */
  #writeWhole(bytes: Buffer): void {
    let written = 0
    try {
      while (written < bytes.length) {
        written += writeSync(this.#descriptor, bytes, written, bytes.length - written, this.#size + written)
      }
      this.#size += bytes.length
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
      if (error) for (const caller of callers) caller.reject?.(cannotWrite(error))
      else for (const caller of callers) caller.resolve()
    }
    // For a single caller a sync in this thread is a third faster. Several callers, or a slow disk, get a thread.
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
  const what = errorMessage(error)
  return new StoreUnavailable(`The journal cannot be written (${what}).${moreSpace(error)}`, { cause: error })
}
