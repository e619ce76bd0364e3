import { counted } from "../../lib/counted.ts"
import { isAscii, isUtf8 } from "node:buffer"
import { failure } from "../../core/ending.ts"
import type { Encoding } from "./encoding-names.ts"
import { decodeLegacy } from "./legacy-encodings.ts"
import { kindOfBytes } from "./file-signatures.ts"

/** The text of a file and its encoding. */
export interface DecodedFile {
  /** Without the byte order mark. Each invalid byte is a lone surrogate, U+DC80 to U+DCFF. */
  readonly text: string
  readonly encoding: Encoding
  /** The length of the byte order mark. */
  readonly bomLength: number
  /** The number of bytes that are invalid in this encoding. */
  readonly invalidBytes: number
}

/** Decodes text that needs no guess: UTF-8, or UTF-16 and UTF-32 with a byte order mark. */
export function decodeUnambiguous(bytes: Buffer): DecodedFile | undefined {
  const first = bytes[0]
  if (first === 0xef || first === 0xff || first === 0xfe || first === 0) {
    const marked = byMark(bytes)
    if (marked !== undefined) return marked
  }
  if (isAscii(bytes)) {
    return bytes.includes(0)
      ? undefined
      : { text: bytes.toString("latin1"), encoding: "utf-8", bomLength: 0, invalidBytes: 0 }
  }
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined
  return { text: bytes.toString("utf8"), encoding: "utf-8", bomLength: 0, invalidBytes: 0 }
}

/** Decodes text in the named encoding, or in the likeliest one. Refuses binary files. */
export async function decode(bytes: Buffer, path: string, named?: Encoding): Promise<DecodedFile> {
  if (named !== undefined) return decodeAs(bytes, named)
  const known = decodeUnambiguous(bytes)
  if (known !== undefined) return known
  if (bytes.includes(0)) {
    const wide = guessWide(bytes)
    if (wide === undefined) throw binaryFileFailure(bytes, path)
    return decodeWide(bytes, wide, 0)
  }
  const damaged = damagedUtf8(bytes)
  if (damaged !== undefined) return damaged
  if (tooManyControls(bytes)) throw binaryFileFailure(bytes, path)
  return decodeLegacy(bytes)
}

/** The text with U+FFFD for each invalid byte. */
export function displayText({ text, invalidBytes, encoding }: DecodedFile): string {
  return invalidBytes === 0 && encoding === "utf-8" ? text : text.toWellFormed()
}

/** Detects UTF-16 and UTF-32, whose line ends are longer than one byte, and the byte order mark of UTF-8. */
export function detectWideEncoding(head: Buffer, named?: Encoding): { encoding: Encoding; mark: number } | undefined {
  const marked = byMark(head)
  if (marked !== undefined && (named === undefined || named === marked.encoding)) {
    return { encoding: marked.encoding, mark: marked.bomLength }
  }
  if (named !== undefined) return /^utf-(16|32)/.test(named) ? { encoding: named, mark: 0 } : undefined
  const encoding = head.includes(0) ? guessWide(head) : undefined
  return encoding && { encoding, mark: 0 }
}

async function decodeAs(bytes: Buffer, named: Encoding): Promise<DecodedFile> {
  const marked = byMark(bytes)
  if (marked?.encoding === named) return marked
  switch (named) {
    case "utf-8":
      return isUtf8(bytes)
        ? { text: bytes.toString("utf8"), encoding: named, bomLength: 0, invalidBytes: 0 }
        : escapedUtf8(bytes)
    case "ascii":
      return isAscii(bytes)
        ? { text: bytes.toString("latin1"), encoding: named, bomLength: 0, invalidBytes: 0 }
        : escapedAscii(bytes)
    case "latin1":
      return { text: bytes.toString("latin1"), encoding: named, bomLength: 0, invalidBytes: 0 }
    case "utf-16le":
    case "utf-16be":
    case "utf-32le":
    case "utf-32be":
      return decodeWide(bytes, named, 0)
    default:
      return decodeLegacy(bytes, named)
  }
}

/** Byte order marks, longer ones first: that of UTF-32 begins with that of UTF-16. */
const marks: readonly (readonly [Encoding, readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-32le", [0xff, 0xfe, 0, 0]],
  ["utf-32be", [0, 0, 0xfe, 0xff]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
]

/** The byte order mark of an encoding; empty if it has none. */
export function byteOrderMark(encoding: Encoding): Buffer {
  return Buffer.from(marks.find(([name]) => name === encoding)?.[1] ?? [])
}

function byMark(bytes: Buffer): DecodedFile | undefined {
  const found = marks.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))
  if (found === undefined) return undefined
  const [encoding, { length }] = found
  if (encoding !== "utf-8") return decodeWide(bytes, encoding, length)
  const rest = bytes.subarray(length)
  if (rest.includes(0)) return undefined
  return isUtf8(rest)
    ? { text: rest.toString("utf8"), encoding, bomLength: length, invalidBytes: 0 }
    : { ...escapedUtf8(rest), bomLength: length }
}

