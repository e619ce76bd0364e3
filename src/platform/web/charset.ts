import { detectEastAsianEncoding } from "../text/east-asian-encoding.ts"

/** The text of some bytes, and the charset it was decoded from. */
export interface DecodedText {
  readonly text: string
  readonly charset: string
}

/**
 * Decodes text by its byte order mark, else the header, else the page itself, else a guess. A declared charset that
 * contradicts the bytes is ignored. Undefined if the bytes are not text.
 */
export async function decodeText(bytes: Buffer, contentType: string | undefined): Promise<DecodedText | undefined> {
  const [type = "", ...parameters] = (contentType ?? "")
    .toLowerCase()
    .split(";")
    .map((part) => part.trim())
  const marked = byteOrderMark(bytes)
  if (marked !== undefined) return decodeAs(marked, bytes)
  const declared = [charsetOf(parameters), isMarkup(type, bytes) ? declaredWithin(bytes) : undefined]
  const wide = declared.find((charset) => charset !== undefined && /^utf-?(16|32)/.test(charset))
  if (!isText(type, bytes, wide !== undefined)) return undefined
  const whole = utf8(bytes)
  const isPlain = whole !== undefined && !/[^\0-\u007f]/.test(whole)
  for (const charset of declared) {
    if (charset === undefined || isPlain) continue
    // Non-ASCII bytes that are valid UTF-8 are UTF-8, whatever a server's old default says.
    if (whole !== undefined && (isUtf8(charset) || isLatin(charset))) break
    if (isUtf8(charset)) continue
    const decoded = await decodeAs(charset, bytes)
    if (decoded !== undefined) return decoded
  }
  if (whole !== undefined) return { text: whole, charset: "utf-8" }
  return (await decodeAs(await guessed(bytes), bytes)) ?? { text: bytes.toString("latin1"), charset: "iso-8859-1" }
}

async function decodeAs(charset: string, bytes: Buffer): Promise<DecodedText | undefined> {
  const { default: iconv } = await import("iconv-lite")
  const name = synonyms[charset] ?? charset
  return iconv.encodingExists(name) ? { text: iconv.decode(bytes, name), charset: name } : undefined
}

/** Browsers decode these as their supersets. */
const synonyms: Readonly<Record<string, string>> = {
  "iso-8859-1": "windows-1252",
  latin1: "windows-1252",
  "us-ascii": "windows-1252",
  ascii: "windows-1252",
  gb2312: "gb18030",
  gbk: "gb18030",
  "gb_2312-80": "gb18030",
  "ks_c_5601-1987": "euc-kr",
}

async function guessed(bytes: Buffer): Promise<string> {
  const everyday = detectEastAsianEncoding(bytes)
  if (everyday !== undefined) return everyday
  const { default: chardet } = await import("chardet")
  return chardet.detect(bytes.subarray(0, 65_536))?.toLowerCase() ?? "windows-1252"
}

function byteOrderMark(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  return bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : undefined
}

/** The text if it is valid UTF-8; a character cut at the end is left out. */
function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return undefined
  }
}

function isUtf8(charset: string): boolean {
  return charset === "utf-8" || charset === "utf8"
}

function isLatin(charset: string): boolean {
  return (synonyms[charset] ?? charset) === "windows-1252"
}

function charsetOf(parameters: readonly string[]): string | undefined {
  const text = parameters.find((part) => part.startsWith("charset="))?.slice("charset=".length)
  return text === undefined || text === "" ? undefined : text.replace(/^["']|["']$/g, "")
}

/** The charset a page declares in its first bytes, found as browsers do. */
function declaredWithin(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 4096).toString("latin1")
  const [, charset] =
    /<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head) ??
    /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head) ??
    []
  // A page whose ASCII can be read here is not UTF-16 or UTF-32, whatever it says.
  return charset === undefined || /^utf-?(16|32)/i.test(charset) ? undefined : charset.toLowerCase()
}

function isMarkup(type: string, bytes: Buffer): boolean {
  return /html|xml/.test(type) || (type === "" && /^\s*</.test(bytes.subarray(0, 100).toString("latin1")))
}

function isText(type: string, bytes: Buffer, isWide: boolean): boolean {
  if (isWide) return true
  if (bytes.subarray(0, 65_536).includes(0)) return false
  if (
    /^text\/|[/+](json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-javascript|ndjson|x-ndjson|graphql|sql)$/.test(type)
  )
    return true
  if (/^application\/(x-www-form-urlencoded|json|.*\+json|x-sh|rtf)/.test(type)) return true
  if (/^(image|audio|video|font)\//.test(type) || /pdf|zip|tar|wasm/.test(type)) return false
  return utf8(bytes) !== undefined
}
