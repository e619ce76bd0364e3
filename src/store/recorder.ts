import type { RecordKey } from "./key.ts"
import { Worker } from "node:worker_threads"
import { builtFile } from "../model/built-file.ts"
import { StoreUnavailable } from "../model/ending.ts"
import type { Logger } from "../model/logger.ts"
import type { Recorder } from "../model/ports.ts"
import type { Durability, RecordEntry } from "../model/record.ts"
import { whenFree, type Database } from "./database.ts"
import { Journal } from "./journal.ts"
import { closeChain, moveBatch, removeMoved } from "./mover.ts"
import type { MoverData } from "./mover-worker.ts"
import { cell, cellCount } from "./shared-cells.ts"

/** How far the table may lag behind the journal before calls wait for it. */
const mostBehind = 20_000

/** How long the first lines gather before a thread is started for them. A house that is closed sooner needs none. */
const gatherMs = 200

export interface JournalRecorderOptions {
  database: Database
  databaseFile: string
  dir: string
  key: RecordKey
  owner: string
  logger: Logger
}

/** The recorder of a long-lived process: a journal in front, a thread that moves its lines into the table behind. */
export class JournalRecorder implements Recorder {
  readonly #options: JournalRecorderOptions
  readonly #journal: Journal
  readonly #shared = new Int32Array(new SharedArrayBuffer(4 * cellCount))
  #mover: Worker | undefined
  #starting: NodeJS.Timeout | undefined
  #gone: Promise<void> = Promise.resolve()
  #settling: (() => void)[] = []
  #stuck: string | undefined
  #restartAt = 0
  #closed = false

  constructor(options: JournalRecorderOptions) {
    this.#options = options
    this.#journal = new Journal(options.dir, options.key, options.owner, (seq) => this.#written(seq))
  }

  keep(entry: RecordEntry, grade: Durability): Promise<void> {
    if (this.#closed) return Promise.reject(new StoreUnavailable("Quartermaster is closed."))
    if (Atomics.load(this.#shared, cell.failed) === 2) {
      return Promise.reject(
        new StoreUnavailable("The journal was removed while it was written. Start Quartermaster again."),
      )
    }
    if (this.#behind() >= mostBehind) return this.#room().then(() => this.#journal.keep(entry, grade))
    return this.#journal.keep(entry, grade)
  }

  async settle(): Promise<void> {
    // One answer may have been given before the last line was written; what counts is how far the table has come.
    for (const target = this.#journal.seq; ((target - Atomics.load(this.#shared, cell.moved)) | 0) > 0;) {
      if (this.#movedHere()) continue
      await this.#command(1)
      if (this.#mover === undefined || Atomics.load(this.#shared, cell.failed) !== 0) throw this.#cannotMove()
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#journal.close()
    if (this.#journal.seq === 0) return
    clearTimeout(this.#starting)
    if (!this.#movedHere()) await this.#command(2)
    await this.#gone
    if (this.#behind() > 0) return
    await whenFree(() => closeChain(this.#options, this.#journal.uuid))
    removeMoved(this.#options, this.#journal.uuid)
  }

  /** Moves the lines in this thread, if no other does yet. What cannot be moved so is left to the thread to tell. */
  #movedHere(): boolean {
    if (this.#mover !== undefined) return false
    try {
      for (;;) {
        const { seq, more } = moveBatch(this.#options, this.#journal.uuid)
        Atomics.store(this.#shared, cell.moved, seq | 0)
        if (!more) return this.#behind() === 0
      }
    } catch {
      return false
    }
  }

  #written(seq: number): void {
    Atomics.store(this.#shared, cell.written, seq | 0)
    if (this.#mover === undefined) this.#starting ??= setTimeout(() => this.#startMover(), gatherMs).unref()
    else if (Atomics.load(this.#shared, cell.asleep) === 1) this.#wake()
  }

  #behind(): number {
    return (this.#journal.seq - Atomics.load(this.#shared, cell.moved)) | 0
  }

  #wake(): void {
    Atomics.store(this.#shared, cell.asleep, 0)
    Atomics.notify(this.#shared, cell.asleep)
  }

  /** Waits until the table has caught up enough; gives up when it cannot be written. */
  async #room(): Promise<void> {
    for (let waited = 0; this.#behind() >= mostBehind; waited += 5) {
      if (waited > 10_000 || Atomics.load(this.#shared, cell.failed) !== 0) {
        throw this.#cannotMove()
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  #cannotMove(): StoreUnavailable {
    return new StoreUnavailable(`The record table cannot be written (${this.#stuck ?? "it is too slow"}).`)
  }

  /** Resolves when the mover has done it, or cannot. */
  #command(command: 1 | 2): Promise<void> {
    if (this.#mover === undefined) this.#startMover()
    if (this.#mover === undefined) return Promise.resolve()
    this.#mover.ref()
    return new Promise((resolve) => {
      this.#settling.push(resolve)
      Atomics.store(this.#shared, cell.command, command)
      Atomics.notify(this.#shared, cell.command)
      this.#wake()
    })
  }

  #startMover(): void {
    clearTimeout(this.#starting)
    this.#starting = undefined
    if (performance.now() < this.#restartAt) return
    this.#restartAt = performance.now() + 1000
    const { databaseFile, dir, key, logger } = this.#options
    const workerData: MoverData = {
      file: databaseFile,
      dir,
      key: key.text,
      uuid: this.#journal.uuid,
      cells: this.#shared.buffer as SharedArrayBuffer,
    }
    const mover = new Worker(workerFile(), { workerData, execArgv: [] })
    mover.unref()
    mover.on("message", (message: string | { error: string }) => {
      if (typeof message === "object") {
        this.#stuck = message.error
        return logger.error("The record table cannot be written; the journal keeps what it can.", message.error)
      }
      this.#settled()
    })
    mover.on("error", (error) => {
      this.#stuck = error.message
      logger.error("The mover failed; it is started again with the next record.", error)
    })
    this.#gone = new Promise((resolve) => {
      mover.on("exit", () => {
        this.#mover = undefined
        this.#settled()
        resolve()
      })
    })
    this.#mover = mover
  }

  #settled(): void {
    const waiting = this.#settling
    this.#settling = []
    if (!this.#closed) this.#mover?.unref()
    for (const resolve of waiting) resolve()
  }
}

function workerFile(): string {
  const found = builtFile("store/mover-worker.js", import.meta.url)
  if (found === undefined) throw new StoreUnavailable("The mover is not built. Run: npm run build")
  return found
}
