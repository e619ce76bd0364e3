import { randomBytes } from "node:crypto"

/** Random hex digits, generated in advance because small requests are slow. */
let digits = ""
let used = 0
let lastMillisecond = 0
let counter = 0
let timeText = ""

/** A new UUIDv7. Later ids of this process sort later, even within one millisecond. */
export function newId(): string {
  const now = Date.now()
  if (now > lastMillisecond) setTime(now, Number.parseInt(random(2), 16) & 0x7f)
  else if (++counter > 0xfff) setTime(lastMillisecond + 1, 0)
  const variant = variants[Number.parseInt(random(1), 16) & 3]!
  return `${timeText}${(0x1000 + counter).toString(16).slice(1)}-${variant}${random(3)}-${random(12)}`
}

const variants = ["8", "9", "a", "b"]

function setTime(milliseconds: number, first: number): void {
  lastMillisecond = milliseconds
  counter = first
  const hex = milliseconds.toString(16).padStart(12, "0")
  timeText = `${hex.slice(0, 8)}-${hex.slice(8)}-7`
}

function random(length: number): string {
  if (used + length > digits.length) {
    digits = randomBytes(2048).toString("hex")
    used = 0
  }
  return digits.slice(used, (used += length))
}
