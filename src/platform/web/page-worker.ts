import { parentPort, workerData } from "node:worker_threads"
import type { PagePattern } from "./web-access.ts"
import { findInPage, readablePage } from "./page-markdown.ts"

/** The worker handles one page, answers once and ends. */
export type PageTask =
  | { readonly kind: "markdown"; readonly html: string; readonly url: string }
  | { readonly kind: "find"; readonly html: string; readonly pattern: PagePattern }

const task = workerData as PageTask
parentPort?.postMessage(
  task.kind === "markdown" ? readablePage(task.html, task.url) : findInPage(task.html, task.pattern),
)
