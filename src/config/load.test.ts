import fc from "fast-check"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { loadConfig } from "./load.ts"
import { makeFolders, problemsOf } from "./testing.ts"
import { trust } from "./trust.ts"

test("without a file the configuration is empty and the data folder is in the working folder", () => {
  const { cwd, home } = makeFolders()
  expect(loadConfig({ cwd, home, env: {} })).toEqual({
    config: {},
    files: [],
    dataDir: join(cwd, ".quartermaster"),
    workspace: cwd,
    warnings: [],
    trusted: true,
    ignored: [],
    ignoredAgents: [],
    permissions: { trusted: {}, untrusted: {} },
    permissionSources: {},
    unset: { servers: {}, models: {}, databases: {}, webSearch: [] },
    ruleSources: [],
  })
})

test("the search takes the given path, then QM_CONFIG, then the working folder, then the user's own", () => {
  const { cwd, home, write, ownFile } = makeFolders()
  const env = { QM_CONFIG: "by-environment.yml" }
  const agentOf = (options: object) => loadConfig({ cwd, home, env: {}, ...options }).config.agent
  write(ownFile, "agent: own")
  expect(agentOf({})).toBe("own")
  for (const name of ["quartermaster.json", "quartermaster.yaml", "quartermaster.yml"]) {
    trust(write(name, `{"agent": "${name}"}`), home, {})
    expect(agentOf({})).toBe(name)
  }
  write("by-environment.yml", "agent: environment")
  expect(agentOf({ env })).toBe("environment")
  write("by-path.yml", "agent: path")
  expect(agentOf({ env, configPath: "by-path.yml" })).toBe("path")
})

test("a second file in the same folder is reported", () => {
  const { cwd, home, write } = makeFolders()
  write("quartermaster.yml", "tools: { timeout: 5 }")
  write("quartermaster.json", "{}")
  expect(loadConfig({ cwd, home, env: {} }).warnings).toEqual([
    expect.stringMatching(/quartermaster\.json is not read/),
  ])
})

test("the last layer that sets a key wins: file, local file, environment, flags", () => {
  const layers = ["file", "local", "environment", "flags"] as const
  const { home, cwd, write } = makeFolders()
  let turn = 0
  fc.assert(
    fc.property(fc.subarray([...layers]), fc.shuffledSubarray([1, 2, 3, 4], { minLength: 4 }), (said, values) => {
      const folder = `turn${turn++}`
      const value = (layer: (typeof layers)[number]) => values[layers.indexOf(layer)] ?? 0
      const text = (layer: (typeof layers)[number]) =>
        said.includes(layer) ? `tools: { timeout: ${value(layer)} }` : ""
      write(`${folder}/quartermaster.local.yml`, text("local"))
      trust(write(`${folder}/quartermaster.yml`, text("file")), home, {})
      const { config } = loadConfig({
        cwd: join(cwd, folder),
        home,
        env: said.includes("environment") ? { QM_TOOLS__TIMEOUT: `${value("environment")}` } : {},
        overrides: said.includes("flags") ? { "tools.timeout": `${value("flags")}` } : {},
      })
      const last = said.at(-1)
      expect(config.tools?.timeout).toBe(last && value(last))
    }),
    { numRuns: 100 },
  )
})

test("rules know where they are written; a later layer's rules replace earlier ones, like every list", () => {
  const { cwd, home, write } = makeFolders()
  const rules = (...tools: string[]) => JSON.stringify({ rules: tools.map((deny) => ({ deny, because: "So." })) })
  const configPath = write("q.yml", rules("one", "two"))
  const load = (env = {}, overrides = {}) => {
    const { config, ruleSources } = loadConfig({ cwd, home, env, overrides, configPath })
    return (config.rules ?? []).map(({ deny }, index) => `${deny} ${ruleSources[index]}`)
  }
  expect(load()).toEqual(["one q.yml rules[0]", "two q.yml rules[1]"])
  write("quartermaster.local.yml", rules("three"))
  expect(load()).toEqual(["three quartermaster.local.yml rules[0]"])
  const four = "[{ deny: four, because: So. }]"
  expect(load({ QM_RULES: four })).toEqual(["four environment rules[0]"])
  expect(load({ QM_RULES: four }, { rules: "[]" })).toEqual([])
})

