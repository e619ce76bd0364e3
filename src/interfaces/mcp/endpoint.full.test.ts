import { expect, test } from "vitest"
import { openTestApp, tool } from "../../testing/test-app.ts"

test("the list of a thousand tools is built once for each version", async () => {
  const { toolList } = await import("./tool-list.ts")
  const app = await openTestApp()
  app.registry.registerMany(Array.from({ length: 1000 }, (_, n) => tool({ name: `tool_${n}`, execute: () => n })))
  const first = toolList(app, "operator")
  expect(first.tools.length).toBeGreaterThan(1000)
  expect(JSON.parse(first.json)).toEqual(first.tools)
  for (let n = 0; n < 100; n++) expect(toolList(app, "operator")).toBe(first)
  app.registry.register(tool({ name: "one_more", execute: () => 1 }))
  expect(toolList(app, "operator").json).toContain("one_more")
})
