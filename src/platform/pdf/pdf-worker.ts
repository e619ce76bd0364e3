import { parentPort, workerData } from "node:worker_threads"
import { getDocumentProxy } from "unpdf"
import { errorMessage } from "../../lib/error-message.ts"

/** The document and the pages to read. */
export interface PdfTask {
  readonly bytes: Uint8Array
  readonly first: number
  /** Undefined means up to the last page. */
  readonly last?: number
  readonly most: number
}

/** The pages, or why there are none. */
export type PdfAnswer =
  | { readonly totalPages: number; readonly first: number; readonly pages: readonly string[] }
  | { readonly totalPages: number; readonly wrong: "no_such_page" | "too_many_pages"; readonly asked: number }
  | { readonly wrong: "broken_pdf" | "locked_pdf"; readonly why: string }

async function read({ bytes, first, last, most }: PdfTask): Promise<PdfAnswer> {
  const document = await getDocumentProxy(bytes, { verbosity: 0 })
  const totalPages = document.numPages
  const end = Math.min(totalPages, last ?? totalPages)
  const asked = end - first + 1
  if (first < 1 || asked < 1) return { totalPages, wrong: "no_such_page", asked }
  if (asked > most) return { totalPages, wrong: "too_many_pages", asked }
  const pages: string[] = []
  for (let number = first; number <= end; number++) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    pages.push(items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join(""))
  }
  return { totalPages, first, pages }
}

const answer = await read(workerData as PdfTask).catch((error: unknown): PdfAnswer => {
  const isLocked = error instanceof Error && error.name === "PasswordException"
  return { wrong: isLocked ? "locked_pdf" : "broken_pdf", why: errorMessage(error) }
})
parentPort?.postMessage(answer)
