import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { examineConfig } from "./examine.ts"
import { makeFolders, problemsOf } from "./testing.ts"
import { isTrusted, trust, untrust } from "./trust.ts"

test("a file is trusted from its pin on, and no longer after untrust", () => {
  const { home, write } = makeFolders()
  const file = write("quartermaster.yml", "agent: ada\n")
  expect(isTrusted(file, home)).toBe(false)
  expect(trust(file, home, {})).toEqual({ path: file, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(isTrusted(file, home)).toBe(true)
  expect(untrust(file, home)).toBe(true)
  expect(isTrusted(file, home)).toBe(false)
  expect(untrust(file, home)).toBe(false)
})

test.each([
  ["a byte of the file changes", "quartermaster.yml", "agent: bob\n"],
  ["a byte of the local file changes", "quartermaster.local.yml", "agent: bob\n"],
  ["the local file goes away", "quartermaster.local.yml", undefined],
  ["the file goes away", "quartermaster.yml", undefined],
])("the trust ends when %s, and comes back with the bytes", (_, name, text) => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", "agent: ada\n")
  write("quartermaster.local.yml", "agent: ada\n")
  trust(file, home, {})
  if (text === undefined) rmSync(join(cwd, name))
  else write(name, text)
  expect(isTrusted(file, home)).toBe(false)
  write(name, "agent: ada\n")
  expect(isTrusted(file, home)).toBe(true)
})

test("the trust ends when a local file appears", () => {
  const { home, write } = makeFolders()
  const file = write("quartermaster.yml", "agent: ada\n")
  trust(file, home, {})
  write("quartermaster.local.yml", "")
  expect(isTrusted(file, home)).toBe(false)
})

test("the same bytes elsewhere, also by a link, are another file; the same folder by a link is the same", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", "agent: ada\n")
  trust(file, home, {})
  expect(isTrusted(write("copy/quartermaster.yml", "agent: ada\n"), home)).toBe(false)
  mkdirSync(join(cwd, "linked"))
  symlinkSync(file, join(cwd, "linked", "quartermaster.yml"))
  expect(isTrusted(join(cwd, "linked", "quartermaster.yml"), home)).toBe(false)
  symlinkSync(cwd, join(home, "door"))
  expect(isTrusted(join(home, "door", "quartermaster.yml"), home)).toBe(true)
})

test("pins are private, written atomically, and do not replace each other", () => {
  const { home, write } = makeFolders()
  const files = ["a/quartermaster.yml", "b/quartermaster.yml"].map((name) => write(name, "{}"))
  for (const file of files) trust(file, home, {})
  const folder = join(home, ".config", "quartermaster")
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, "trusted.json")).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(["trusted.json"])
  expect(Object.keys(JSON.parse(readFileSync(join(folder, "trusted.json"), "utf8")))).toEqual(files)
})

test.each(["", "{", "[]", '{"/x": {"sha256": "short", "local": null}}', '{"/x": true}'])(
  "pins that read %j are an error, not a trust",
  (text) => {
    const { home, write } = makeFolders()
    const file = write("quartermaster.yml", "{}")
    trust(file, home, {})
    const pins = join(home, ".config", "quartermaster", "trusted.json")
    writeFileSync(pins, text)
    const problems = [() => isTrusted(file, home), () => trust(file, home, {}), () => untrust(file, home)].map(
      problemsOf,
    )
    expect(problems.flat()).toHaveLength(3)
    expect(problems.flat().every((problem) => problem.file === pins)).toBe(true)
    expect(readFileSync(pins, "utf8")).toBe(text)
  },
)

test("nothing is trusted from inside a tool", () => {
  const { home, write } = makeFolders()
  const file = write("quartermaster.yml", "{}")
  const problems = problemsOf(() => trust(file, home, { QM_INSIDE: "1" }))
  expect(problems).toMatchObject([{ file, sentence: expect.stringContaining("in your own terminal") }])
  expect(isTrusted(file, home)).toBe(false)
})

test("a file that does not exist cannot be trusted", () => {
  const { cwd, home } = makeFolders()
  expect(problemsOf(() => trust(join(cwd, "quartermaster.yml"), home, {}))).toHaveLength(1)
})

test("a pin that cannot be written leaves the old pins as they were", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", "{}")
  trust(file, home, {})
  const folder = join(home, ".config", "quartermaster")
  const before = readFileSync(join(folder, "trusted.json"), "utf8")
  renameSync(join(folder, "trusted.json"), join(cwd, "kept.json"))
  mkdirSync(join(folder, "trusted.json"))
  expect(problemsOf(() => trust(file, home, {}))).toHaveLength(1)
  expect(readFileSync(join(cwd, "kept.json"), "utf8")).toBe(before)
})

test("qm trust shows no secrets, only where they come from", () => {
  const { cwd, home, write } = makeFolders()
  write(
    "quartermaster.yml",
    `tools: { webSearch: { provider: tavily, apiKey: hunter2 } }
mcpServers:
  tickets: { url: "https://tickets.example/mcp", headers: { Authorization: "Bearer hunter2", X-Key: "\${KEY}" } }
  files: { command: serve, env: { API_TOKEN: "\${TOKEN:-hunter2}", LEVEL: info } }
`,
  )
  const env = { KEY: "hunter2", TOKEN: "hunter2" }
  const shown = examineConfig(undefined, { cwd, home, env }).allows.join("\n")
  expect(shown).not.toContain("hunter2")
  expect(shown).toContain('"provider":"tavily","apiKey":"***"')
  expect(shown).toContain("connects to: https://tickets.example/mcp with ")
  expect(shown).toContain('"Authorization":"***","X-Key":"${KEY}"')
  expect(shown).toContain("starts the program: serve with ")
  expect(shown).toContain('"LEVEL":"info"')
})

test("qm trust shows a line for each rule, allow rules first, then what is started, then the rest", () => {
  const { cwd, home, write } = makeFolders()
  write(
    "quartermaster.yml",
    `agent: dev
org: { roles: [{ name: coder, toolGroups: [workspace, code] }], agents: [{ id: dev, role: coder }] }
plugins: [./mine.mjs]
mcpServers: { files: { command: npx, args: ["-y", "a b"] } }
rules:
  - { deny: http_post, because: "\${WHY:-No.}" }
  - { allow: write_file, touching: ["write:docs/**"], because: "Is reviewed.\\n  deny everything" }
`,
  )
  expect(examineConfig(undefined, { cwd, home, env: {} }).allows).toEqual([
    String.raw`allow write_file, touching write:docs/**: Is reviewed.\u{a}  deny everything`,
    "deny http_post: ${WHY:-No.}",
    "starts the program: ./mine.mjs (plugins)",
    "starts the program: npx -y 'a b' (mcpServers.files)",
    'agent: "dev"',
    "role coder, toolGroups workspace or code",
    "agent dev, role coder",
  ])
})
