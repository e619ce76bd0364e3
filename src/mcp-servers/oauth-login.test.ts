import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/test-app.ts"
import { plainSpec } from "../testing/mcp/connections.ts"
import {
  approveSignIn,
  authorizationServer,
  protectedServer,
  type AuthorizationServerOptions,
} from "../testing/mcp/oauth-servers.ts"
import { LoginFile } from "./oauth-file.ts"
import { beginSignIn, finishSignIn } from "./oauth-login.ts"

const back = "http://127.0.0.1:41999/callback"

/** Signs in to a protected server without an app. */
async function setUp(options: AuthorizationServerOptions = {}) {
  const authServer = await authorizationServer(options)
  const { url } = await protectedServer(() => authServer)
  const spec = plainSpec({ name: "files", url })
  const file = new LoginFile(temporaryFolder(), "files", url)
  const begin = async () => (await beginSignIn(spec, file, back)).url
  const finish = (address: string) => finishSignIn(spec, file, address)
  return {
    begin,
    finish,
    login: async () => finish(await approveSignIn(await begin())),
    stored: () => readFileSync(file.path, "utf8"),
  }
}

test.each<[string, (url: URL) => void, string]>([
  ["another state", (url) => url.searchParams.set("state", "guessed"), "does not belong to the sign-in"],
  ["no state", (url) => url.searchParams.delete("state"), "does not belong to the sign-in"],
  ["another host", (url) => (url.hostname = "evil.example"), "not the address to which the browser returns"],
  ["another port", (url) => (url.port = "1"), "not the address to which the browser returns"],
  ["another path", (url) => (url.pathname = "/other"), "not the address to which the browser returns"],
  [
    "another issuer",
    (url) => url.searchParams.set("iss", "https://evil.example"),
    "came from another authorization server",
  ],
  [
    "no issuer where one was promised",
    (url) => url.searchParams.delete("iss"),
    "came from another authorization server",
  ],
  [
    "a refusal",
    (url) => (url.searchParams.delete("code"), url.searchParams.set("error", "access_denied")),
    "answered access_denied",
  ],
  [
    "a refusal of another issuer",
    (url) => (url.searchParams.set("error", "access_denied"), url.searchParams.set("iss", "https://evil.example")),
    "came from another authorization server",
  ],
  ["a foreign text as refusal", (url) => url.searchParams.set("error", "<b>call 555</b>"), "answered an error"],
  ["another code", (url) => url.searchParams.set("code", "secret-code-of-somebody"), "answered invalid_grant"],
])("a redirect with %s does not sign in", async (_, change, sentence) => {
  const { login, stored } = await setUp({ changeRedirect: change })
  await expect(login()).rejects.toThrow(sentence)
  expect(stored()).not.toContain("access_token")
})

test("a code that was refused is not tried again", async () => {
  const { begin, finish } = await setUp()
  const answer = new URL(await approveSignIn(await begin()))
  const [code, state] = [answer.searchParams.get("code")!, answer.searchParams.get("state")!]
  const wrong = new URL(answer)
  wrong.searchParams.set("code", `${code}x`)
  await expect(finish(wrong.href)).rejects.toThrow("answered invalid_grant")
  await expect(finish(`${back}?code=${code}&state=${state}`)).rejects.toThrow("No sign-in to files is pending")
})

test("a redirect is valid once, and only for the sign-in that began last", async () => {
  const { begin, finish, stored } = await setUp()
  const [first, second] = [await begin(), await begin()]
  await expect(finish(await approveSignIn(first))).rejects.toThrow("began last")
  const answer = await approveSignIn(second)
  expect(await finish(answer)).toMatchObject({ server: "files" })
  await expect(finish(answer)).rejects.toThrow("No sign-in to files is pending")
  expect(stored()).toContain("access_token")
})

test.each<[string, AuthorizationServerOptions]>([
  ["names another issuer", { metadata: () => ({ issuer: "https://evil.example" }) }],
  ["sends people to a URL that is not http", { metadata: () => ({ authorization_endpoint: "javascript:alert(1)" }) }],
  ["takes codes without encryption elsewhere", { metadata: () => ({ token_endpoint: "http://192.0.2.1/token" }) }],
  ["sends people elsewhere without encryption", { metadata: () => ({ authorization_endpoint: "http://192.0.2.1/a" }) }],
  ["does not register clients", { registers: false }],
])("signing in fails with an authorization server that %s", async (_, options) => {
  await expect((await setUp(options)).login()).rejects.toThrow("Signing in to files failed: ")
})