test.each([
  ["data: kept", {}, {}, "work/kept"],
  ["data: { dir: ./kept }", {}, {}, "work/kept"],
  ["data: { dir: kept }", { QUARTERMASTER_DATA: "other" }, {}, "work/sub/other"],
  ["data: kept", { QM_DATA__DIR: "other" }, {}, "work/sub/other"],
  ["data: kept", { QUARTERMASTER_DATA: "other" }, { "data.dir": "third" }, "work/sub/third"],
  ["data: /kept", {}, {}, "/kept"],
  ["data: ${PLACE:-5}", {}, {}, "work/5"],
  ["data: { durability: power }", {}, {}, "work/.quartermaster"],
])("the data folder of %j with %j and %j is %s", (text, env, overrides, expected) => {
  const { cwd, home, write } = makeFolders()
  write("quartermaster.yml", text)
  mkdirSync(join(cwd, "sub"))
  const { dataDir } = loadConfig({ cwd: join(cwd, "sub"), home, env, overrides, configPath: "../quartermaster.yml" })
  expect(dataDir).toBe(expected.startsWith("/") ? expected : join(cwd, "..", expected))
})

test("with the user's own file the data folder is still in the working folder, unless the file sets it", () => {
  const { cwd, home, write, ownFile } = makeFolders()
  write(ownFile, "agent: ada")
  expect(loadConfig({ cwd, home, env: {} }).dataDir).toBe(join(cwd, ".quartermaster"))
  write(ownFile, "data: kept")
  expect(loadConfig({ cwd, home, env: {} }).dataDir).toBe(join(home, ".config/quartermaster/kept"))
})

test("variables are replaced from the environment, in JSON too", () => {
  const { cwd, home, write } = makeFolders()
  write("q.json", '{"agent": "${WHO}", "tools": {"timeout": "${LIMIT:-7}", "enabled": ["${WHO}-$${x}"]}}')
  const { config } = loadConfig({ cwd, home, env: { WHO: "ada" }, configPath: "q.json" })
  expect(config).toEqual({ agent: "ada", tools: { timeout: 7, enabled: ["ada-${x}"] } })
})

test("what needs a variable that is not set is left out with a warning and its place; the rest loads", () => {
  const { cwd, home, write } = makeFolders()
  const file = write(
    "q.yml",
    [
      "mcpServers:",
      '  tickets: { url: "https://t.example", headers: { Authorization: "Bearer ${TICKETS}" } }',
      "  files: { command: npx }",
      "tools: { webSearch: { provider: tavily, apiKey: '${TAVILY}' } }",
      "telemetry: { enabled: '${TRACES}', content: true }",
    ].join("\n"),
  )
  const { config, unset, warnings } = loadConfig({ cwd, home, env: {}, configPath: file })
  expect(config).toEqual({
    mcpServers: { files: { command: "npx" } },
    tools: { webSearch: { provider: "tavily" } },
    telemetry: { content: true },
  })
  expect(unset).toEqual({ servers: { tickets: ["TICKETS"] }, models: {}, databases: {}, webSearch: ["TAVILY"] })
  expect(warnings.map((text) => /q\.yml:(\d+):\d+: .* variable (\w+) is not set/.exec(text)?.slice(1))).toEqual([
    ["2", "TICKETS"],
    ["4", "TAVILY"],
    ["5", "TRACES"],
  ])
  const env = { TICKETS: "a", TAVILY: "b", TRACES: "true" }
  expect(loadConfig({ cwd, home, env, configPath: file })).toMatchObject({
    config: { mcpServers: { tickets: { headers: { Authorization: "Bearer a" } } }, telemetry: { enabled: true } },
    unset: { servers: {}, models: {}, databases: {}, webSearch: [] },
    warnings: [],
  })
})

test("a mistake beside a variable that is not set is still a problem", () => {
  const { cwd, home, write } = makeFolders()
  const configPath = write("q.yml", "mcpServers: { a: { url: '${URL}', colour: red } }")
  expect(problemsOf(() => loadConfig({ cwd, home, env: {}, configPath }))).toMatchObject([
    { key: "mcpServers.a.colour" },
  ])
})

