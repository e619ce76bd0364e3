import { expect, test } from "vitest"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { couldMatchTemplate, promptsFor, resourcesFor, resolveResource } from "./upstream-items.ts"

/** An app that has only these servers. */
const fakeApp = (servers: Record<string, { resources?: string[]; prompts?: string[] }>) =>
  ({
    isVisible: () => true,
    mcp: {
      list: () => Object.keys(servers).map((name) => ({ name, prefix: true })),
      resources: (name: string) => (servers[name]?.resources ?? []).map((uri) => ({ uri, name: uri })),
      templates: () => [],
      prompts: (name: string) => (servers[name]?.prompts ?? []).map((one) => ({ name: one })),
    },
  }) as unknown as Quartermaster

test("a server cannot take over the name of another server's resource or prompt", () => {
  const app = fakeApp({ a: { resources: ["zed+file:///x"], prompts: ["b__p"] }, a__b: { prompts: ["p"] }, zed: {} })
  expect(resourcesFor(app, "x").map(({ nameHere }) => nameHere)).toEqual(["a+zed+file:///x"])
  expect(resolveResource(app, "x", "zed+file:///x")).toEqual({ server: "zed", uri: "file:///x" })
  expect(resolveResource(app, "x", "a+zed+file:///x")).toEqual({ server: "a", uri: "zed+file:///x" })
  expect(promptsFor(app, "x").map(({ nameHere, server }) => `${nameHere} ${server}`)).toEqual([
    "a__b__p a",
    "a__b__p_ a__b",
  ])
})

test.each([
  ["test://a", "test://a", true],
  ["test://a", "test://b", false],
  ["test://{id}/data", "test://1/data", true],
  ["test://{id}/data", "test:///data", true],
  ["test://{id}/data", "test://1/date", false],
  ["test://{id}/data", "test://data", false],
  ["x:{a}-{b}", "x:1-2", true],
  ["x:{a}-{b}", "x:12", false],
  ["x:{a}-{b}z", "x:z-z", true],
  ["x:{a}z{b}z", "x:z", false],
  ["file://{+path}", "file:///etc/hosts", true],
  ["search{?q,n}", "search?q=1", true],
  ["search{?q,n}", "sea", false],
])("the template %s and the address %s", (template, uri, expected) => {
  expect(couldMatchTemplate(template, uri)).toBe(expected)
})

test("matching a complicated template ends", () => {
  const template = `x:${"{+a}".repeat(2000)}!`
  expect(couldMatchTemplate(template, `x:${"a".repeat(100_000)}`)).toBe(false)
  expect(couldMatchTemplate(`x:${"{a}ab".repeat(2000)}`, `x:${"a".repeat(100_000)}`)).toBe(false)
})
