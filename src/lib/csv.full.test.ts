import * as fc from "fast-check"
import { expect, test } from "vitest"
import { csvLine } from "./csv.ts"

test("whatever the fields are, a reader of RFC 4180 finds them again, and none begins a formula", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "=", "+", "-", "@", "\t", "\r", "\n", '"', ",", "'", "中") })
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1 }), (fields) => {
      const read = readCsv(csvLine(fields))
      expect(read).toHaveLength(fields.length)
      read.forEach((field, place) => {
        expect(field).not.toMatch(/^[=+\-@\t\r]/)
        expect([fields[place], `'${fields[place]}`]).toContain(field)
      })
    }),
    { numRuns: 1000 },
  )
})

/** One record, read character by character as RFC 4180 writes it. */
function readCsv(line: string): string[] {
  const fields: string[] = []
  let field = ""
  let quoted = false
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!
    if (quoted && character === '"' && line[at + 1] === '"') field += line[at++]
    else if (character === '"') quoted = !quoted
    else if (!quoted && character === ",") {
      fields.push(field)
      field = ""
    } else if (!quoted && character === "\r" && line[at + 1] === "\n" && at === line.length - 2)
      return [...fields, field]
    else field += character
  }
  throw new Error("The record has no end.")
}