test("a permission knows the line it is written in; a later layer's line replaces an earlier one", () => {
  const { cwd, home, write } = makeFolders()
  const configPath = write("q.yml", "tools:\n  permissions:\n    sleep:\n      level: moderate\n      minLevel: 2\n")
  const sources = (env = {}) => loadConfig({ cwd, home, env, configPath }).permissionSources
  expect(sources()).toEqual({
    sleep: { level: "q.yml:4 tools.permissions.sleep.level", minLevel: "q.yml:5 tools.permissions.sleep.minLevel" },
  })
  write("quartermaster.local.yml", "tools: { permissions: { sleep: { level: sensitive } } }")
  expect(sources({ QM_TOOLS__PERMISSIONS__SLEEP__MIN_LEVEL: "3" })).toEqual({
    sleep: {
      level: "quartermaster.local.yml:1 tools.permissions.sleep.level",
      minLevel: "environment tools.permissions.sleep.minLevel",
    },
  })
})

test("sections left empty are empty, in every layer", () => {
  const { cwd, home, write } = makeFolders()
  write("quartermaster.local.yml", "tools:\n  permissions:\n    sleep:\norg:\n")
  const configPath = write("q.yml", "tools: { timeout: 5 }")
  expect(loadConfig({ cwd, home, env: {}, configPath }).config).toEqual({
    tools: { timeout: 5, permissions: { sleep: {} } },
    org: {},
  })
})

test("all problems of all layers are reported at once, each with its place", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", "agent: 5\ntools:\n  timout: 1\n  timeout: ${LIMIT}\nagent: a\n")
  const local = write("quartermaster.local.yml", "org:\n  agents:\n    - id: ada\nmodel: {}\n")
  const env = { QM_TOOLS__TIMEOUT: "soon" }
  const overrides = { "data.durability": "forever" }
  expect(() => loadConfig({ cwd, home, env, overrides, configPath: file })).toThrow(
    [
      `${file}:5:1: 'agent' is written twice here. Keep one of them.`,
      `${file}:4:12: The environment variable LIMIT is not set. Set it, or write \${LIMIT:-default}.`,
      `${file}:3:3: 'tools.timout' is not a key of the configuration. Did you mean 'tools.timeout'?`,
      `${local}:3:7: 'org.agents[0].role' is missing. Add it.`,
      `${local}:4:1: 'model' is not a key of the configuration. Did you mean 'models'?`,
      "QM_TOOLS__TIMEOUT: 'tools.timeout' cannot be of type string. Write a number instead.",
      "flag data.durability: 'data.durability' has a value that is not allowed. Write one of: crash, power.",
    ].join("\n"),
  )
})

test.each([
  ["missing.yml", "does not exist"],
  [".", "is not a file"],
  ["large.yml", "is larger than"],
  ["latin.yml", "is not UTF-8"],
  ["loop.yml", /cannot be read \(ELOOP\)/],
  // Newer versions of Node say only that it is not there.
  ["large.yml/below.yml", /cannot be read \(ENOTDIR\)|does not exist/],
])("the given file %s is refused because it %s", (configPath, words) => {
  const { cwd, home, write } = makeFolders()
  write("large.yml", `# ${"x".repeat(300_000)}`)
  writeFileSync(join(cwd, "latin.yml"), Buffer.from("agent: Zo\u00eb", "latin1"))
  symlinkSync("loop.yml", join(cwd, "loop.yml"))
  const problems = problemsOf(() => loadConfig({ cwd, home, env: {}, configPath }))
  expect(problems).toMatchObject([{ file: join(cwd, configPath), sentence: expect.stringMatching(words) }])
})

test("a control character of a file does not reach the terminal", () => {
  const { cwd, home, write } = makeFolders()
  write("quartermaster.yml", '"\\e[2J": 1')
  expect(problemsOf(() => loadConfig({ cwd, home, env: {} }))[0]?.sentence).toContain("'\\u{1b}[2J'")
})

test.each([
  ["enabled: [sleep, http_get]", "enabled: [sleep]", { enabled: ["sleep"] }],
  ["enabled: [http_get]", "timeout: 5000", { enabled: ["http_get"] }],
  ["allowedExtensions: [.sh]", "allowedExtensions: [.md]", { allowedExtensions: [".md"] }],
  ["allowedExtensions: []", "allowedExtensions: [.md]", { allowedExtensions: [".md"] }],
])("an untrusted '%s' beside the user's '%s' does not widen it", (theirs, own, expected) => {
  const { cwd, home, write, ownFile } = makeFolders()
  write("quartermaster.yml", `tools: { ${theirs} }`)
  write(ownFile, `tools: { ${own} }`)
  expect(loadConfig({ cwd, home, env: {} }).config.tools).toMatchObject(expected)
})
