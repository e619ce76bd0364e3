import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { parse } from "yaml"
import { openTestApp } from "../testing/test-app.ts"
import { checkConfig } from "./check-configuration.ts"
import { loadConfig } from "./load.ts"
import { serverFlaws, serverSpecs } from "./mcp-servers.ts"
import { keysAt } from "./schema-path.ts"
import type { Config } from "./schema.ts"
import { makeFolders } from "./testing.ts"
import { trust } from "./trust.ts"

/** A server with the defaults. */
const usual = {
  enabled: true,
  transport: undefined,
  layer: "system",
  prefix: true,
  trust: "first",
  sampling: "refuse",
  connectTimeoutMs: undefined,
  timeoutMs: undefined,
}
const url = "https://a.example/mcp"
const far = { ...usual, name: "a", url, headers: undefined }
const near = { ...usual, name: "a", command: "node", args: undefined, env: undefined, cwd: undefined }

test.each<[unknown, object]>([
  [{ url }, far],
  [{ command: "node" }, near],
  [
    { command: "node", args: ["x.js", "-v"], env: { A: "1" }, cwd: "/b" },
    { ...near, args: ["x.js", "-v"], env: { A: "1" }, cwd: "/b" },
  ],
  [
    { url, headers: { Authorization: "Bearer b" } },
    { ...far, headers: { Authorization: "Bearer b" } },
  ],
  [
    { url, enabled: false },
    { ...far, enabled: false },
  ],
  [
    { url, disabled: true },
    { ...far, enabled: false },
  ],
  [{ url, disabled: false }, far],
  [
    { url, type: "http" },
    { ...far, transport: "http" },
  ],
  [
    { url, type: "streamable-http" },
    { ...far, transport: "http" },
  ],
  [
    { url, transport: "streamableHttp" },
    { ...far, transport: "http" },
  ],
  [
    { url, transport: "sse" },
    { ...far, transport: "sse" },
  ],
  [
    { command: "node", type: "stdio" },
    { ...near, transport: "stdio" },
  ],
  [
    { url, layer: "department:b" },
    { ...far, layer: "department:b" },
  ],
  [
    { url, layer: "agent:b" },
    { ...far, layer: "agent:b" },
  ],
  [
    { url, prefix: false },
    { ...far, prefix: false },
  ],
  [
    { url, trust: "ask" },
    { ...far, trust: "ask" },
  ],
  [
    { url, sampling: "caller" },
    { ...far, sampling: "caller" },
  ],
  [
    { url, roots: "caller" },
    { ...far, roots: "caller" },
  ],
  [
    { url, timeout: 5 },
    { ...far, timeoutMs: 5 },
  ],
  [
    { url, connectTimeout: 5 },
    { ...far, connectTimeoutMs: 5 },
  ],
])("a server written %j is one server, wherever and in whichever form it is written", (entry, spec) => {
  const forms: unknown[] = [
    { mcpServers: { a: entry } },
    { mcpServers: [{ name: "a", ...(entry as object) }] },
    { tools: { mcpServers: { a: entry } } },
    { tools: { mcpServers: [{ name: "a", ...(entry as object) }] } },
  ]
  for (const form of forms) {
    expect(checkConfig(form).flaws).toEqual([])
    expect(serverFlaws(form as Config)).toEqual([])
    expect(serverSpecs(form as Config)).toStrictEqual([spec])
  }
})

test.each<[unknown, string]>([
  [{ mcpServers: { a: { urll: url } } }, "Did you mean 'mcpServers.a.url'?"],
  [{ mcpServers: [{ name: "a", urll: url }] }, "Did you mean 'mcpServers[0].url'?"],
  [{ tools: { mcpServers: [{ name: "a", comand: "b" }] } }, "Did you mean 'tools.mcpServers[0].command'?"],
  [{ mcpServers: [{ url }] }, "'mcpServers[0].name' is missing. Add it."],
  [
    {
      mcpServers: [
        { name: "a", url },
        { name: "a", url },
      ],
    },
    "'mcpServers[1].name' is not right: there is another server 'a' before it.",
  ],
  [{ mcpServers: { "my server": { url } } }, "'my server' cannot be a server's name"],
  [{ mcpServers: { "a:b": { url } } }, "'a:b' cannot be a server's name"],
  [{ mcpServers: { ["a".repeat(49)]: { url } } }, "cannot be a server's name, which has at most 48"],
  [{ mcpServers: { data: { url } } }, "'data' is a group of Quartermaster's own"],
  [{ mcpServers: [{ name: "org_management", url }] }, "'org_management' is a group of Quartermaster's own"],
  [{ mcpServers: { a: { url: "file:///etc/passwd" } } }, "'mcpServers.a.url' is not right: it must be a URL"],
  [{ mcpServers: { a: { url, layer: "team:b" } } }, "it must be system, department:<id> or agent:<id>"],
  [
    { mcpServers: { a: { url, type: "websocket" } } },
    "Write one of: stdio, http, sse, streamable-http, streamableHttp.",
  ],
  [{ mcpServers: { a: { command: "b", env: { A: 1 } } } }, "'mcpServers.a.env.A' cannot be of type number."],
  [{ mcpServers: { a: { url, timeout: 0 } } }, "'mcpServers.a.timeout' is too small."],
  [{ mcpServers: 5 }, "'mcpServers' "],
  [
    { mcpServers: { a: { url } }, tools: { mcpServers: [] } },
    "'tools.mcpServers' is not right: 'mcpServers' is given too",
  ],
])("%j is refused with a sentence that says what to do", (config, sentence) => {
  expect(checkConfig(config).flaws.map((flaw) => flaw.sentence)).toEqual([expect.stringContaining(sentence)])
})

