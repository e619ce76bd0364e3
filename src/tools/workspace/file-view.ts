import { z } from "zod"
import type { FileFacts } from "../../model/files.ts"
import { decode, decodeAtOnce, shown, type Decoded } from "./decode.ts"
import { encodingNamed, type Encoding } from "./encoding-names.ts"
import { describeImage } from "./image.ts"
import { takeLines, takeTail, type Lines } from "./lines.ts"
import { kindOfBytes, shownImages } from "./magic.ts"
import { parseNotebook, renderNotebook } from "./notebook.ts"
import { readPdf } from "./pdf.ts"

/** Which part of a file is wanted, and how. */
export interface Wish {
  readonly offset?: number | undefined
  readonly limit?: number | undefined
  readonly tail?: number | undefined
  readonly pages?: string | undefined
  readonly encoding?: string | undefined
}

/** How many lines are given when nobody says how many. */
export const linesAtOnce = 2000

export const fileView = z.object({
  content: z.string().describe("The text; for an image a sentence about it; Base64 with encoding base64"),
  size: z.number().describe("Bytes on disk"),
  chars: z.number().describe("Characters of content"),
  path: z.string(),
  encoding: z.string().describe("The actual one"),
  totalLines: z.number().optional().describe("Left out where only a part of a large file was read"),
  truncated: z.boolean().describe("Whether there is more than this"),
  kind: z.enum(["text", "image", "pdf", "notebook", "bytes"]),
  startLine: z.number().optional(),
  endLine: z.number().optional(),
  bom: z.boolean().optional().describe("Whether the file begins with a byte order mark, which content leaves out"),
  invalidBytes: z.number().optional().describe("Bytes that are no text, shown as U+FFFD"),
  totalPages: z.number().optional(),
  image: z
    .object({
      mimeType: z.string(),
      width: z.number().optional(),
      height: z.number().optional(),
      data: z.string().optional(),
    })
    .optional(),
  notice: z.string().optional().describe("What to know about it, and how to go on"),
})
export type FileView = z.infer<typeof fileView>

/** Where the signal is that ends the reading. */
interface Stop {
  readonly signal: AbortSignal
}

/** What a file shows. A plain text is there at once; what needs a guess or a reader comes later. */
export function viewOf(bytes: Buffer, facts: FileFacts, wish: Wish, stop: Stop): FileView | Promise<FileView> {
  if (wish.encoding === undefined && !mayBeSpecial(bytes, facts.path)) {
    const decoded = decodeAtOnce(bytes)
    if (decoded !== undefined) return textView(decoded, facts, wish)
  }
  return viewSlowly(bytes, facts, wish, stop)
}

/** A text, or the lines of it that are wanted. */
export function textView(decoded: Decoded, facts: FileFacts, wish: Wish): FileView {
  return linesView(linesOf(shown(decoded), wish), decoded, facts, wish)
}

/** The extension or the first byte of something that is shown otherwise than as text. */
export function mayBeSpecial(bytes: Buffer, path: string): boolean {
  switch (bytes[0]) {
    case 0x89: // PNG
    case 0x25: // %PDF
    case 0x47: // GIF8
    case 0x52: // RIFF, for WebP
      return true
    case 0xff: // JPEG; the mark of UTF-16 has another second byte
      return bytes[1] === 0xd8
    default:
      return path.endsWith(".ipynb")
  }
}

async function viewSlowly(bytes: Buffer, facts: FileFacts, wish: Wish, stop: Stop): Promise<FileView> {
  const named = wish.encoding === undefined ? undefined : encodingNamed(wish.encoding)
  if (named === "base64") return bytesView(bytes, facts)
  if (named === undefined) {
    const kind = kindOfBytes(bytes)
    if (kind !== undefined && shownImages.includes(kind.mimeType)) {
      const { content, image } = await describeImage(bytes, kind)
      return { ...plainView(content, facts, "base64"), kind: "image", image }
    }
    if (kind?.mimeType === "application/pdf") return pdfView(bytes, facts, wish, stop.signal)
  }
  const decoded = await decode(bytes, facts.path, named)
  return named === undefined && facts.path.endsWith(".ipynb")
    ? notebookView(decoded, facts, wish)
    : textView(decoded, facts, wish)
}

