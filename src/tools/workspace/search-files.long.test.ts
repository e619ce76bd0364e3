import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { openBench, type Bench } from "./testing.ts"

const search = (bench: Bench, input: object) => bench.call("search_files", { pattern: "needle", ...input })

test("law: pages of any size show every line that matches once, in order", async () => {
  const bench = openBench()
  const line = fc.constantFrom("needle", "x", "needle needle", "", "a needle")
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(line, { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 7 }),
      async (contents, limit) => {
        for (const file of readdirSync(bench.dir)) rmSync(join(bench.dir, file))
        const expected: string[] = []
        let total = 0
        for (const [index, lines] of contents.entries()) {
          bench.put(`${index}.txt`, lines.join("\n"))
          for (const [at, text] of lines.entries()) {
            const count = text.split("needle").length - 1
            total += count
            if (count > 0) expected.push(`${index}.txt:${at + 1}:${text.indexOf("needle") + 1}`)
          }
        }
        const seen: string[] = []
        for (let offset: unknown = 0; offset !== undefined;) {
          const page = await search(bench, { limit, offset })
          expect(page["total"]).toBe(total)
          seen.push(
            ...(page["matches"] as { file: string; line: number; column: number }[]).map(
              ({ file, line, column }) => `${file}:${line}:${column}`,
            ),
          )
          offset = page["nextOffset"]
        }
        expect(seen).toEqual(expected)
      },
    ),
    { numRuns: 200 },
  )
}, 120_000)
