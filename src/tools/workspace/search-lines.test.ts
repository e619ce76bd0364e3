import fc from "fast-check"
import { expect, test } from "vitest"
import { LineMatchReader } from "./search-lines.ts"
import type { FoundFile } from "./search-page.ts"

const read = (pieces: readonly Buffer[], to = Infinity, single = true) => {
  const found: FoundFile[] = []
  const reader = new LineMatchReader((file) => (file.includes("left") ? undefined : { file, range: { from: 0, to, separate: single } }), (one) => found.push(one))
  for (const piece of pieces) reader.read(piece)
  reader.end()
  return found
} // prettier-ignore

const text = fc.constantFrom("", "x", ":", "1:2:3", "./a", "é", "x".repeat(1500))
const name = fc.constantFrom("./a", "./b c", "./left", "./1:2:", "./a\nb", "./日本")
const file = fc.record({ name, texts: fc.array(text, { minLength: 1, maxLength: 4 }), isBinary: fc.boolean() })

test("law: ripgrep's output is read the same in pieces of any size", () => {
  fc.assert(
    fc.property(fc.array(file, { maxLength: 5 }), fc.array(fc.integer({ min: 1, max: 40 })), (files, sizes) => {
      const printed = files.map(({ name, texts, isBinary }) => {
        const lines = texts.map((one, index) => `${index + 1}:${index * 10}:${one}\n`).join("")
        return `${name}\0${lines}${isBinary ? "./x: WARNING: stopped searching\n" : ""}`
      })
      const bytes = Buffer.from(printed.join("\n"))
      const pieces: Buffer[] = []
      for (let at = 0; at < bytes.length;) {
        const size = sizes[pieces.length] ?? bytes.length
        pieces.push(bytes.subarray(at, at + size))
        at += size
      }
      const told = read(pieces).map(({ file, count, matchLines }) => ({
        file,
        count,
        matchLines: matchLines.map(({ line, at, length, startBytes }) => [line, at, length, startBytes.toString()]),
      }))
      const expected = files
        .filter(({ name, isBinary }) => name !== "./left" && !isBinary)
        .map(({ name, texts }) => ({
          file: name,
          count: texts.length,
          matchLines: texts.map((one, index) => [index + 1, index * 10, Buffer.byteLength(one), one.slice(0, 1000)]),
        }))
      expect(told).toEqual(expected)
    }),
    { numRuns: 300 },
  )
})

test("all matches of a line are counted, also after the last requested one", () => {
  const printed = Buffer.from("./a\0" + "1:0:x\n".repeat(3) + "2:9:x\n2:12:x\n")
  expect(read([printed], 2, false)).toMatchObject([{ count: 5, matchLines: [{ line: 1, count: 3 }] }])
  expect(read([printed], 4, false)).toMatchObject([{ count: 5, matchLines: [{ count: 3 }, { index: 3, count: 2 }] }])
  expect(read([printed], 2, true)).toMatchObject([{ count: 5, matchLines: [{ index: 0 }, { index: 1 }] }])
})

test("output cut in the middle is read as far as it goes", () => {
  expect(read([Buffer.from("./a\u{0}1:0:x\n2:4:")])).toMatchObject([{ file: "./a", count: 1 }])
  expect(read([Buffer.from("./b.bin: binary file matches\n")])).toEqual([])
})
