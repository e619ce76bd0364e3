import { randomInt } from "node:crypto"

/** Nothing that is mistaken for another when it is read aloud or typed. */
const letters = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
const shortest = 4
const triesPerLength = 50

/** A short random code that stands in none of the texts, in capitals or not, and is not taken. */
export function freshCode(texts: readonly string[], isTaken: (code: string) => boolean): string {
  const written = texts.map((text) => text.toUpperCase())
  for (let tries = 0; ; tries++) {
    // A text can hold every code of one length, so that a longer one is needed.
    const length = shortest + Math.floor(tries / triesPerLength)
    const code = Array.from({ length }, () => letters[randomInt(letters.length)]!).join("")
    if (!isTaken(code) && !written.some((text) => text.includes(code))) return code
  }
}