function bytesView(bytes: Buffer, facts: FileFacts): FileView {
  return { ...plainView(bytes.toString("base64"), facts, "base64"), kind: "bytes" }
}

async function pdfView(bytes: Buffer, facts: FileFacts, wish: Wish, signal: AbortSignal): Promise<FileView> {
  const { content, totalPages, firstPage, lastPage } = await readPdf(bytes, facts.path, wish.pages, signal)
  const more = lastPage < totalPages
  const next = more ? ` Go on with pages=${lastPage + 1}-${Math.min(totalPages, 2 * lastPage - firstPage + 1)}.` : ""
  const notice = more || firstPage > 1 ? `Pages ${firstPage}-${lastPage} of ${totalPages}.${next}` : undefined
  return {
    ...plainView(content, facts, "utf-8"),
    kind: "pdf",
    truncated: more,
    totalPages,
    ...(notice === undefined ? {} : { notice }),
  }
}

function notebookView(decoded: Decoded, facts: FileFacts, wish: Wish): FileView {
  try {
    const text = renderNotebook(parseNotebook(shown(decoded), facts.path))
    return { ...linesView(linesOf(text, wish), decoded, facts, wish), kind: "notebook" }
  } catch (error) {
    const notice = `It is shown as text. ${error instanceof Error ? error.message : ""}`.trim()
    return { ...textView(decoded, facts, wish), notice }
  }
}

function plainView(content: string, { size, path }: FileFacts, encoding: Encoding): FileView {
  return { content, size, chars: content.length, path, encoding, truncated: false, kind: "text" }
}

function linesOf(text: string, { tail, offset = 1, limit = linesAtOnce }: Wish): Lines {
  return tail === undefined ? takeLines(text, offset, limit) : takeTail(text, tail)
}

function linesView(lines: Lines, decoded: Decoded, { size, path }: FileFacts, wish: Wish): FileView {
  const { content, startLine, endLine, totalLines } = lines
  const truncated = wish.tail === undefined ? endLine < totalLines && startLine <= totalLines : startLine > 1
  const notice = noticeOf(lines, truncated, decoded, wish)
  return {
    content,
    size,
    chars: content.length,
    path,
    encoding: decoded.encoding,
    totalLines,
    truncated,
    kind: "text",
    startLine,
    endLine,
    ...(decoded.mark > 0 ? { bom: true } : {}),
    ...(decoded.invalid > 0 ? { invalidBytes: decoded.invalid } : {}),
    ...(notice === undefined ? {} : { notice }),
  }
}

function noticeOf(
  lines: Lines,
  truncated: boolean,
  { invalid, encoding }: Decoded,
  { tail }: Wish,
): string | undefined {
  const { startLine, endLine, totalLines } = lines
  const sentences: string[] = []
  if (totalLines === 0) sentences.push("The file is empty.")
  else if (startLine > totalLines) sentences.push(pastTheEnd(startLine, totalLines))
  else if (truncated) {
    const next = tail === undefined ? ` Go on with offset=${endLine + 1}.` : ""
    sentences.push(`Lines ${startLine}-${endLine} of ${totalLines}.${next}`)
  }
  if (invalid > 0) sentences.push(invalidSentence(invalid, encoding))
  return sentences.length === 0 ? undefined : sentences.join(" ")
}

export function pastTheEnd(line: number, totalLines: number): string {
  return `The file has ${totalLines} line${totalLines === 1 ? "" : "s"}; line ${line} is past its end.`
}

export function invalidSentence(invalid: number, encoding: Encoding): string {
  return `${invalid} byte${invalid === 1 ? " is" : "s are"} no ${encoding} text and shown as U+FFFD.`
}
