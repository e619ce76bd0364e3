import type { OpenFile } from "../../model/files.ts"
import { binary, decode, shown, wideBeginning, type Decoded } from "./decode.ts"
import { encode } from "./encode.ts"
import { encodingNamed } from "./encoding-names.ts"
import { invalidSentence, linesAtOnce, pastTheEnd, type FileView, type Wish } from "./file-view.ts"
import { kindOfBytes } from "./magic.ts"
import { readFrom, readTail, type LineEnds, type Part } from "./part.ts"

/** Some lines of a file that is larger than may be read as a whole. Only those are kept in memory. */
export async function largeView(file: OpenFile, wish: Wish, most: number, signal: AbortSignal): Promise<FileView> {
  const head = await headOf(file)
  const named = wish.encoding === undefined ? undefined : encodingNamed(wish.encoding)
  const wide = wideBeginning(head, named)
  // What is no text at all is refused before anything is counted.
  const isText = named !== undefined || wide !== undefined || !(head.includes(0) || kindOfBytes(head) !== undefined)
  if (!isText) throw binary(head, file.path, file.size)
  const encoding = wide?.encoding ?? named
  const start = wide?.mark ?? 0
  const ends: LineEnds = { mark: await encode(separatorIn(head), wide?.encoding ?? "latin1"), start }
  const room = most - (most % 4)
  const part = await (wish.tail === undefined
    ? readFrom(file, ends, { offset: wish.offset ?? 1, limit: wish.limit ?? linesAtOnce, most: room, signal })
    : readTail(file, ends, { tail: wish.tail, most: room, signal }))
  const bytes = part.cut ? wholeCharacters(part.bytes, wish.tail !== undefined) : part.bytes
  const decoded = await decode(
    bytes,
    file.path,
    encoding === "utf-8" && wish.encoding === undefined ? undefined : encoding,
  )
  return partView(part, { ...decoded, mark: start }, file, wish)
}

function partView(part: Part, decoded: Decoded, { size, path }: OpenFile, wish: Wish): FileView {
  const { startLine, totalLines, lines, more } = part
  const content = shown(decoded)
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
    ...(decoded.mark > 0 ? { bom: true } : {}),
    ...(decoded.invalid > 0 ? { invalidBytes: decoded.invalid } : {}),
    ...noticeOf(part, decoded, wish),
  }
}

function noticeOf(
  { startLine, totalLines, lines, more, cut }: Part,
  decoded: Decoded,
  wish: Wish,
): { notice?: string } {
  const sentences: string[] = []
  if (cut) sentences.push("The lines are too long to be given whole; this is a part of them.")
  if (lines === 0 && startLine !== undefined) sentences.push(pastTheEnd(startLine, totalLines ?? 0))
  else if (wish.tail !== undefined) sentences.push(`The last ${lines} lines of a large file.`)
  else if (more && startLine !== undefined) {
    const end = startLine + lines - 1
    sentences.push(`Lines ${startLine}-${end} of a large file.${cut ? "" : ` Go on with offset=${end + 1}.`}`)
  }
  if (decoded.invalid > 0) sentences.push(invalidSentence(decoded.invalid, decoded.encoding))
  return sentences.length === 0 ? {} : { notice: sentences.join(" ") }
}

async function headOf(file: OpenFile): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(65_536)
  return buffer.subarray(0, await file.read(buffer, 0))
}

function separatorIn(head: Buffer): "\n" | "\r" {
  return head.includes(10) || !head.includes(13) ? "\n" : "\r"
}

/** Without the pieces of UTF-8 characters at the side where it was cut. */
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
