import { Worker } from "node:worker_threads"
import { findBuiltFile } from "../../lib/package-file.ts"
import { missingPackages } from "../../lib/missing-packages.ts"
import { failure } from "../../core/ending.ts"
import type { Page, Pages } from "./web-access.ts"
import { decodeText } from "./charset.ts"
import type { PageTask } from "./page-worker.ts"

export interface PageOptions {
  /** Time limit of one page. */
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 15_000
const maxThreads = 4

/** Reads pages, each in a thread of its own with limits on time and memory. */
export function openPages({ timeoutMs = defaultTimeoutMs }: PageOptions = {}): Pages {
  const queue = makeQueue(maxThreads)
  const work = <Result>(task: PageTask, signal: AbortSignal | undefined) =>
    queue(() => inWorker<Result>(task, timeoutMs, signal))
  return {
    text: ({ bytes, headers }) => decodeText(bytes, headers["content-type"]),
    markdown: (html, url, signal) => work<Page>({ kind: "markdown", html, url }, signal),
    find: (html, pattern, signal) => work<Record<string, string>[]>({ kind: "find", html, pattern }, signal),
  }
}

function inWorker<Result>(task: PageTask, timeoutMs: number, signal: AbortSignal | undefined): Promise<Result> {
  signal?.throwIfAborted()
  const missing = missingPackages("Reading web pages", ["@mozilla/readability", "linkedom", "turndown"])
  if (missing !== undefined) throw failure(`${missing} Call http_get for the source.`, { toolCode: "package_missing" })
  const limits = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64, stackSizeMb: 8 }
  const worker = new Worker(workerFile(), { workerData: task, resourceLimits: limits, execArgv: [], env: {} })
  return new Promise<Result>((resolve, reject) => {
    const timer = setTimeout(() => reject(tooComplex(`could not be read within ${timeoutMs / 1000} s`)), timeoutMs)
    const giveUp = () => reject(signal?.reason as Error)
    signal?.addEventListener("abort", giveUp, { once: true })
    worker.once("message", resolve)
    worker.once("error", (error) => reject(tooComplex("could not be read", error)))
    worker.once("exit", () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", giveUp)
      reject(tooComplex("could not be read"))
    })
  }).finally(() => void worker.terminate())
}

function tooComplex(what: string, cause?: Error): Error {
  return failure(`The page ${what}: it is too large or too deep. Call http_get for its source.`, {
    toolCode: "page_too_complex",
    ...(cause === undefined ? {} : { cause }),
  })
}

/** Runs at most `limit` jobs at once; others wait in order. */
function makeQueue(limit: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running === limit) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

function workerFile(): string {
  const found = findBuiltFile("platform/web/page-worker.js")
  if (found === undefined) throw new Error("The page worker is not built. Run: npm run build")
  return found
}
