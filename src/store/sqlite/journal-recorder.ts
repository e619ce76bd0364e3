import type { RecordKey } from "./record-key.ts"
import { Worker } from "node:worker_threads"
import { findBuiltFile } from "../../lib/package-file.ts"
import { StoreUnavailable } from "../../core/ending.ts"
import type { Logger } from "../../core/logger.ts"
import type { Recorder } from "../port.ts"
import type { Durability } from "../../core/reason.ts"
import type { AuditEntry, StartEntry } from "../../core/audit-entry.ts"
import { retryWhileBusy, type Database } from "./database.ts"
import { Journal } from "./journal.ts"
import { closeChain, moveBatch, removeMoved } from "./journal-mover.ts"
import type { MoverData } from "./journal-mover-worker.ts"
import { cell, cellCount } from "./shared-cells.ts"

/** Limit of lines the table may lag behind the journal before calls wait for it. */
const maxLag = 20_000

/** Delay of the thread's start after the first line. A process that closes sooner needs no thread. */
const threadDelayMs = 200

export interface JournalRecorderOptions {
  database: Database
  databaseFile: string
  dir: string
  key: RecordKey
  owner: string
  logger: Logger
}

/** The recorder of a long-lived process: it writes to a journal, and a thread moves the lines into the table. */
export class JournalRecorder implements Recorder {
  readonly #options: JournalRecorderOptions
  readonly #journal: Journal
  readonly #shared = new Int32Array(new SharedArrayBuffer(4 * cellCount))
  #mover: Worker | undefined
  #starting: NodeJS.Timeout | undefined
  #moverExited: Promise<void> = Promise.resolve()
  #settleWaiters: (() => void)[] = []
  #moverError: string | undefined
  #restartAt = 0
  #closed = false

  constructor(options: JournalRecorderOptions) {
    this.#options = options
    this.#journal = new Journal(options.dir, options.key, options.owner, (seq) => this.#written(seq))
  }

  write(entry: AuditEntry, durability: Durability): Promise<void> {
    const held = this.#backPressure()
    return held === undefined
      ? this.#journal.write(entry, durability)
      : held.then(() => this.#journal.write(entry, durability))
  }

  queue(start: StartEntry, written: () => void): Promise<void> | undefined {
    const held = this.#backPressure()
    if (held !== undefined) return held.then(() => this.#journal.write(start, "crash")).then(written)
    this.#journal.queue(start, written)
    return undefined
  }

  flush(): void {
    this.#journal.flush()
  }

  /** Resolves when an entry can be written; undefined when it need not wait. */
  #backPressure(): Promise<void> | undefined {
    if (this.#closed) return Promise.reject(new StoreUnavailable("Quartermaster is closed."))
    if (Atomics.load(this.#shared, cell.failed) === 2) {
      return Promise.reject(
        new StoreUnavailable(
          "The journal file was removed while Quartermaster was writing to it. Restart Quartermaster.",
        ),
      )
    }
    return this.#lag() >= maxLag ? this.#waitForTable() : undefined
  }

  async settle(): Promise<void> {
    // The thread may have reported before the last line was written, so this checks how far the table is.
    for (const target = this.#journal.seq; ((target - Atomics.load(this.#shared, cell.moved)) | 0) > 0;) {
      if (this.#moveHere()) continue
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
    if (!this.#moveHere()) await this.#command(2)
    await this.#moverExited
    if (this.#lag() > 0) return
    await retryWhileBusy(() => closeChain(this.#options, this.#journal.uuid))
    removeMoved(this.#options, this.#journal.uuid)
  }

  /** Moves the lines in this thread, if the other thread is not running. On an error that thread tries and reports. */
  #moveHere(): boolean {
    if (this.#mover !== undefined) return false
    try {
      for (;;) {
        const { seq, more } = moveBatch(this.#options, this.#journal.uuid)
        Atomics.store(this.#shared, cell.moved, seq | 0)
        if (!more) return this.#lag() === 0
      }
    } catch {
      return false
    }
  }

  #written(seq: number): void {
    Atomics.store(this.#shared, cell.written, seq | 0)
    if (this.#mover === undefined) this.#starting ??= setTimeout(() => this.#startMover(), threadDelayMs).unref()
    else if (Atomics.load(this.#shared, cell.asleep) === 1) this.#wake()
  }

  #lag(): number {
    return (this.#journal.seq - Atomics.load(this.#shared, cell.moved)) | 0
  }

  #wake(): void {
    Atomics.store(this.#shared, cell.asleep, 0)
    Atomics.notify(this.#shared, cell.asleep)
  }

  /** Waits until the table has caught up enough. Throws when it cannot be written. */
  async #waitForTable(): Promise<void> {
    for (let waited = 0; this.#lag() >= maxLag; waited += 5) {
      if (waited > 10_000 || Atomics.load(this.#shared, cell.failed) !== 0) {
        throw this.#cannotMove()
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  #cannotMove(): StoreUnavailable {
    return new StoreUnavailable(
      `The audit log cannot be written to the database (${this.#moverError ?? "it is too slow"}).`,
    )
  }

  /** Resolves when the mover has carried out the command or failed. */
  #command(command: 1 | 2): Promise<void> {
    if (this.#mover === undefined) this.#startMover()
    if (this.#mover === undefined) return Promise.resolve()
    this.#mover.ref()
    return new Promise((resolve) => {
      this.#settleWaiters.push(resolve)
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
    mover.on("message", (message: string | { error: string }) => {
      if (typeof message === "object") {
        this.#moverError = message.error
        return logger.error(
          "The audit log cannot be written to the database. New entries stay in the journal until it can.",
          message.error,
        )
      }
      this.#settled()
    })
    mover.on("error", (error) => {
      this.#moverError = error.message
      logger.error(
        "The thread that moves journal entries into the database failed. It starts again with the next entry.",
        error,
      )
    })
    this.#moverExited = new Promise((resolve) => {
      mover.on("exit", () => {
        this.#mover = undefined
        this.#settled()
        resolve()
      })
    })
    // After the listeners: the one for messages would keep the process alive again.
    mover.unref()
    this.#mover = mover
  }

  #settled(): void {
    const waiters = this.#settleWaiters
    this.#settleWaiters = []
    if (!this.#closed) this.#mover?.unref()
    for (const resolve of waiters) resolve()
  }
}

function workerFile(): string {
  const found = findBuiltFile("store/sqlite/journal-mover-worker.js")
  if (found === undefined) throw new StoreUnavailable("The journal mover is not built. Run: npm run build")
  return found
}
