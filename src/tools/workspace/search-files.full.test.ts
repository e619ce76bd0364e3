import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import type { ToolContext } from "../../core/tool.ts"
import type { Workspace } from "./workspace.ts"
import { searchFiles } from "./search-files.ts"
import { openBench, type WorkspaceCallResult } from "./testing.ts"

const ways = fc.constantFrom(
  { limits: {}, multiline: false },
  { limits: { mostKept: 0 }, multiline: false },
  { limits: { mostMatchLines: 2 }, multiline: false },
  { limits: {}, multiline: true },
)

test("law: pages of any size show every line that matches once, in order", async () => {
  const bench = openBench()
  const line = fc.constantFrom("needle", "x", "needle needle", "", "a needle")
  const contents = fc.array(fc.array(line, { maxLength: 4 }), { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(contents, fc.integer({ min: 1, max: 7 }), ways, async (contents, limit, { limits, multiline }) => {
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
      const tool = searchFiles({ files: bench.files, allowedExtensions: [] } as unknown as Workspace, limits)
      const seen: string[] = []
      for (let offset: unknown = 0; offset !== undefined;) {
        const given = tool.input.check({ pattern: "needle", limit, offset, multiline }) as { value: unknown }
        const page = (await tool.execute(given.value, { signal } as ToolContext)) as unknown as WorkspaceCallResult
        expect(page["total"]).toBe(total)
        seen.push(
          ...(page["matches"] as { file: string; line: number; column: number }[]).map(
            ({ file, line, column }) => `${file}:${line}:${column}`,
          ),
        )
        offset = page["nextOffset"]
      }
      expect(seen).toEqual(expected)
    }),
    { numRuns: 60 },
  )
})

const { signal } = new AbortController()
