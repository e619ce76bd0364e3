import { randomFillSync } from "node:crypto"

const pool = new Uint8Array(4096)
let used = pool.length
let lastMillisecond = 0
let counter = 0

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** A UUIDv7: ids made later sort later, also within one millisecond of this process. */
export function newId(): string {
  const now = Date.now()
  if (now > lastMillisecond) {
    lastMillisecond = now
    counter = randomByte() & 0x7f
  } else if (++counter > 0xfff) {
    lastMillisecond++
    counter = 0
  }
  const time = lastMillisecond
  const high = Math.floor(time / 0x100000000)
  const low = time >>> 0
  return (
    hex[(high >>> 8) & 0xff]! +
    hex[high & 0xff]! +
    hex[low >>> 24]! +
    hex[(low >>> 16) & 0xff]! +
    "-" +
    hex[(low >>> 8) & 0xff]! +
    hex[low & 0xff]! +
    "-7" +
    hex[counter >>> 8]!.charAt(1) +
    hex[counter & 0xff]! +
    "-" +
    hex[0x80 | (randomByte() & 0x3f)]! +
    hex[randomByte()]! +
    "-" +
    hex[randomByte()]! +
    hex[randomByte()]! +
    hex[randomByte()]! +
    hex[randomByte()]! +
    hex[randomByte()]! +
    hex[randomByte()]!
  )
}

function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool[used++]!
}
