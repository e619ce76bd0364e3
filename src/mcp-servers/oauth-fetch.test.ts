import { expect, test } from "vitest"
import { startHttpServer } from "../testing/mcp/http-servers.ts"
import { addressProblem, authorizationFetch } from "./oauth-fetch.ts"

const far = "https://mcp.example/mcp"
const here = "http://127.0.0.1:8000/mcp"

test.each<[string, string, boolean]>([
  ["https://login.example/token", far, true],
  ["https://mcp.example/token", far, true],
  ["http://login.example/token", far, false],
  ["http://mcp.example/token", far, false],
  ["http://mcp.example/token", "http://mcp.example/mcp", true],
  ["http://127.0.0.1:9/token", far, false],
  ["https://localhost/token", far, false],
  ["http://[::1]:9/token", far, false],
  ["http://127.0.0.1:9/token", here, true],
  ["http://localhost:9/token", here, true],
  ["https://login.example/token", here, true],
  ["http://login.example/token", here, false],
  ["javascript:alert(1)", far, false],
  ["file:///etc/passwd", here, false],
])("%s may be the authorization server of %s: %s", (url, server, taken) => {
  expect(addressProblem(new URL(url), new URL(server)) === undefined).toBe(taken)
})

test("responses of an authorization server are limited in size, and redirects are not followed", async () => {
  const { url } = await startHttpServer((request, response) => {
    if (request.url === "/away") return void response.writeHead(302, { location: "http://evil.example/" }).end()
    for (let megabyte = 0; megabyte < 2; megabyte++) response.write(Buffer.alloc(1024 * 1024))
    response.end()
  })
  const fetch = authorizationFetch(new URL(url))
  expect((await fetch(new URL("/away", url))).status).toBe(302)
  await expect(fetch(url)).rejects.toThrow("sent more than 1 MB at once")
  await expect(fetch("http://evil.example/")).rejects.toThrow("only https addresses on other machines are allowed")
})
