import { isUtf8 } from "node:buffer"

/**
 * A file name as text. In a name that is not UTF-8, each byte above ASCII becomes a lone surrogate, so that the text stays
 * unique and can be turned back into bytes.
 */
export function decodeName(name: Buffer): string {
  if (isUtf8(name)) return name.toString("utf8")
  return Array.from(name, (byte) => String.fromCharCode(byte < 0x80 ? byte : halves + byte)).join("")
}

/** The path as bytes, for file system calls. */
export function encodePath(path: string): string | Buffer {
  if (!half.test(path)) return path
  return Buffer.concat(
    Array.from(path, (one) => (half.test(one) ? Buffer.from([one.charCodeAt(0) - halves]) : Buffer.from(one))),
  )
}

const halves = 0xdc00
const half = /[\udc80-\udcff]/u
