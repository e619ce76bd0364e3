import { extname } from "node:path"
import { Worker } from "node:worker_threads"
import {
  missingGrammars,
  type CodeFindOptions,
  type CodeIndex,
  type CodeSearch,
  type CodeSearchResult,
} from "./code.ts"
import { failure } from "../../core/ending.ts"
import type { Files } from "../files/file-access.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"
import { workerFile } from "./worker-file.ts"

/** The messages to and from the index worker. */
export type ToIndexWorker =
  | {
      do: "find"
      id: number
      workspace: string
      path: string
      search: CodeSearch
      only?: readonly string[]
    }
  | { do: "paths"; id: number; workspace: string; path: string }
  | { do: "cancel"; id: number }
  | { do: "shown"; id: number; shown: readonly boolean[] }
export type FromIndexWorker =
  | { id: number; found: CodeSearchResult }
  | { id: number; paths: readonly string[] }
  | { id: number; error: string; mistake: boolean }
  | { asks: number; paths: readonly string[] }

type Answered = Exclude<FromIndexWorker, { asks: number }>

export interface CodeIndexOptions {
  /** With or without their dot; none means every kind of file. */
  readonly allowedExtensions?: readonly string[]
}

/** The index of a workspace, in its own thread. The thread starts with the first search and keeps no process running. */
export function openCodeIndex(
  files: Pick<Files, "workspace" | "isShown">,
  { allowedExtensions = [] }: CodeIndexOptions = {},
): CodeIndex {
  const extensions = new Set(allowedExtensions.map((extension) => extension.replace(/^\./, "").toLowerCase()))
  const isShown = (path: string) =>
    (extensions.size === 0 || extensions.has(extname(path).slice(1).toLowerCase())) && files.isShown(path)
  const waiting = new Map<number, (answered: Answered) => void>()
  let worker: Worker | undefined
  let last = 0

  const failAll = (error: string) => {
    worker = undefined
    for (const [id, answer] of waiting) answer({ id, error, mistake: false })
  }
  const receive = (started: Worker, message: FromIndexWorker) => {
    if (!("asks" in message)) return waiting.get(message.id)?.(message)
    post(started, { do: "shown", id: message.asks, shown: message.paths.map(isShown) })
  }
  const start = (): Worker => {
    const started = new Worker(workerFile("index-worker"), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
    })
    started.unref()
    started.on("message", (message: FromIndexWorker) => receive(started, message))
    started.on("error", (error: Error) => failAll(error.message))
    started.on("exit", () => failAll("it ended"))
    return started
  }
  const ask = (message: Extract<ToIndexWorker, { do: "find" | "paths" }>, signal: AbortSignal | undefined) =>
    new Promise<Answered>((resolve, reject) => {
      const started = (worker ??= start())
      const cancel = () => {
        settle()
        post(started, { do: "cancel", id: message.id })
        reject(signal?.reason as Error)
      }
      const settle = () => {
        signal?.removeEventListener("abort", cancel)
        waiting.delete(message.id)
        if (waiting.size === 0) started.unref()
      }
      waiting.set(message.id, (answered) => {
        settle()
        resolve(answered)
      })
      started.ref()
      signal?.addEventListener("abort", cancel)
      post(started, message)
    })

  return {
    async find(search: CodeSearch, { allows, signal }: CodeFindOptions = {}) {
      signal?.throwIfAborted()
      const missing = missingGrammars()
      if (missing !== undefined) throw failure(missing, { toolCode: "package_missing" })
      const common = { workspace: files.workspace, path: search.path ?? "." }
      let only: readonly string[] | undefined
      if (allows !== undefined) {
        const listed = await ask({ do: "paths", id: ++last, ...common }, signal)
        if (!("paths" in listed)) throw searchFailure(listed)
        only = listed.paths.filter(allows)
      }
      const answered = await ask({ do: "find", id: ++last, ...common, search, only }, signal)
      if (!("found" in answered)) throw searchFailure(answered)
      return answered.found
    },
    async close() {
      const started = worker
      worker = undefined
      await started?.terminate()
    },
  }
}

function post(worker: Worker, message: ToIndexWorker): void {
  worker.postMessage(message)
}

function searchFailure(answered: Answered): Error {
  if ("error" in answered && answered.mistake) return failure(answered.error, { toolCode: "bad_query" })
  const why = "error" in answered ? ` (${answered.error})` : ""
  return failure(
    dialectText`The code could not be searched${why}. Use ${toolRef("search_files")} instead, or try again.`,
    {
      toolCode: "index_failed",
    },
  )
}
