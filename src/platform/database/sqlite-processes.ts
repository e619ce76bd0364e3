import { fork, type ChildProcess } from "node:child_process"
import { findBuiltFile } from "../../lib/package-file.ts"
import { failure } from "../../core/ending.ts"
import { Slots, stopped } from "./slots.ts"
import type { SqliteAnswer, SqliteJob } from "./sqlite-job.ts"

const maxProcesses = 4
/** An idle process is ended, because it uses about 50 MB. */
const idleMs = 10_000

/** Processes that run SQLite, one job at a time each, shared by all databases. Killed when a job is stopped. */
export class SqliteProcesses {
  readonly #idle: ChildProcess[] = []
  readonly #all = new Set<ChildProcess>()
  readonly #slots = new Slots(maxProcesses)
  #timer: NodeJS.Timeout | undefined

  run(job: SqliteJob, signal: AbortSignal): Promise<SqliteAnswer> {
    return this.#slots.run(signal, async () => {
      const child = this.#idle.pop() ?? this.#start()
      try {
        const answer = await ask(child, job, signal)
        this.#keepIdle(child)
        return answer
      } catch (error) {
        this.#end(child)
        throw error
      }
    })
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    const ended = [...this.#all].map((child) => new Promise<void>((resolve) => child.once("exit", () => resolve())))
    for (const child of this.#all) {
      child.ref()
      this.#end(child)
    }
    await Promise.all(ended)
  }

  #start(): ChildProcess {
    const file = findBuiltFile("platform/database/sqlite-process.js")
    if (file === undefined) throw new Error("The SQLite process is not built. Run: npm run build")
    const child = fork(file, [], {
      execArgv: ["--max-old-space-size=512"],
      env: {},
      // It keeps big integers and bytes as they are.
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    })
    this.#all.add(child)
    child.on("error", () => this.#forget(child))
    child.on("exit", () => this.#forget(child))
    return child
  }

  #keepIdle(child: ChildProcess): void {
    if (!this.#all.has(child)) return
    // It must not keep a command running that has its answer.
    child.unref()
    child.channel?.unref()
    this.#idle.push(child)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => [...this.#idle].forEach((idle) => this.#end(idle)), idleMs).unref()
  }

  #end(child: ChildProcess): void {
    this.#forget(child)
    child.kill("SIGKILL")
  }

  #forget(child: ChildProcess): void {
    this.#all.delete(child)
    const index = this.#idle.indexOf(child)
    if (index !== -1) this.#idle.splice(index, 1)
  }
}

function ask(child: ChildProcess, job: SqliteJob, signal: AbortSignal): Promise<SqliteAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => () => {
      signal.removeEventListener("abort", stop)
      child.off("message", answer).off("exit", crash)
      act()
    }
    const answer = (given: unknown) => settle(() => resolve(given as SqliteAnswer))()
    const crash = settle(() => reject(crashed()))
    const stop = settle(() => reject(stopped()))
    child.ref()
    child.channel?.ref()
    child.on("message", answer).on("exit", crash)
    signal.addEventListener("abort", stop)
    child.send(job, (error) => error !== null && crash())
  })
}

function crashed(): Error {
  return failure("SQLite ended without an answer: the statement needed too much memory. Ask for less at once.", {
    toolCode: "database_failed",
  })
}
