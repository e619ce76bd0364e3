import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { installInto } from "./install.ts"
import { readJsonc } from "./jsonc.ts"
import { makeFolders, problemsOf } from "./testing.ts"

const stdio = { command: "/bin/node", args: ["/opt/qm.js"], folder: "/work", agent: "dev" }
const http = { url: "http://127.0.0.1:7420/mcp", agent: "dev" }
const args = ["/opt/qm.js", "-C", "/work", "mcp", "--agent", "dev"]

test.each([
  [
    "claude",
    ".mcp.json",
    { mcpServers: { qm: { type: "stdio", command: "/bin/node", args, alwaysLoad: true, timeout: 600_000 } } },
  ],
  ["cursor", ".cursor/mcp.json", { mcpServers: { qm: { command: "/bin/node", args } } }],
  ["vscode", ".vscode/mcp.json", { servers: { qm: { type: "stdio", command: "/bin/node", args } } }],
] as const)("a client without a configuration file gets one: %s", (client, name, value) => {
  const { cwd, home } = makeFolders()
  const plan = installInto(client, "qm", stdio, { cwd, home })
  expect(plan).toMatchObject({ file: join(cwd, name), before: undefined, next: [] })
  expect(existsSync(plan.file)).toBe(false)
  expect(plan.write()).toBeUndefined()
  expect(JSON.parse(readFileSync(plan.file, "utf8"))).toEqual(value)
})

test.each([
  ["claude", []],
  ["cursor", ["-C", "${workspaceFolder}"]],
  ["vscode", ["-C", "${workspaceFolder}"]],
] as const)("without a folder %s starts it in the folder it has open", (client, inFolder) => {
  const { cwd, home } = makeFolders()
  const { after } = installInto(client, "qm", { command: "npx", args: ["--no", "qm"], agent: "dev" }, { cwd, home })
  const written = JSON.stringify(["--no", "qm", ...inFolder, "mcp", "--agent", "dev"])
  expect(JSON.stringify(readJsonc(after).value)).toContain(`"command":"npx","args":${written}`)
})

test.each([
  ["claude", { type: "http", url: http.url, headers: { Authorization: "Bearer ${QUARTERMASTER_TOKEN}" } }],
  ["cursor", { url: http.url, headers: { Authorization: "Bearer ${env:QUARTERMASTER_TOKEN}" } }],
] as const)("over HTTP %s reads the token from the environment, and a note says how to create it", (client, entry) => {
  const { cwd, home } = makeFolders()
  const { after, next } = installInto(client, "qm", http, { cwd, home })
  expect(readJsonc(after).value).toEqual({ mcpServers: { qm: entry } })
  expect(next).toEqual([
    expect.stringMatching(/^Create a token with 'qm tokens create --agent dev --person me', and set/),
  ])
})

test("VS Code asks for the token, and keeps its other inputs", () => {
  const { cwd, home, write } = makeFolders()
  write(".vscode/mcp.json", '{ "inputs": [{ "id": "other" }] }')
  const { after } = installInto("vscode", "qm", http, { cwd, home })
  expect(readJsonc(after).value).toMatchObject({
    servers: { qm: { headers: { Authorization: "Bearer ${input:quartermaster-token}" } } },
    inputs: [{ id: "other" }, { id: "quartermaster-token", password: true }],
  })
  writeFileSync(join(cwd, ".vscode/mcp.json"), after)
  expect(installInto("vscode", "qm", http, { cwd, home }).after).toBe(after)
})

test("comments, other servers and file permissions stay, with a backup that cannot be committed", () => {
  const { cwd, home, write } = makeFolders()
  const before = `{
    // mine
    "servers": {
      "other": { "command": "x" }, // needed
    },
    "setting": true
}
`
  const file = write(".vscode/mcp.json", before)
  const plan = installInto("vscode", "qm", stdio, { cwd, home })
  expect(readFileSync(file, "utf8")).toBe(before)
  const backup = plan.write()
  expect(backup).toMatch(/home\/\.config\/quartermaster\/backups\/.*work_\.vscode_mcp\.json$/)
  expect([readFileSync(backup ?? "", "utf8"), statSync(backup ?? "").mode & 0o777]).toEqual([before, 0o600])
  expect(readdirSync(join(cwd, ".vscode"))).toEqual(["mcp.json"])
  const after = readFileSync(file, "utf8")
  expect(installInto("vscode", "other", stdio, { cwd, home }).write()).toBe(`${backup}.2`)
  for (const line of before.split("\n").filter((each) => each.trim().length > 1))
    expect(after).toContain(line.trimEnd())
  expect(readJsonc(after).value).toMatchObject({ servers: { other: { command: "x" }, qm: { command: "/bin/node" } } })
})

