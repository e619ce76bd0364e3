import { expect, test } from "vitest"
import { z } from "zod"
import { open, tool } from "../testing/open.ts"
import { secretPaths, withoutSecrets } from "./secrets.ts"

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
  expect(withoutSecrets(value, paths, "***")).toEqual({
    pin: "***",
    login: { word: "***", user: "u" },
    cards: [{ number: "***", name: "n" }],
    other: { code: "***" },
    harmless: "h",
  })
  expect(value.pin).toBe("1")
  expect(withoutSecrets("text", paths, "***")).toBe("text")
})

test("what a schema marks never reaches the record, of good and of refused calls, in and out", async () => {
  const system = await open()
  const input = z.object({ door: z.string(), pin: z.string().meta({ secret: true }) }) as never
  const output = z.object({ opened: z.boolean(), code: z.string().meta({ secret: true }) })
  system.registry.register(tool({ input, output, execute: () => ({ opened: true, code: "9876" }) }))
  const good = await system.call({ agentId: "operator", tool: "probe", input: { door: "a", pin: "1234" } })
  const refused = await system.call({ agentId: "operator", tool: "probe", input: { door: 1, pin: "1234" } })
  expect(good.result).toEqual({ opened: true, code: "9876" })
  const story = JSON.stringify([await system.audit.show(good.callId), await system.audit.show(refused.callId)])
  expect(story).not.toMatch(/1234|9876/)
  expect(story).toContain("***")
})
