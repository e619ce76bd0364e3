import { expect, test } from "vitest"
import { z } from "zod"
import { openTestApp, tool } from "../testing/test-app.ts"
import type { JsonSchema } from "../core/schema.ts"
import { secretPaths, replaceSecrets } from "./secret-paths.ts"

test("a schema's marks are found wherever they stand", () => {
  const schema = {
    properties: {
      pin: { type: "string", writeOnly: true },
      login: { properties: { word: { format: "password" } } },
      cards: { items: { properties: { number: { secret: true } } } },
      other: { anyOf: [{ type: "null" }, { properties: { code: { secret: true } } }] },
      harmless: { type: "string" },
    },
  }
  const paths = secretPaths(schema)
  expect(paths).toEqual([["pin"], ["login", "word"], ["cards", "*", "number"], ["other", "code"]])
  const value = {
    pin: "1",
    login: { word: "2", user: "u" },
    cards: [{ number: 3, name: "n" }],
    other: { code: "4" },
    harmless: "h",
  }
  expect(replaceSecrets(value, paths, "***")).toEqual({
    pin: "***",
    login: { word: "***", user: "u" },
    cards: [{ number: "***", name: "n" }],
    other: { code: "***" },
    harmless: "h",
  })
  expect(value.pin).toBe("1")
  expect(replaceSecrets("text", paths, "***")).toBe("text")
})

const secret = { type: "string", secret: true }
const marks: [string, JsonSchema, string[][]][] = [
  ["a reference into the definitions", { properties: { a: { $ref: "#/$defs/pin" } }, $defs: { pin: secret } }, [["a"]]],
  ["a reference with escaped characters", { properties: { a: { $ref: "#/$defs/a~1b%20c" } }, $defs: { "a/b c": secret } }, [["a"]]],
  ["a reference that cannot be decoded", { properties: { a: { $ref: "#/$defs/%" }, b: secret }, $defs: { "%": secret } }, [["a"], ["b"]]],
  ["a reference that leads nowhere", { properties: { a: { $ref: "#/$defs/none" }, b: secret } }, [["b"]]],
  ["a reference to another document", { properties: { a: { $ref: "https://example.com/x" }, b: secret } }, [["b"]]],
  ["places of a tuple", { prefixItems: [{}, secret] }, [["*"]]],
  ["items as a list, as draft-07 has it", { items: [{}, secret] }, [["*"]]],
  ["what a list contains", { contains: secret }, [["*"]]],
  ["names by pattern", { patternProperties: { "^x": secret } }, [["*"]]],
  ["any further name", { additionalProperties: { properties: { word: secret } } }, [["*", "word"]]],
  ["a condition", { if: {}, then: { properties: { a: secret } }, else: { properties: { b: secret } } }, [["a"], ["b"]]],
  ["a dependency", { dependentSchemas: { x: { properties: { a: secret } } } }, [["a"]]],
  ["the whole value", secret, [[]]],
  ["nothing", { properties: { secret: { type: "boolean" }, writeOnly: { const: true } } }, []],
  ["a mark that is not true", { properties: { a: { secret: "yes" } } }, []],
] // prettier-ignore

test.each(marks)("marks are found in %s", (_where, schema, paths) => {
  expect(secretPaths(schema)).toEqual(paths)
})

test("a schema that points at itself is followed twelve levels deep", () => {
  const tree = { properties: { pin: secret, below: { $ref: "#" } } }
  const paths = secretPaths(tree)
  expect(paths).toContainEqual(["pin"])
  expect(paths).toContainEqual(["below", "below", "pin"])
  const value = { pin: "1", below: { pin: "2", below: { pin: "3" } } }
  expect(JSON.stringify(replaceSecrets(value, paths, "***"))).not.toMatch(/[123]/)
  expect(secretPaths({ $ref: "#" })).toEqual([])
  expect(secretPaths({ anyOf: [{ $ref: "#" }, secret] })).toEqual([[]])
})

test("a schema that points at itself in very many places ends; with a secret in it, all of it is secret", () => {
  const names = Array.from({ length: 30 }, (_, index) => `part${index}`)
  const wide = Object.fromEntries(names.map((name) => [name, { $ref: "#" }]))
  expect(secretPaths({ properties: wide })).toEqual([])
  expect(secretPaths({ properties: { ...wide, pin: secret } })).toEqual([[]])
})

test("what a schema marks never reaches the record, of good and of refused calls, in and out", async () => {
  const system = await openTestApp()
  const input = z.object({ door: z.string(), pin: z.string().meta({ secret: true }) }) as never
  const output = z.object({ opened: z.boolean(), code: z.string().meta({ secret: true }) })
  system.registry.register(tool({ input, output, execute: () => ({ opened: true, code: "code-of-four" }) }))
  const good = await system.call({ agentId: "operator", tool: "probe", input: { door: "a", pin: "pin-of-four" } })
  const refused = await system.call({ agentId: "operator", tool: "probe", input: { door: 1, pin: "pin-of-four" } })
  expect(good.result).toEqual({ opened: true, code: "code-of-four" })
  const story = JSON.stringify([await system.audit.show(good.callId), await system.audit.show(refused.callId)])
  expect(story).not.toMatch(/pin-of-four|code-of-four/)
  expect(story).toContain("***")
})
