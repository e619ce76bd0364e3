import { eastAsianIn } from "../../model/east-asian.ts"
import type { Decoded } from "./decode.ts"
import { encodingNamed, type Encoding } from "./encoding-names.ts"

/** Text in one of the encodings from before Unicode: the one that is named, or the likeliest. */
export async function decodeLegacy(bytes: Buffer, named?: Encoding): Promise<Decoded> {
  const iconv = await loadIconv()
  const encoding = named ?? (await guess(bytes))
  const text = iconv.decode(bytes, nameFor(encoding), { stripBOM: false })
  return { text, encoding, mark: 0, invalid: countOf("\ufffd", text) }
}

/** What iconv-lite calls it. */
export function nameFor(encoding: Encoding): string {
  return encoding === "shift_jis" ? "cp932" : encoding
}

export async function loadIconv() {
  return (await import("iconv-lite")).default
}

/** The first candidate in which every byte is a character; without one, the encoding in which nothing can be wrong. */
async function guess(bytes: Buffer): Promise<Encoding> {
  const { analyse } = await import("chardet")
  const iconv = await loadIconv()
  const isWhole = (encoding: Encoding) => !iconv.decode(bytes, nameFor(encoding)).includes("\ufffd")
  const found = eastAsianIn(bytes)
  const everyday = found === "gb18030" && isWhole("gbk") ? "gbk" : found
  if (everyday !== undefined && isWhole(everyday)) return everyday
  const sample = bytes.subarray(0, 65_536)
  for (const { name, confidence } of analyse(sample)) {
    const encoding = encodingNamed(name)
    if (encoding === undefined || encoding === "utf-8" || encoding.startsWith("utf-") || confidence < 5) continue
    if (name.startsWith("ISO-2022")) continue
    // What ISO 8859-1 leaves free, Windows uses; the quotes of word processors are there.
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