test.each<[object, string]>([
  [{}, "has neither a command nor a url. Add the command that starts the server, or its URL."],
  [{ command: "b", url }, "has both a command and a url. A server is a program or a URL; keep one of them."],
  [{ url, type: "sse", transport: "http" }, "has both a type and a transport, and they differ. Keep one of them."],
  [{ url, enabled: true, disabled: true }, "is enabled and disabled. Keep one of them."],
  [{ url, type: "stdio" }, "is of type stdio and has a url. Leave the type out, or give the command."],
  [{ command: "b", type: "sse" }, "is of type sse and has a command. Leave the type out, or give the url."],
  [{ url, args: ["b"] }, "has a url and args, which are for a program. Remove args."],
  [{ command: "b", headers: { A: "b" } }, "has a command and headers, which are for a URL. Remove them."],
])("a server %j is refused after merging, and the app does not open with it", async (entry, sentence) => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", JSON.stringify({ mcpServers: { a: entry } }))
  const whole = `'mcpServers.a' ${sentence}`
  expect(() => loadConfig({ cwd, home, env: {}, configPath: file })).toThrow(`${file}: ${whole}`)
  await expect(openTestApp({ mcpServers: { a: entry } })).rejects.toThrow(whole)
})

test("a mistake in a list is reported with its place", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", `mcpServers:\n  - name: a\n    urll: ${url}\n`)
  expect(() => loadConfig({ cwd, home, env: {}, configPath: file })).toThrow(`${file}:3:5: 'mcpServers[0].urll'`)
})

test("a later layer may set a part of a server, in either form", () => {
  const { cwd, home, write } = makeFolders()
  const file = write(
    "quartermaster.yml",
    `tools: { timeout: 5, mcpServers: [{ name: a, url: "${url}", enabled: true }] }`,
  )
  write("quartermaster.local.yml", "mcpServers: { a: { enabled: false, headers: { X: one } } }")
  const env = { QM_MCP_SERVERS__A__TIMEOUT: "7" }
  const { config } = loadConfig({ cwd, home, env, configPath: file, overrides: { "mcpServers.a.headers.X": "two" } })
  expect(config.tools).toEqual({ timeout: 5 })
  expect(serverSpecs(config)).toStrictEqual([{ ...far, enabled: false, headers: { X: "two" }, timeoutMs: 7 }])
})

test("variables are replaced as text, even if they look like numbers", () => {
  const { cwd, home, write } = makeFolders()
  const file = write(
    "quartermaster.yml",
    "mcpServers:\n  a: { command: node, args: ['${N}'], env: { N: '${N}' } }\n  b: { url: 'https://${H}/', headers: { K: '${N}' } }",
  )
  const { config } = loadConfig({ cwd, home, env: { N: "007", H: "b.example" }, configPath: file })
  expect(serverSpecs(config)).toMatchObject([
    { args: ["007"], env: { N: "007" } },
    { url: "https://b.example/", headers: { K: "007" } },
  ])
})

test("a server's folder is relative to the file that names it", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("sub/q.yml", "mcpServers: { a: { command: node, cwd: tools }, b: { command: node, cwd: /tmp } }")
  const { config } = loadConfig({ cwd, home, env: {}, configPath: file })
  expect(serverSpecs(config).map(({ cwd: folder }) => folder)).toEqual([join(cwd, "sub", "tools"), "/tmp"])
})

test.each(["mcpServers", "tools.mcpServers"])("'%s' of an untrusted file starts nothing and warns", (key) => {
  const { cwd, home, write } = makeFolders()
  const servers = "[{ name: a, command: evil }]"
  const file = write(
    "quartermaster.yml",
    key === "mcpServers" ? `${key}: ${servers}` : `tools: { mcpServers: ${servers} }`,
  )
  const { config, ignored, warnings } = loadConfig({ cwd, home, env: {} })
  expect(serverSpecs(config)).toEqual([])
  expect(ignored).toEqual([{ file, key }])
  expect(warnings).toHaveLength(1)
  trust(file, home, {})
  expect(serverSpecs(loadConfig({ cwd, home, env: {} }).config)).toMatchObject([{ name: "a", command: "evil" }])
})

test.each([
  ["server: { host: 0.0.0.0 }", "server.host"],
  ["server: { port: 1 }", "server.port"],
  ["server: { allowedOrigins: ['https://evil.example'] }", "server.allowedOrigins"],
  ["server: { allowedHosts: [evil.example] }", "server.allowedHosts"],
  ["server: { maxBodyBytes: 999999999 }", "server.maxBodyBytes"],
])("%j of an untrusted file is ignored", (text, key) => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", text)
  const { config, ignored } = loadConfig({ cwd, home, env: {} })
  expect(config.server ?? {}).toEqual({})
  expect(ignored).toEqual([{ file, key }])
})

const page = readFileSync(new URL("../../docs/MCP.md", import.meta.url), "utf8")

test("the documentation names every key of a server, and what it shows can be written", () => {
  const table = page.slice(page.indexOf("| key"), page.indexOf("Each server stands alone"))
  const named = [...table.matchAll(/^\| (`[^|]*?) +\|/gm)].flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? [])
  expect(named.sort()).toEqual(keysAt(["mcpServers", "a"]).sort())
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => parse(text) as Config)
  expect(blocks).toHaveLength(2)
  for (const block of blocks) expect([...checkConfig(block).flaws, ...serverFlaws(block)]).toEqual([])
})
