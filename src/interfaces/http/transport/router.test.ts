import { expect, test } from "vitest"
import { router } from "./router.ts"

const find = router([
  { method: "get", path: "/v1/tools/search" },
  { method: "get", path: "/v1/tools/{name}" },
  { method: "post", path: "/v1/tools/{name}/call" },
])

test.each([
  ["GET", "/v1/tools/search", "/v1/tools/search", {}],
  ["GET", "/v1/tools/s%65arch", "/v1/tools/search", {}],
  ["GET", "/v1/tools/look", "/v1/tools/{name}", { name: "look" }],
  ["HEAD", "/v1/tools/look", "/v1/tools/{name}", { name: "look" }],
  ["GET", "/v1/tools/a%2Fb%20c", "/v1/tools/{name}", { name: "a/b c" }],
  ["GET", "/v1/tools/%ff", "/v1/tools/{name}", { name: "%ff" }],
  ["POST", "/v1/tools/look/call", "/v1/tools/{name}/call", { name: "look" }],
])("%s %s leads to %s", (method, path, found, params) => {
  expect(find(method, path)).toEqual({ route: expect.objectContaining({ path: found }), params })
})

test.each([
  ["GET", "/v1/tools/"],
  ["GET", "/v1/tools/look/"],
  ["GET", "//v1/tools/look"],
  ["GET", "/v1/tools/a/b"],
  ["POST", "/v1/tools//call"],
])("%s %s leads nowhere", (method, path) => {
  expect(find(method, path)).toBeUndefined()
})

test("a path that has other methods says which", () => {
  expect(find("POST", "/v1/tools/look")).toEqual({ allow: "GET, HEAD" })
  expect(find("PUT", "/v1/tools/look/call")).toEqual({ allow: "POST" })
})