function decodeWide(bytes: Buffer, encoding: Encoding, mark: number): DecodedFile {
  const rest = bytes.subarray(mark)
  if (encoding.startsWith("utf-32")) return decodeUtf32(rest, encoding, mark)
  const even = rest.subarray(0, rest.length - (rest.length % 2))
  const text = (encoding === "utf-16le" ? even : Buffer.from(even).swap16()).toString("utf16le")
  return { text, encoding, bomLength: mark, invalidBytes: rest.length % 2 }
}

function decodeUtf32(rest: Buffer, encoding: Encoding, mark: number): DecodedFile {
  let invalid = rest.length % 4
  const parts: string[] = []
  for (let at = 0; at + 4 <= rest.length; at += 4) {
    const point = encoding === "utf-32le" ? rest.readUInt32LE(at) : rest.readUInt32BE(at)
    const fits = point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff)
    if (!fits) invalid += 4
    parts.push(fits ? String.fromCodePoint(point) : "\ufffd")
  }
  return { text: parts.join(""), encoding, bomLength: mark, invalidBytes: invalid }
}

/** Recognizes UTF-16 without a byte order mark: many zero bytes, all on the same side of their pair. */
function guessWide(bytes: Buffer): Encoding | undefined {
  const sample = bytes.subarray(0, 65_536)
  if (bytes.length % 2 !== 0) return undefined
  const zeros = [0, 0]
  for (let at = 0; at < sample.length; at++) if (sample[at] === 0) zeros[at % 2]!++
  const [even, odd] = zeros as [number, number]
  if (even > 0 && odd > 0) return undefined
  if ((even + odd) * 10 < sample.length) return undefined
  const encoding = odd > 0 ? "utf-16le" : "utf-16be"
  const { text } = decodeWide(sample, encoding, 0)
  return hasControls(text) ? undefined : encoding
}

/** Control characters that text does not have. ESC is allowed, because logs have terminal colours. */
function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 9 || (unit > 13 && unit < 32 && unit !== 27) || unit >= 0xfffe) return true
  }
  return false
}

/** UTF-8 with some invalid bytes: most non-ASCII sequences are valid. */
function damagedUtf8(bytes: Buffer): DecodedFile | undefined {
  const sample = bytes.subarray(0, 65_536)
  let right = 0
  let wrong = 0
  for (let at = 0; at < sample.length;) {
    const length = sequenceAt(sample, at)
    if (length > 1) right++
    if (length === 0) wrong++
    at += length || 1
  }
  return right > wrong ? escapedUtf8(bytes) : undefined
}

/** Turns each invalid byte into a lone surrogate, so that the bytes can be restored. */
function escapedUtf8(bytes: Buffer): DecodedFile {
  const parts: string[] = []
  let invalid = 0
  let good = 0
  for (let at = 0; at < bytes.length;) {
    const length = sequenceAt(bytes, at)
    if (length > 0) {
      at += length
      continue
    }
    parts.push(bytes.toString("utf8", good, at), String.fromCharCode(0xdc00 + bytes[at]!))
    invalid++
    at++
    good = at
  }
  parts.push(bytes.toString("utf8", good))
  return { text: parts.join(""), encoding: "utf-8", bomLength: 0, invalidBytes: invalid }
}

/** The length of the UTF-8 sequence at this offset; 0 if it is invalid. */
function sequenceAt(bytes: Buffer, at: number): number {
  const lead = bytes[at]!
  if (lead < 0x80) return 1
  const second = bytes[at + 1] ?? 0
  if (lead < 0xc2 || lead > 0xf4) return 0
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return 0
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return 0
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  for (let next = 1; next < length; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0
  return length
}

function escapedAscii(bytes: Buffer): DecodedFile {
  let invalid = 0
  const text = bytes.toString("latin1").replace(/[\x80-\xff]/g, (character) => {
    invalid++
    return String.fromCharCode(0xdc00 + character.charCodeAt(0))
  })
  return { text, encoding: "ascii", bomLength: 0, invalidBytes: invalid }
}

/** Text has few control characters; compressed data has about one in ten. */
function tooManyControls(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, 65_536)
  let controls = 0
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27) || byte === 127) controls++
  return controls * 50 > sample.length
}

/** The failure for a binary file, named by its first bytes. */
export function binaryFileFailure(head: Buffer, path: string, size = head.length): Error {
  const kind = kindOfBytes(head)
  return failure(
    `${path} is not text: it is ${kind?.name ?? "a binary file"} of ${counted(size, "byte")}. Read it with encoding base64 if you need its bytes, or ask get_file_info about it.`,
    { toolCode: "binary_file" },
  )
}
