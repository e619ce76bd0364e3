import { detectEastAsianEncoding } from "./east-asian-encoding.ts"
import type { DecodedFile } from "./decode.ts"
import { encodingNamed, type Encoding } from "./encoding-names.ts"

/** Decodes text in a legacy encoding: the named one, or the likeliest. */
export async function decodeLegacy(bytes: Buffer, named?: Encoding): Promise<DecodedFile> {
  const iconv = await loadIconv()
  const encoding = named ?? (await guess(bytes))
  const text = iconv.decode(bytes, iconvName(encoding), { stripBOM: false })
  return { text, encoding, bomLength: 0, invalidBytes: countOf("\ufffd", text) }
}

/** The name of an encoding in iconv-lite. */
export function iconvName(encoding: Encoding): string {
  return encoding === "shift_jis" ? "cp932" : encoding
}

export async function loadIconv() {
  return (await import("iconv-lite")).default
}

/** The first candidate that decodes every byte; otherwise windows-1252, which always does. */
async function guess(bytes: Buffer): Promise<Encoding> {
  const { analyse } = await import("chardet")
  const iconv = await loadIconv()
  const isWhole = (encoding: Encoding) => !iconv.decode(bytes, iconvName(encoding)).includes("\ufffd")
  const found = detectEastAsianEncoding(bytes)
  const everyday = found === "gb18030" && isWhole("gbk") ? "gbk" : found
  if (everyday !== undefined && isWhole(everyday)) return everyday
  const sample = bytes.subarray(0, 65_536)
  for (const { name, confidence } of analyse(sample)) {
    const encoding = encodingNamed(name)
    if (encoding === undefined || encoding === "utf-8" || encoding.startsWith("utf-") || confidence < 5) continue
    if (name.startsWith("ISO-2022")) continue
    // Windows-1252 extends ISO 8859-1, for example with typographic quotes.
    const fuller: Encoding = encoding === "latin1" ? "windows-1252" : encoding
    const whole = fuller === "gb18030" ? "gbk" : fuller
    for (const candidate of new Set([whole, fuller])) {
      if (isWhole(candidate)) return candidate
    }
  }
  return "windows-1252"
}

function countOf(part: string, text: string): number {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) count++
  return count
}