test.each([
  ["settings.json", '{ "servers": { "a": {} } }', "servers"],
  ["settings.json", '{ "mcpServers": {} }', "mcpServers"],
  ["settings.json", "{}", "mcpServers"],
  [".vscode/other.json", "{}", "servers"],
])("a file given by its path, %s with %s, is changed under %s", (name, text, key) => {
  const { cwd, home, write } = makeFolders()
  write(name, text)
  expect(readJsonc(installInto({ path: name }, "qm", stdio, { cwd, home }).after).value).toMatchObject({
    [key]: { qm: { command: "/bin/node" } },
  })
})

test("an entry that is there already is replaced, and the same one changes nothing", () => {
  const { cwd, home, write } = makeFolders()
  write(".mcp.json", '{ "mcpServers": { "qm": { "command": "old" } } }')
  installInto("claude", "qm", stdio, { cwd, home }).write()
  const again = installInto("claude", "qm", stdio, { cwd, home })
  expect(again.after).toBe(again.before)
  expect(again.after).not.toContain("old")
})

test.each(["{", "<<<<<<<", "[1]", '{ "mcpServers": [] }'])(
  "a broken file %j is refused, and nothing is written",
  (text) => {
    const { cwd, home, write } = makeFolders()
    const file = write(".mcp.json", text)
    const problems = problemsOf(() => installInto("claude", "qm", stdio, { cwd, home }))
    expect(problems).toMatchObject([
      { file, sentence: expect.stringMatching(/^This is not valid JSON: .*nothing was written\.$/) },
    ])
    expect([readFileSync(file, "utf8"), existsSync(join(home, ".config"))]).toEqual([text, false])
  },
)

test("a file that changed after it was shown is not overwritten", () => {
  const { cwd, home, write } = makeFolders()
  const file = write(".mcp.json", "{}")
  const plan = installInto("claude", "qm", stdio, { cwd, home })
  write(".mcp.json", '{ "new": 1 }')
  expect(problemsOf(() => plan.write())).toMatchObject([{ sentence: expect.stringContaining("changed meanwhile") }])
  expect(readFileSync(file, "utf8")).toBe('{ "new": 1 }')
})

test("a link stays a link, and private permissions stay private", () => {
  const { cwd, home, write } = makeFolders()
  const real = write("dotfiles/claude.json", "{}")
  chmodSync(real, 0o600)
  symlinkSync(real, join(cwd, ".mcp.json"))
  installInto("claude", "qm", stdio, { cwd, home }).write()
  expect(readFileSync(real, "utf8")).toContain("/opt/qm.js")
  expect(statSync(real).mode & 0o777).toBe(0o600)
  expect(lstatSync(join(cwd, ".mcp.json")).isSymbolicLink()).toBe(true)
})

test.each([
  ["opencode.json", '{ "mcp": { "a": { "type": "local", "command": ["a"] } } }'],
  ["opencode.json", "{}"],
  ["settings.json", '{ "context_servers": {} }'],
  ["list.json", "[]"],
  ["list.json", '{ "mcpServers": [] }'],
  ["config.toml", ""],
])("a file %s of an unknown shape is refused and stays as it is: %s", (name, before) => {
  const { cwd, home } = makeFolders()
  const file = join(cwd, name)
  writeFileSync(file, before)
  const [problem] = problemsOf(() => installInto({ path: name }, "qm", stdio, { cwd, home }))
  expect(problem?.sentence).toMatch(/nothing was written\./i)
  expect(readFileSync(file, "utf8")).toBe(before)
})

test.each([".gemini/settings.json", "claude_desktop_config.json"])("%s gets mcpServers beside its settings", (name) => {
  const { cwd, home } = makeFolders()
  mkdirSync(join(cwd, ".gemini"))
  writeFileSync(join(cwd, name), '{ "theme": "dark" }')
  const { after } = installInto({ path: name }, "qm", stdio, { cwd, home })
  expect(JSON.parse(after)).toMatchObject({ theme: "dark", mcpServers: { qm: { command: "/bin/node" } } })
})
