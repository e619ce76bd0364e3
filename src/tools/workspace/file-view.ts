import { z } from "zod"
import type { FileFacts } from "../../platform/files/file-access.ts"
import { decode, decodeUnambiguous, displayText, type DecodedFile } from "../../platform/text/decode.ts"
import { encodingNamed, type Encoding } from "../../platform/text/encoding-names.ts"
import { describeImage } from "./image.ts"
import { takeLines, takeLastLines, type LineRange } from "./lines.ts"
import { kindOfBytes, viewableImages } from "../../platform/text/file-signatures.ts"
import { parseNotebook, renderNotebook } from "../../platform/text/notebook.ts"
import { readPdf } from "../../platform/pdf/pdf.ts"

/** The part of a file to show, and its form. */
export interface ViewOptions {
  readonly offset?: number
  readonly limit?: number
  readonly tail?: number
  readonly pages?: string
  readonly encoding?: string
}

/** The default number of lines shown. */
export const defaultLineLimit = 2000

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
  invalidBytes: z.number().optional().describe("Bytes that are not text, shown as U+FFFD"),
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

/** Has the signal that ends reading. */
interface Abortable {
  readonly signal: AbortSignal
}

/** A view of a file. Synchronous for plain text; otherwise a promise. */
export function viewOf(
  bytes: Buffer,
  facts: FileFacts,
  options: ViewOptions,
  context: Abortable,
): FileView | Promise<FileView> {
  if (options.encoding === undefined && !mayBeSpecial(bytes, facts.path)) {
    const decoded = decodeUnambiguous(bytes)
    if (decoded !== undefined) return textView(decoded, facts, options)
  }
  return viewAsync(bytes, facts, options, context)
}

/** A text, or the requested lines of it. */
export function textView(decoded: DecodedFile, facts: FileFacts, options: ViewOptions): FileView {
  return linesView(linesOf(displayText(decoded), options), decoded, facts, options)
}

/** Reports whether the extension or the first byte is that of a file that is not shown as plain text. */
export function mayBeSpecial(bytes: Buffer, path: string): boolean {
  switch (bytes[0]) {
    case 0x89: // PNG
    case 0x25: // %PDF
    case 0x47: // GIF8
    case 0x52: // RIFF, for WebP
      return true
    case 0xff: // JPEG; the byte order mark of UTF-16 has another second byte
      return bytes[1] === 0xd8
    default:
      return path.endsWith(".ipynb")
  }
}

async function viewAsync(bytes: Buffer, facts: FileFacts, options: ViewOptions, context: Abortable): Promise<FileView> {
  const named = options.encoding === undefined ? undefined : encodingNamed(options.encoding)
  if (named === "base64") return bytesView(bytes, facts)
  if (named === undefined) {
    const kind = kindOfBytes(bytes)
    if (kind !== undefined && viewableImages.includes(kind.mimeType)) {
      const { content, image } = await describeImage(bytes, kind)
      return { ...plainView(content, facts, "base64"), kind: "image", image }
    }
    if (kind?.mimeType === "application/pdf") return pdfView(bytes, facts, options, context.signal)
  }
  const decoded = await decode(bytes, facts.path, named)
  return named === undefined && facts.path.endsWith(".ipynb")
    ? notebookView(decoded, facts, options)
    : textView(decoded, facts, options)
}

function bytesView(bytes: Buffer, facts: FileFacts): FileView {
  return { ...plainView(bytes.toString("base64"), facts, "base64"), kind: "bytes" }
}

async function pdfView(bytes: Buffer, facts: FileFacts, options: ViewOptions, signal: AbortSignal): Promise<FileView> {
  const { content, totalPages, firstPage, lastPage } = await readPdf(bytes, facts.path, options.pages, signal)
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

function notebookView(decoded: DecodedFile, facts: FileFacts, options: ViewOptions): FileView {
  try {
    const text = renderNotebook(parseNotebook(displayText(decoded), facts.path, ""))
    return { ...linesView(linesOf(text, options), decoded, facts, options), kind: "notebook" }
  } catch (error) {
    const notice = `It is shown as text. ${error instanceof Error ? error.message : ""}`.trim()
    return { ...textView(decoded, facts, options), notice }
  }
}

function plainView(content: string, { size, path }: FileFacts, encoding: Encoding): FileView {
  return { content, size, chars: content.length, path, encoding, truncated: false, kind: "text" }
}

function linesOf(text: string, { tail, offset = 1, limit = defaultLineLimit }: ViewOptions): LineRange {
  return tail === undefined ? takeLines(text, offset, limit) : takeLastLines(text, tail)
}

function linesView(lines: LineRange, decoded: DecodedFile, { size, path }: FileFacts, options: ViewOptions): FileView {
  const { content, startLine, endLine, totalLines } = lines
  const truncated = options.tail === undefined ? endLine < totalLines && startLine <= totalLines : startLine > 1
  const notice = noticeOf(lines, truncated, decoded, options)
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
    ...(decoded.bomLength > 0 ? { bom: true } : {}),
    ...(decoded.invalidBytes > 0 ? { invalidBytes: decoded.invalidBytes } : {}),
    ...(notice === undefined ? {} : { notice }),
  }
}

function noticeOf(
  lines: LineRange,
  truncated: boolean,
  { invalidBytes, encoding }: DecodedFile,
  { tail }: ViewOptions,
): string | undefined {
  const { startLine, endLine, totalLines } = lines
  const sentences: string[] = []
  if (totalLines === 0) sentences.push("The file is empty.")
  else if (startLine > totalLines) sentences.push(pastEndSentence(startLine, totalLines))
  else if (truncated) {
    const next = tail === undefined ? ` Go on with offset=${endLine + 1}.` : ""
    sentences.push(`Lines ${startLine}-${endLine} of ${totalLines}.${next}`)
  }
  if (invalidBytes > 0) sentences.push(invalidSentence(invalidBytes, encoding))
  return sentences.length === 0 ? undefined : sentences.join(" ")
}

export function pastEndSentence(line: number, totalLines: number): string {
  return `The file has ${totalLines} line${totalLines === 1 ? "" : "s"}; line ${line} is past its end.`
}

export function invalidSentence(invalid: number, encoding: Encoding): string {
  return `${invalid} byte${invalid === 1 ? " is" : "s are"} not valid ${encoding} and shown as U+FFFD.`
}
