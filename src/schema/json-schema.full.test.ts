import { createRequire } from "node:module"
import { expect, onTestFinished, test, vi } from "vitest"
import { compileSchema } from "./compile-schema.ts"

const { RE2JS } = createRequire(import.meta.url)("re2js") as typeof import("re2js")

/** Whoever reads the first pattern from now on does so for ever, as on a machine that has no time. */
function readPatternsForEver() {
  const compile = vi.spyOn(RE2JS, "compile").mockImplementation(() => {
    for (;;);
  })
  onTestFinished(() => compile.mockRestore())
  return compile
}

/** A judge reads the patterns of its draft before its first schema, and after so many schemas there is another judge. */
const schemasPerJudge = 256

test("a judge that ran out of time while it was made ready refuses that schema and no later one", () => {
  const schema = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } })
  const forEver = readPatternsForEver()
  let said = ""
  for (let count = 0; count <= schemasPerJudge && said === ""; count++) {
    try {
      compileSchema(schema(`p${count}`) as never, "refuse")
    } catch (error) {
      said = (error as Error).message
    }
  }
  expect(said).toBe("The JSON Schema cannot be used: it takes too long to read; split the tool.")
  forEver.mockRestore()
  const next = compileSchema(schema("a") as never, "refuse")
  expect(next.check({ a: "text" })).toEqual({ ok: true, value: { a: "text" } })
  expect(next.check({ a: 1 })).toMatchObject({ ok: false })
})
