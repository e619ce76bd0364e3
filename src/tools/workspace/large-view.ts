import { counted } from "../../lib/counted.ts"
import type { OpenFile } from "../../platform/files/file-access.ts"
import {
  binaryFileFailure,
  decode,
  displayText,
  detectWideEncoding,
  type DecodedFile,
} from "../../platform/text/decode.ts"
import { encode } from "../../platform/text/encode.ts"
import { encodingNamed } from "../../platform/text/encoding-names.ts"
import { invalidSentence, defaultLineLimit, pastEndSentence, type FileView, type ViewOptions } from "./file-view.ts"
import { kindOfBytes } from "../../platform/text/file-signatures.ts"
import { readLinesFrom, readLastLines, type LineEnding, type FilePart } from "./read-part.ts"

/** Some lines of a file that is too large to read as a whole. Only those are kept in memory. */
export async function largeView(
  file: OpenFile,
  options: ViewOptions,
  most: number,
  signal: AbortSignal,
): Promise<FileView> {
  const head = await headOf(file)
  const named = options.encoding === undefined ? undefined : encodingNamed(options.encoding)
  const wide = detectWideEncoding(head, named)
  // A binary file is refused before its lines are counted.
  const isText = named !== undefined || wide !== undefined || !(head.includes(0) || kindOfBytes(head) !== undefined)
  if (!isText) throw binaryFileFailure(head, file.path, file.size)
  const encoding = wide?.encoding ?? named
  const start = wide?.mark ?? 0
  const ends: LineEnding = { separator: await encode(separatorIn(head), wide?.encoding ?? "latin1"), start }
  const limit = most - (most % 4)
  const part = await (options.tail === undefined
    ? readLinesFrom(file, ends, {
        offset: options.offset ?? 1,
        limit: options.limit ?? defaultLineLimit,
        most: limit,
        signal,
      })
    : readLastLines(file, ends, { tail: options.tail, most: limit, signal }))
  const bytes = part.cut ? wholeCharacters(part.bytes, options.tail !== undefined) : part.bytes
  const decoded = await decode(
    bytes,
    file.path,
    encoding === "utf-8" && options.encoding === undefined ? undefined : encoding,
  )
  return partView(part, { ...decoded, bomLength: start }, file, options)
}

function partView(part: FilePart, decoded: DecodedFile, { size, path }: OpenFile, options: ViewOptions): FileView {
  const { startLine, totalLines, lines, more } = part
  const content = displayText(decoded)
  const endLine = startLine === undefined ? undefined : startLine + lines - 1
  return {
    content,
    size,
    chars: content.length,
    path,
    encoding: decoded.encoding,
    ...(totalLines === undefined ? {} : { totalLines }),
    truncated: more,
    kind: "text",
    ...(startLine === undefined ? {} : { startLine }),
    ...(endLine === undefined ? {} : { endLine }),
    ...(decoded.bomLength > 0 ? { bom: true } : {}),
    ...(decoded.invalidBytes > 0 ? { invalidBytes: decoded.invalidBytes } : {}),
    ...noticeOf(part, decoded, options),
  }
}

function noticeOf(
  { startLine, totalLines, lines, more, cut }: FilePart,
  decoded: DecodedFile,
  options: ViewOptions,
): { notice?: string } {
  const sentences: string[] = []
  if (cut) sentences.push("The lines are too long to show completely; this is a part of them.")
  if (lines === 0 && startLine !== undefined) sentences.push(pastEndSentence(startLine, totalLines ?? 0))
  else if (options.tail !== undefined) sentences.push(`The last ${counted(lines, "line")} of a large file.`)
  else if (more && startLine !== undefined) {
    const end = startLine + lines - 1
    sentences.push(`Lines ${startLine}-${end} of a large file.${cut ? "" : ` Go on with offset=${end + 1}.`}`)
  }
  if (decoded.invalidBytes > 0) sentences.push(invalidSentence(decoded.invalidBytes, decoded.encoding))
  return sentences.length === 0 ? {} : { notice: sentences.join(" ") }
}

async function headOf(file: OpenFile): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(65_536)
  return buffer.subarray(0, await file.read(buffer, 0))
}

function separatorIn(head: Buffer): "\n" | "\r" {
  return head.includes(10) || !head.includes(13) ? "\n" : "\r"
}

/** Without partial UTF-8 characters at the side where it was cut. */
function wholeCharacters(bytes: Buffer, front: boolean): Buffer {
  const isPiece = (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80
  if (front) {
    let start = 0
    while (start < 3 && isPiece(start)) start++
    return bytes.subarray(start)
  }
  let end = bytes.length
  while (end > bytes.length - 3 && isPiece(end - 1)) end--
  return (bytes[end - 1] ?? 0) >= 0xc0 ? bytes.subarray(0, end - 1) : bytes
}
