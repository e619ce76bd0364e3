import { availableParallelism } from "node:os"
import { Worker } from "node:worker_threads"
import type { ParsedFile, ParseJob, FileParser } from "./folder-index.ts"
import type { Language } from "./languages.ts"
import { workerFile } from "./worker-file.ts"

export interface ParseTask {
  readonly root: string
  readonly jobs: readonly ParseJob[]
}

/** Loads a grammar before it is needed. */
export interface WarmTask {
  readonly warm: Language
}

/** The size of one task, and how many waiting bytes justify one more thread. */
const taskBytes = 256_000
const taskFiles = 32
const threadBytes = 1_000_000
const maxThreads = Math.min(4, availableParallelism())
/** Idle threads are ended, because each uses about 40 MB. */
const idleMs = 30_000

/** Threads that parse, shared by all folders. A file that crashes its thread gets no outline. */
export class ParserPool {
  readonly #threads: Thread[] = []
  readonly #queue: Task[] = []
  #idle: NodeJS.Timeout | undefined

  /** Starts the first thread before it is needed. */
  warm(): void {
    if (this.#threads.length === 0) this.#start()
  }

  forRoot(root: string): FileParser {
    return {
      warm: (grammar) => {
        this.warm()
        this.#threads[0]?.worker.postMessage({ warm: grammar } satisfies WarmTask)
      },
      parse: (jobs, done, signal) =>
        new Promise((resolve) => {
          const tasks = tasksOf(root, jobs)
          let left = tasks.length
          const settle = () => {
            if (--left === 0) resolve()
          }
          for (const task of tasks) this.#queue.push({ ...task, done, settle, signal })
          const waiting = jobs.reduce((sum, { size }) => sum + size, 0)
          const wanted = Math.min(maxThreads, tasks.length, 1 + Math.floor(waiting / threadBytes))
          while (this.#threads.length < wanted) this.#start()
          this.#next()
        }),
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    this.#queue.length = 0
    await Promise.all(this.#threads.splice(0).map(({ worker }) => worker.terminate()))
  }

  #start(): void {
    const worker = new Worker(workerFile("parser-worker"), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
    const thread: Thread = { worker, task: undefined }
    this.#threads.push(thread)
    worker.unref()
    worker.on("message", (parsed: ParsedFile[]) => {
      const { task } = thread
      thread.task = undefined
      task?.done(parsed)
      task?.settle()
      this.#next()
    })
    worker.on("error", () => this.#onExit(thread))
    worker.on("exit", () => this.#onExit(thread))
  }

  /** Retries each file of a task that crashed its thread alone, to find the file that did it. */
  #onExit(thread: Thread): void {
    const index = this.#threads.indexOf(thread)
    if (index === -1) return
    this.#threads.splice(index, 1)
    const { task } = thread
    if (task !== undefined && task.jobs.length > 1) {
      let left = task.jobs.length
      const settle = () => {
        if (--left === 0) task.settle()
      }
      for (const job of task.jobs) this.#queue.push({ ...task, jobs: [job], settle })
    } else task?.settle()
    if (this.#queue.length > 0 && this.#threads.length === 0) this.#start()
    this.#next()
  }

  #next(): void {
    clearTimeout(this.#idle)
    for (const thread of this.#threads) {
      if (thread.task !== undefined) continue
      let task = this.#queue.shift()
      while (task?.signal.aborted === true) {
        task.settle()
        task = this.#queue.shift()
      }
      if (task === undefined) break
      thread.task = task
      thread.worker.postMessage({ root: task.root, jobs: task.jobs } satisfies ParseTask)
    }
    if (this.#threads.every(({ task }) => task === undefined)) {
      this.#idle = setTimeout(() => void this.close(), idleMs).unref()
    }
  }
}

interface Thread {
  readonly worker: Worker
  task: Task | undefined
}

interface Task extends ParseTask {
  readonly signal: AbortSignal
  done(parsed: readonly ParsedFile[]): void
  settle(): void
}

function tasksOf(root: string, jobs: readonly ParseJob[]): ParseTask[] {
  const tasks: { root: string; jobs: ParseJob[] }[] = []
  let bytes = 0
  for (const job of jobs) {
    const last = tasks.at(-1)
    if (last === undefined || last.jobs.length === taskFiles || bytes + job.size > taskBytes) {
      tasks.push({ root, jobs: [job] })
      bytes = job.size
    } else {
      last.jobs.push(job)
      bytes += job.size
    }
  }
  return tasks
}
