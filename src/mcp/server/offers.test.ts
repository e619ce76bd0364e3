import { expect, test } from "vitest"
import type { App } from "../../model/app.ts"
import { fits, promptsFor, resourcesFor, serverOf } from "./offers.ts"

/** What a door sees of two servers. */
const houseOf = (servers: Record<string, { resources?: string[]; prompts?: string[] }>) =>
  ({
    mayKnow: () => true,
    mcp: {
      list: () => Object.keys(servers).map((name) => ({ name, prefix: true })),
      resources: (name: string) => (servers[name]?.resources ?? []).map((uri) => ({ uri, name: uri })),
      templates: () => [],
      prompts: (name: string) => (servers[name]?.prompts ?? []).map((one) => ({ name: one })),
    },
  }) as unknown as App

test("no server lists what stands for another's resource or prompt", () => {
  const app = houseOf({ a: { resources: ["zed+file:///x"], prompts: ["b__p"] }, a__b: { prompts: ["p"] }, zed: {} })
  expect(resourcesFor(app, "x").map(({ shown }) => shown)).toEqual(["a+zed+file:///x"])
  expect(serverOf(app, "x", "zed+file:///x")).toEqual({ server: "zed", uri: "file:///x" })
  expect(serverOf(app, "x", "a+zed+file:///x")).toEqual({ server: "a", uri: "zed+file:///x" })
  expect(promptsFor(app, "x").map(({ shown, server }) => `${shown} ${server}`)).toEqual(["a__b__p a", "a__b__p_ a__b"])
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
  expect(fits(template, uri)).toBe(expected)
})

test("no template makes it look for long", () => {
  const template = `x:${"{+a}".repeat(2000)}!`
  const before = process.cpuUsage()
  expect(fits(template, `x:${"a".repeat(100_000)}`)).toBe(false)
  expect(fits(`x:${"{a}ab".repeat(2000)}`, `x:${"a".repeat(100_000)}`)).toBe(false)
  expect(process.cpuUsage(before).user).toBeLessThan(4_000_000)
})
