import { expect, test } from "vitest"
import { fits } from "./offers.ts"

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
  const before = performance.now()
  expect(fits(template, `x:${"a".repeat(100_000)}`)).toBe(false)
  expect(fits(`x:${"{a}ab".repeat(2000)}`, `x:${"a".repeat(100_000)}`)).toBe(false)
  expect(performance.now() - before).toBeLessThan(2000)
})
