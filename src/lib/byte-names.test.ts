import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { encodePath, decodeName } from "./byte-names.ts"
import { temporaryFolder } from "../testing/test-app.ts"

const aimed = [0x2e, 0x41, 0x80, 0xa0, 0xbf, 0xc3, 0xe9, 0xed, 0xef, 0xbd, 0xf0, 0x9f, 0x92, 0xff]
const byte = fc.oneof(fc.constantFrom(...aimed), fc.integer({ min: 1, max: 255 }))
const name = fc.oneof(
  fc.array(byte, { minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }).map((text) => Buffer.from(text)),
)

test("a path of any bytes is text and the same bytes again, and no two are the same text", () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), name, (names, other) => {
      const path = names.map(decodeName).join("/")
      const bytes = names.flatMap((one, at) => (at === 0 ? [one] : [Buffer.from("/"), one]))
      expect(Buffer.from(encodePath(path))).toEqual(Buffer.concat(bytes))
      expect(decodeName(names[0]!) === decodeName(other)).toBe(names[0]!.equals(other))
    }),
    { numRuns: 300 },
  )
})

test.each([
  ["plain", "plain"],
  ["café", "café"],
  ["💀", "💀"],
  ["caf\xe9", "caf\udce9"],
])("the name %j is found on the disk by its text %j", (written, text) => {
  const folder = temporaryFolder()
  const bytes = text === written ? Buffer.from(written) : Buffer.from(written, "latin1")
  mkdirSync(Buffer.concat([Buffer.from(`${folder}/`), bytes, Buffer.from("/inside")]), { recursive: true })
  expect(readdirSync(folder, { encoding: "buffer" }).map(decodeName)).toEqual([text])
  expect(readdirSync(encodePath(join(folder, text)))).toEqual(["inside"])
})
