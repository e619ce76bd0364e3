import { randomInt } from "node:crypto"

/** No characters that are easily confused when read aloud or typed. */
const letters = "ABCDEFGHJKMNPQRSTUVWXYZ"
const characters = `${letters}23456789`
const shortest = 4
const triesPerLength = 50

/** A short random code that begins with a letter, occurs in none of the texts in any case, and is not taken. */
export function newReplyCode(texts: readonly string[], isTaken: (code: string) => boolean): string {
  const upperTexts = texts.map((text) => text.toUpperCase())
  for (let tries = 0; ; tries++) {
    // A text may contain every code of one length, so the length grows.
    const length = shortest + Math.floor(tries / triesPerLength)
    const code = pick(letters) + Array.from({ length: length - 1 }, () => pick(characters)).join("")
    if (!isTaken(code) && !upperTexts.some((text) => text.includes(code))) return code
  }
}

const pick = (from: string) => from[randomInt(from.length)]!
