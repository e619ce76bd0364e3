import { expect, test } from "vitest"
import { checkConfig } from "./check-configuration.ts"
import { loadConfig } from "./load.ts"
import { serverFlaws, serverSpecs } from "./mcp-servers.ts"
import type { Config } from "./schema.ts"
import { makeFolders } from "./testing.ts"

const url = "https://files.example/mcp"

test("auth sets how to sign in to a server, and its secret is a variable", () => {
  const { cwd, home, write } = makeFolders()
  const text =
    "mcpServers: { a: { url: 'https://a.example/', auth: { clientId: us, clientSecret: '${S}', scopes: [read] } } }"
  const file = write("quartermaster.yml", text)
  const { config } = loadConfig({ cwd, home, env: { S: "007" }, configPath: file })
  expect(serverSpecs(config)[0]?.auth).toStrictEqual({
    grant: "code",
    clientId: "us",
    clientSecret: "007",
    scopes: ["read"],
  })
  expect(serverSpecs({ mcpServers: { a: { url } } })[0]).not.toHaveProperty("auth")
})

test.each<[object, string]>([
  [{ url, auth: { clientID: "a" } }, "Did you mean 'mcpServers.a.auth.clientId'?"],
  [{ url, auth: { grant: "password" } }, "Write one of: code, client_credentials."],
  [{ url, auth: { clientMetadataUrl: "http://a.example/b" } }, "it must be a URL that begins with https://"],
  [{ url, auth: { clientMetadataUrl: "no address" } }, "it must be a URL that begins with https://"],
  [{ url, auth: { clientMetadataUrl: "https://a.example/" } }, "it must be the URL of a document, with a path"],
  [{ url, auth: { redirectPort: 70_000 } }, "'mcpServers.a.auth.redirectPort' is too large."],
  [
    { url, auth: { grant: "client_credentials", clientId: "a" } },
    "auth.clientId and auth.clientSecret are needed. Add them.",
  ],
  [{ url, auth: { clientSecret: "b" } }, "has an auth.clientSecret and no auth.clientId. Add it."],
  [{ url, auth: {}, headers: { authorization: "Bearer b" } }, "has auth and an Authorization header"],
  [{ command: "b", auth: {} }, "has a command and auth, which is for a URL. Remove auth."],
])("a server %j is refused with a sentence that says what to do", (entry, sentence) => {
  const config = { mcpServers: { a: entry } }
  const { flaws } = checkConfig(config)
  const found = flaws.length > 0 ? flaws : serverFlaws(config as Config)
  expect(found.map((flaw) => flaw.sentence)).toEqual([expect.stringContaining(sentence)])
})
