import fc from "fast-check"
import { expect, test } from "vitest"
import { openBench } from "./testing.ts"

test("law: written text is read back, in every encoding that has its characters", async () => {
  const bench = openBench()
  const texts: Record<string, fc.Arbitrary<string>> = {
    "utf-8": fc.string({ unit: "grapheme", maxLength: 40 }),
    "utf-16le": fc.string({ unit: "grapheme", maxLength: 40 }),
    "utf-16be": fc.string({ unit: "grapheme", maxLength: 40 }),
    "utf-32le": fc.string({ unit: "grapheme", maxLength: 40 }),
    gbk: fc.string({ unit: fc.constantFrom(...Array.from("的一是不了人我在有他\n x")), maxLength: 40 }),
    shift_jis: fc.string({ unit: fc.constantFrom(...Array.from("のにはをたがでてと日本\n x")), maxLength: 40 }),
    "koi8-r": fc.string({ unit: fc.constantFrom(...Array.from("абвгдежз\n x")), maxLength: 40 }),
    latin1: fc.string({ unit: fc.constantFrom(...Array.from("äöüßéèê\n x")), maxLength: 40 }),
  }
  const given = fc
    .constantFrom(...Object.keys(texts))
    .chain((encoding) => fc.tuple(fc.constant(encoding), texts[encoding]!))
  await fc.assert(
    fc.asyncProperty(given, async ([encoding, content]) => {
      const path = bench.fresh("")
      expect((await bench.call("write_file", { path, content, encoding })).error).toBeUndefined()
      expect((await bench.call("read_file", { path, encoding }))["content"]).toBe(content)
    }),
    { numRuns: 200 },
  )
})
