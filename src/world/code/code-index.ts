import { extname } from "node:path"
import { Worker } from "node:worker_threads"
import type { CodeFindOptions, CodeFound, CodeIndex, CodeSearch } from "../../model/code.ts"
import { failure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import { workerFile } from "./worker-file.ts"

/** What the keeper's thread is told, and what it says. */
export type ToKeeper =
  | {
      do: "find"
      id: number
      workspace: string
      path: string
      search: CodeSearch
      only?: readonly string[] | undefined
    }
  | { do: "paths"; id: number; workspace: string; path: string }
  | { do: "cancel"; id: number }
  | { do: "shown"; id: number; shown: readonly boolean[] }
export type FromKeeper =
  | { id: number; found: CodeFound }
  | { id: number; paths: readonly string[] }
  | { id: number; error: string; mistake: boolean }
  | { asks: number; paths: readonly string[] }

type Answered = Exclude<FromKeeper, { asks: number }>

export interface CodeIndexOptions {
  /** With or without their dot; none means every kind of file. */
  readonly allowedExtensions?: readonly string[] | undefined
}

/** The index of a workspace, in a thread of its own that starts with the first search and holds no process open. */
export function openCodeIndex(
  fence: Pick<Files, "workspace" | "isShown">,
  { allowedExtensions = [] }: CodeIndexOptions = {},
): CodeIndex {
  const extensions = new Set(allowedExtensions.map((one) => one.replace(/^\./, "").toLowerCase()))
  const isShown = (path: string) =>
    (extensions.size === 0 || extensions.has(extname(path).slice(1).toLowerCase())) && fence.isShown(path)
  const waiting = new Map<number, (answered: Answered) => void>()
  let worker: Worker | undefined
  let last = 0

  const lost = (error: string) => {
    worker = undefined
    for (const [id, answer] of waiting) answer({ id, error, mistake: false })
  }
  const hear = (keeper: Worker, message: FromKeeper) => {
    if (!("asks" in message)) return waiting.get(message.id)?.(message)
    tell(keeper, { do: "shown", id: message.asks, shown: message.paths.map(isShown) })
  }
  const start = (): Worker => {
    const keeper = new Worker(workerFile("keeper-worker"), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 1024 },
    })
    keeper.unref()
    keeper.on("message", (message: FromKeeper) => hear(keeper, message))
    keeper.on("error", (error: Error) => lost(error.message))
    keeper.on("exit", () => lost("it ended"))
    return keeper
  }
  const ask = (message: Extract<ToKeeper, { do: "find" | "paths" }>, signal: AbortSignal | undefined) =>
    new Promise<Answered>((resolve, reject) => {
      const keeper = (worker ??= start())
      const cancel = () => {
        settle()
        tell(keeper, { do: "cancel", id: message.id })
        reject(signal?.reason as Error)
      }
      const settle = () => {
        signal?.removeEventListener("abort", cancel)
        waiting.delete(message.id)
        if (waiting.size === 0) keeper.unref()
      }
      waiting.set(message.id, (answered) => {
        settle()
        resolve(answered)
      })
      keeper.ref()
      signal?.addEventListener("abort", cancel)
      tell(keeper, message)
    })

  return {
    async find(search: CodeSearch, { allows, signal }: CodeFindOptions = {}) {
      signal?.throwIfAborted()
      const common = { workspace: fence.workspace, path: search.path ?? "." }
      let only: readonly string[] | undefined
      if (allows !== undefined) {
        const listed = await ask({ do: "paths", id: ++last, ...common }, signal)
        if (!("paths" in listed)) throw refused(listed)
        only = listed.paths.filter(allows)
      }
      const answered = await ask({ do: "find", id: ++last, ...common, search, only }, signal)
      if (!("found" in answered)) throw refused(answered)
      return answered.found
    },
    async close() {
      const keeper = worker
      worker = undefined
      await keeper?.terminate()
    },
  }
}

function tell(worker: Worker, message: ToKeeper): void {
  worker.postMessage(message)
}

function refused(answered: Answered): Error {
  if ("error" in answered && answered.mistake) return failure(answered.error, { toolCode: "bad_query" })
  const why = "error" in answered ? ` (${answered.error})` : ""
  return failure(`The code could not be looked through${why}. Use search_files instead, or try again.`, {
    toolCode: "index_failed",
  })
}
