import fc from "fast-check"
import { expect, test } from "vitest"
import { wireName } from "../registry/wire-names.ts"
import { serverNameProblem, ownWireName, toolName } from "./names.ts"

const inside = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/

/** Names that look alike once they are cleaned up, and some that look as if they had been. */
const near = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "_", ".", " ", "é", "/", ":"), minLength: 1, maxLength: 6 }),
  fc.string({ unit: fc.constantFrom("a", "_", "é"), minLength: 100, maxLength: 160 }),
  fc.string({ minLength: 1 }),
)
const spelled = (name: string) => toolName("s", name).slice("mcp:s:".length)

test.each([
  ["read_file", "mcp:box:read_file"],
  ["a.b-c", "mcp:box:a.b-c"],
  ["a:b", "mcp:box:a:b"],
  ["report_20240101", "mcp:box:report_20240101"],
  ["mit Leerzeichen", "mcp:box:mit_Leerzeichen_"],
  ["", "mcp:box:_"],
  ["x".repeat(200), `mcp:box:${"x".repeat(107)}_`],
])("the tool %j has the internal name %s", (name, begins) => {
  const full = toolName("box", name)
  expect(full.startsWith(begins)).toBe(true)
  expect(full.length - begins.length).toBe(begins.endsWith("_") ? 12 : 0)
  expect(full).toMatch(inside)
})

test("internal names of a server are unique, valid and stable", () => {
  fc.assert(
    fc.property(fc.array(near, { minLength: 1, maxLength: 10 }), (originals) => {
      const names = [...new Set([...originals, ...originals.map(spelled), ...originals.map(spelled).map(spelled)])]
      const mapped = names.map((name) => toolName("s", name))
      expect(new Set(mapped).size).toBe(names.length)
      for (const [index, name] of mapped.entries()) {
        expect(name).toMatch(inside)
        expect(name).toBe(toolName("s", names[index]!))
      }
    }),
    { numRuns: 200 },
  )
})

test("a tool keeps its own name as wire name exactly when that is a valid one", () => {
  fc.assert(
    fc.property(near, (name) => {
      const kept = ownWireName(name)
      expect(kept === undefined || kept === name).toBe(true)
      if (kept !== undefined) expect(wireName(kept)).toBe(kept)
    }),
    { numRuns: 300 },
  )
})

test.each(["box", "a.b", "A-1_x", "x".repeat(64)])("a server may be called %s", (name) => {
  expect(serverNameProblem(name)).toBeUndefined()
})

test.each(["", "a b", "a:b", "ü", "-a", "x".repeat(65), "a@1"])("a server may not be called %j", (name) => {
  expect(serverNameProblem(name)).toContain("Rename it")
})
