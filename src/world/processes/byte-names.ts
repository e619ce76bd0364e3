import { isUtf8 } from "node:buffer"

/**
 * A name on the disk as text. One that is no UTF-8 is text too: each of its bytes above ASCII is half of a pair that has no
 * other half, which no other name has.
 */
export function textOf(name: Buffer): string {
  if (isUtf8(name)) return name.toString("utf8")
  return Array.from(name, (byte) => String.fromCharCode(byte < 0x80 ? byte : halves + byte)).join("")
}

/** Whether it is as it stands on the disk. */
export const isText = (path: string): boolean => !half.test(path)

/** A path of such names for calls that go to the disk. */
export function onDisk(path: string): string | Buffer {
  if (isText(path)) return path
  return Buffer.concat(
    Array.from(path, (one) => (half.test(one) ? Buffer.from([one.charCodeAt(0) - halves]) : Buffer.from(one))),
  )
}

/** A path of such names for people: `caf%E9`. */
export function readable(path: string): string {
  if (isText(path)) return path
  return path.replace(everyHalf, (one) => `%${(one.charCodeAt(0) - halves).toString(16).toUpperCase()}`)
}

const halves = 0xdc00
const half = /[\udc80-\udcff]/u
const everyHalf = /[\udc80-\udcff]/gu
