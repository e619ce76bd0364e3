import { counted } from "../../lib/counted.ts"
import { Worker } from "node:worker_threads"
import { findBuiltFile } from "../../lib/package-file.ts"
import { missingPackages } from "../../lib/missing-packages.ts"
import { failure } from "../../core/ending.ts"
import type { PdfAnswer, PdfTask } from "./pdf-worker.ts"

/** The text of some pages of a PDF document. */
export interface PdfText {
  readonly content: string
  readonly totalPages: number
  readonly firstPage: number
  readonly lastPage: number
}

/** The number of pages read by default, and at most. */
export const pagesAtOnce = 20

/** Reads in a separate thread that the signal can end: a document may keep the parser busy for ever. */
export async function readPdf(
  bytes: Buffer,
  path: string,
  pages: string | undefined,
  signal: AbortSignal,
): Promise<PdfText> {
  const [first, last] = rangeOf(pages)
  const answer = await inThread({ bytes: new Uint8Array(bytes), first, last, most: pagesAtOnce }, path, signal)
  if ("wrong" in answer) throw failureOf(answer, first, pages, path)
  const { totalPages } = answer
  const texts = answer.pages.map((text, index) => `--- page ${first + index} of ${totalPages} ---\n${text.trimEnd()}\n`)
  return { content: texts.join("\n"), totalPages, firstPage: first, lastPage: first + texts.length - 1 }
}

/** `3`, `3-7` or `3-`. */
function rangeOf(pages: string | undefined): [number, number | undefined] {
  if (pages === undefined) return [1, pagesAtOnce]
  const [from = "", to] = pages.split("-").map((part) => part.trim())
  return [Number(from), to === undefined ? Number(from) : to === "" ? undefined : Number(to)]
}

function inThread(task: PdfTask, path: string, signal: AbortSignal): Promise<PdfAnswer> {
  signal.throwIfAborted()
  const missing = missingPackages("Reading PDF documents", ["unpdf"])
  if (missing !== undefined) return Promise.reject(failure(missing, { toolCode: "package_missing" }))
  const resourceLimits = { maxOldGenerationSizeMb: 512 }
  const worker = new Worker(workerFile(), { workerData: task, resourceLimits, execArgv: [], env: {} })
  return new Promise<PdfAnswer>((resolve, reject) => {
    const stop = () => reject(signal.reason as Error)
    signal.addEventListener("abort", stop, { once: true })
    worker.once("message", resolve)
    worker.once("error", (error) => reject(broken(path, error.message)))
    worker.once("exit", () => {
      signal.removeEventListener("abort", stop)
      reject(broken(path, "the parser ended without a result"))
    })
  }).finally(() => void worker.terminate())
}

function workerFile(): string {
  const found = findBuiltFile("platform/pdf/pdf-worker.js")
  if (found === undefined) throw new Error("The PDF worker is not built. Run: npm run build")
  return found
}

type Refusal = Extract<PdfAnswer, { wrong: string }>

function failureOf(answer: Refusal, first: number, pages: string | undefined, path: string): Error {
  switch (answer.wrong) {
    case "broken_pdf":
      return broken(path, answer.why)
    case "locked_pdf":
      return failure(`${path} is locked with a password. Ask for a copy without one.`, { toolCode: answer.wrong })
    case "no_such_page":
      return failure(
        `${path} has ${counted(answer.totalPages, "page")}, so there is no page ${pages}. Ask for pages within 1-${answer.totalPages}.`,
        { toolCode: answer.wrong },
      )
    default:
      return failure(
        `Those are ${answer.asked} pages. Ask for ${pagesAtOnce} at most, for example ${first}-${first + pagesAtOnce - 1}.`,
        { toolCode: answer.wrong },
      )
  }
}

function broken(path: string, why: string): Error {
  return failure(`${path} cannot be read as a PDF document: ${why.replace(/\.$/, "")}.`, { toolCode: "broken_pdf" })
}
