import { setImmediate } from "node:timers/promises"
import { failure } from "../../core/ending.ts"
import { toolRef, dialectText, ifParameter } from "../../core/dialect-text.ts"
import { byteOrderMark, type DecodedFile } from "./decode.ts"
import type { Encoding } from "./encoding-names.ts"
import { loadIconv, iconvName } from "./legacy-encodings.ts"

/** Encodes a text without a byte order mark. Refuses characters that the encoding does not have. */
export async function encode(text: string, encoding: Encoding): Promise<Buffer> {
  if (encoding === "base64") return fromBase64(text)
  if (!text.isWellFormed()) {
    throw failure("The text contains half of a character (a lone surrogate). Leave it out.", { toolCode: "not_text" })
  }
  switch (encoding) {
    case "utf-8":
      return Buffer.from(text, "utf8")
    case "utf-16le":
      return Buffer.from(text, "utf16le")
    case "utf-16be":
      return Buffer.from(text, "utf16le").swap16()
    case "utf-32le":
    case "utf-32be":
      return utf32(text, encoding === "utf-32le")
    case "ascii":
    case "latin1":
      return plainBytes(text, encoding)
    default:
      return legacyBytes(text, encoding)
  }
}

/** Encodes a text like the one it replaces, with a byte order mark if that had one. */
export async function encodeLike(text: string, { encoding, bomLength }: DecodedFile): Promise<Buffer> {
  const bytes = await encode(text, encoding)
  return bomLength === 0 ? bytes : Buffer.concat([byteOrderMark(encoding), bytes])
}

/** The byte offsets of these text offsets, which must be in ascending order. */
export async function byteOffsets(bytes: Buffer, decoded: DecodedFile, places: readonly number[]): Promise<number[]> {
  const { text, encoding, bomLength } = decoded
  const sizeOf = sizes[encoding]
  if (sizeOf === undefined) return legacyOffsets(bytes, decoded, places)
  let at = 0
  let offset = bomLength
  return places.map((place) => {
    offset += sizeOf(text, at, place)
    at = place
    return offset
  })
}

/** Returns the number of bytes of a part of the text in its file. */
type SizeOf = (text: string, from: number, to: number) => number

const twoEach: SizeOf = (_text, from, to) => 2 * (to - from)
const oneEach: SizeOf = (_text, from, to) => to - from
const fourEach: SizeOf = (text, from, to) => {
  let points = 0
  for (const _ of text.slice(from, to)) points++
  return 4 * points
}
/** An invalid byte is one lone surrogate in the text, which would count as three bytes. */
const utf8Size: SizeOf = (text, from, to) => {
  const part = text.slice(from, to)
  const whole = Buffer.byteLength(part, "utf8")
  return part.isWellFormed() ? whole : whole - 2 * (part.match(/\p{Surrogate}/gu)?.length ?? 0)
}

const sizes: Partial<Record<Encoding, SizeOf>> = {
  "utf-8": utf8Size,
  "utf-16le": twoEach,
  "utf-16be": twoEach,
  "utf-32le": fourEach,
  "utf-32be": fourEach,
  ascii: oneEach,
  latin1: oneEach,
}

/** Feeds the decoder byte by byte, to know with which byte each character ends. */
async function legacyOffsets(
  bytes: Buffer,
  { text, encoding }: DecodedFile,
  places: readonly number[],
): Promise<number[]> {
  const iconv = await loadIconv()
  const decoder = iconv.getDecoder(iconvName(encoding), { stripBOM: false })
  const found: number[] = []
  let length = 0
  let next = 0
  for (; places[next] === 0; next++) found.push(0)
  for (let at = 0; at < bytes.length && next < places.length; at++) {
    // A huge file takes seconds.
    if (at % 65_536 === 65_535) await setImmediate()
    const part = decoder.write(bytes.subarray(at, at + 1))
    if (!text.startsWith(part, length)) throw unclear(encoding)
    // Fed byte by byte, the decoder returns only the first of a surrogate pair.
    length += isHigh(part) && part.length === 1 ? 2 : part.length
    while (next < places.length && places[next]! <= length && part.length > 0) {
      if (places[next] !== length) throw unclear(encoding)
      found.push(at + 1)
      next++
    }
  }
  for (; places[next] === text.length; next++) found.push(bytes.length)
  if (found.length !== places.length) throw unclear(encoding)
  return found
}

const isHigh = (part: string) => part >= "\ud800" && part <= "\udbff"

function unclear(encoding: Encoding): Error {
  return failure(
    dialectText`The file has bytes that are not valid ${encoding}, so the position of the edit is not certain. Nothing was changed. Rewrite the whole file with ${toolRef("write_file")} instead.`,
    { toolCode: "not_text" },
  )
}

function utf32(text: string, little: boolean): Buffer {
  const points = Array.from(text, (character) => character.codePointAt(0)!)
  const bytes = Buffer.alloc(4 * points.length)
  points.forEach((point, index) =>
    little ? bytes.writeUInt32LE(point, 4 * index) : bytes.writeUInt32BE(point, 4 * index),
  )
  return bytes
}

function plainBytes(text: string, encoding: "ascii" | "latin1"): Buffer {
  const highest = encoding === "ascii" ? 0x7f : 0xff
  for (const character of text) if (character.codePointAt(0)! > highest) throw unencodable(character, encoding)
  return Buffer.from(text, "latin1")
}

async function legacyBytes(text: string, encoding: Encoding): Promise<Buffer> {
  const iconv = await loadIconv()
  const name = iconvName(encoding)
  const bytes = iconv.encode(text, name)
  if (iconv.decode(bytes, name, { stripBOM: false }) === text) return bytes
  const lost = Array.from(text).find(
    (character) => iconv.decode(iconv.encode(character, name), name, { stripBOM: false }) !== character,
  )
  throw unencodable(lost ?? "�", encoding)
}

function unencodable(character: string, encoding: Encoding): Error {
  const point = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
  return failure(
    dialectText`The character ${character} (${point}) does not exist in ${encoding}. Leave it out${ifParameter("write_file", "encoding", inUtf8)}.`,
    { toolCode: "unencodable" },
  )
}

const inUtf8 = dialectText`, or write the whole file with ${toolRef("write_file")} and encoding utf-8`

function fromBase64(text: string): Buffer {
  const plain = text.replace(/\s+/g, "")
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain) || plain.length % 4 !== 0) {
    throw failure("The content is not Base64. Encode it, or leave encoding out for text.", {
      toolCode: "invalid_base64",
    })
  }
  return Buffer.from(plain, "base64")
}
