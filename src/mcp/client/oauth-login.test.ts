import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/open.ts"
import { plainSpec } from "../testing/connections.ts"
import { agree, authorizationServer, guardedServer, type Told } from "../testing/oauth-servers.ts"
import { LoginFile } from "./oauth-file.ts"
import { beginSignIn, finishSignIn } from "./oauth-login.ts"

const back = "http://127.0.0.1:41999/callback"

/** Signing in at a guarded server, without a house around it. */
async function world(told: Told = {}) {
  const giver = await authorizationServer(told)
  const { url } = await guardedServer(() => giver)
  const spec = plainSpec({ name: "files", url })
  const file = new LoginFile(temporaryFolder(), "files", url)
  const begin = async () => (await beginSignIn(spec, file, back)).url
  const finish = (address: string) => finishSignIn(spec, file, address)
  return {
    begin,
    finish,
    login: async () => finish(await agree(await begin())),
    kept: () => readFileSync(file.path, "utf8"),
  }
}

test.each<[string, (url: URL) => void, string]>([
  ["another state", (url) => url.searchParams.set("state", "guessed"), "does not answer the sign-in"],
  ["no state", (url) => url.searchParams.delete("state"), "does not answer the sign-in"],
  ["another host", (url) => (url.hostname = "evil.example"), "not the address a browser comes back to"],
  ["another port", (url) => (url.port = "1"), "not the address a browser comes back to"],
  ["another path", (url) => (url.pathname = "/other"), "not the address a browser comes back to"],
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
])("an answer with %s signs nobody in", async (_, change, sentence) => {
  const { login, kept } = await world({ redirects: change })
  await expect(login()).rejects.toThrow(sentence)
  expect(kept()).not.toContain("access_token")
})

test("a code that was refused is not tried again", async () => {
  const { begin, finish } = await world()
  const answer = new URL(await agree(await begin()))
  const [code, state] = [answer.searchParams.get("code")!, answer.searchParams.get("state")!]
  const wrong = new URL(answer)
  wrong.searchParams.set("code", `${code}x`)
  await expect(finish(wrong.href)).rejects.toThrow("answered invalid_grant")
  await expect(finish(`${back}?code=${code}&state=${state}`)).rejects.toThrow("No sign-in at files waits")
})

test("an answer is good once, and only for the sign-in that was begun last", async () => {
  const { begin, finish, kept } = await world()
  const [first, second] = [await begin(), await begin()]
  await expect(finish(await agree(first))).rejects.toThrow("begun here last")
  const answer = await agree(second)
  expect(await finish(answer)).toMatchObject({ server: "files" })
  await expect(finish(answer)).rejects.toThrow("No sign-in at files waits")
  expect(kept()).toContain("access_token")
})

test.each<[string, Told]>([
  ["says it is somebody else", { metadata: () => ({ issuer: "https://evil.example" }) }],
  [
    "sends people to an address that is none of the web",
    { metadata: () => ({ authorization_endpoint: "javascript:alert(1)" }) },
  ],
  ["takes codes without encryption elsewhere", { metadata: () => ({ token_endpoint: "http://192.0.2.1/token" }) }],
  ["sends people elsewhere without encryption", { metadata: () => ({ authorization_endpoint: "http://192.0.2.1/a" }) }],
  ["registers nobody", { registers: false }],
])("an authorization server that %s gets nobody signed in", async (_, told) => {
  await expect((await world(told)).login()).rejects.toThrow("Signing in at files failed: ")
})
