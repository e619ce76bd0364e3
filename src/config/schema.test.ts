import { expect, test } from "vitest"
import { checkConfig } from "./check-configuration.ts"
import { allKeys } from "./schema-path.ts"
import { configJsonSchema, defaults } from "./schema.ts"

const everyKey = {
  data: { dir: "kept", durability: "power" },
  agent: "ada",
  tools: {
    enabled: ["sleep"],
    timeout: 5000,
    maxConcurrent: 2,
    shell: { sandbox: "off", limits: { memoryMb: 8192, fileMb: 1, processes: 9, tmpMb: 2 } },
    trash: { days: 1, maxMb: 5 },
    permissions: {
      sleep: {
        level: "moderate",
        requireExecutionApproval: true,
        requireResultApproval: "on-error",
        dangerous: false,
        requireConfirmation: false,
        allowedRoles: ["developer"],
        allowedDepartments: ["engineering"],
        minLevel: 1,
        rateLimit: { maxCallsPerMinute: 1, maxCallsPerHour: 2 },
      },
    },
  },
  agents: { maxConcurrentTools: 4 },
  org: {
    roles: [
      { id: "r", name: "R", rolePrompt: "", toolGroups: null, department: "d", level: 1, pins: { sleep: "1.0.0" } },
      { name: "S", toolGroups: ["data"], dialect: "claude", llmServiceId: null },
    ],
    people: [{ id: "p", name: "P", roles: ["lead"], tokenHash: "0a".repeat(32), tokenExpiresAt: "2027-01-31" }],
    agents: [{ id: "a", role: "R", department: "d", level: 1, parent: "root", pins: {} }],
    departments: [{ id: "d", name: "D" }],
    levelOrder: "desc",
    defaultToolGroups: ["data"],
  },
  approvals: { deadline: 0.5, unattended: "reject", inClient: "none" },
  hooks: { askInClient: true },
  mcpServers: {
    files: { command: "npx", args: ["-y", "x"], env: { A: "1" }, cwd: ".", type: "stdio", layer: "department:d" },
    far: { url: "https://a.example/mcp", headers: { B: "2" }, transport: "streamable-http", disabled: true },
    more: {
      url: "http://b.example",
      enabled: true,
      layer: "agent:a",
      prefix: false,
      trust: "ask",
      trustReadOnly: true,
      timeout: 5,
    },
    last: { url: "http://b.example", layer: "system", sampling: "caller", roots: "caller", connectTimeout: 5 },
  },
  server: {
    host: "::1",
    port: 0,
    publicUrl: "https://a.example",
    allowedHosts: ["a.example"],
    allowedOrigins: ["https://b.example"],
    maxBodyBytes: 9,
  },
  models: {
    default: "local",
    local: {
      provider: "openai-compatible",
      baseUrl: "http://127.0.0.1:11434/v1",
      model: "qwen3",
      apiKey: "${LOCAL_KEY:-}",
      contextTokens: 32_768,
      maxOutputTokens: 4096,
      price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 },
      streamTools: false,
      timeout: 5000,
      firstByteTimeout: 1000,
    },
    demo: { provider: "scripted", script: "demo.yml" },
  },
  databases: {
    shop: { url: "sqlite:./shop.db", description: "Orders" },
    crm: { url: "postgres://a:b@c.example/crm", readOnly: true, roles: ["analyst"] },
  },
  notify: [
    { webhook: "https://chat.example/hook?a=b", person: "p" },
    { command: ["notify-send", "waits"] },
    { command: "date >x" },
  ],
}

test("one schema holds every key of this version and changes none of them", () => {
  expect(checkConfig(everyKey)).toEqual({ config: everyKey, flaws: [] })
})

test("by default a tool may run 30000 ms and three tools run at once", () => {
  expect(defaults.tools).toMatchObject({ timeout: 30_000, maxConcurrent: 3 })
  expect(defaults.agents.maxConcurrentTools).toBe(3)
})

const designed = `workspace data agent modules plugins mcpServers rules notify experiments models server approvals
  tools.workspaceDir tools.mcpServers tools.enabled tools.timeout tools.maxConcurrent tools.allowedPaths
  tools.protectedPaths tools.maxFileSize tools.allowedExtensions tools.shell tools.hosts tools.webSearch
  tools.permissions agents.maxConcurrentTools org.people org.roles org.departments org.agents org.levelOrder
  org.defaultToolGroups`

test("a wrong key of a condition is refused with the keys that a condition has", () => {
  const { flaws } = checkConfig({ rules: [{ deny: "x", because: "y", args: { "/amount": { atMost: 3 } } }] })
  expect(flaws.map(({ sentence }) => sentence)).toContain(
    "'rules[0].args./amount.atMost' is not a key of the configuration. Known here: above, below, oneOf, not.",
  )
})

test("every key of the design works", () => {
  const known = allKeys().map((path) => path.join("."))
  expect(designed.split(/\s+/).filter((key) => !known.includes(key))).toEqual([])
})

test.each([
  [{ tols: {} }, "'tols' is not a key of the configuration. Did you mean 'tools'?"],
  [{ tools: { time_out: 1 } }, "'tools.time_out' is not a key of the configuration. Did you mean 'tools.timeout'?"],
  [{ nope: 1 }, "'nope' is not a key of the configuration. Known here: "],
  [{ rolez: [] }, "'rolez' is not a key of the configuration. Did you mean 'org.roles'?"],
  [
    { agents: { zzz: 1 } },
    "'agents.zzz' is not a key of the configuration. Known here: maxConcurrentTools, maxRounds,",
  ],
  [{ tools: { permissions: { sleep: { minlevel: 1 } } } }, "Did you mean 'tools.permissions.sleep.minLevel'?"],
  [{ constructor: 1 }, "'constructor' is not a key"],
  [{ tools: { timeout: "soon" } }, "'tools.timeout' cannot be of type string. Write a number instead."],
  [{ tools: { timeout: 1.5 } }, "Write a whole number instead."],
  [{ tools: { timeout: 0 } }, "'tools.timeout' is too small. Write a number of at least 1."],
  [{ tools: { timeout: 600_001 } }, "'tools.timeout' is too large. Write a number of at most 600000."],
  [{ approvals: { deadline: 0 } }, "'approvals.deadline' is too small. Write a number above 0."],
  [{ data: { durability: "forever" } }, "Write one of: crash, power."],
  [
    { tools: { enabled: "sleep" } },
    "'tools.enabled' cannot be of type string. Write a list such as [one, two] instead.",
  ],
  [{ org: { agents: [{ id: "a" }] } }, "'org.agents[0].role' is missing. Add it."],
  [{ org: { roles: [{ name: "r", dialect: "pirate" }] } }, "Write one of: native, claude, classic."],
  [
    { org: { people: [{ id: "p", tokenHash: "secret" }] } },
    "'org.people[0].tokenHash' is not right: it must be 64 hexadecimal digits.",
  ],
  [{ notify: [{ webhok: "http://a.example", command: "date" }] }, "Did you mean 'notify[0].webhook'?"],
  [{ notify: [{}] }, "'notify[0]' is not right: it must have either a webhook or a command."],
  [{ notify: [{ webhook: "http://a.example", command: "date" }] }, "must have either a webhook or a command."],
  [{ notify: [{ webhook: "file:///etc/passwd" }] }, "'notify[0].webhook' is not right: it must be a URL"],
  [{ notify: [{ command: [] }] }, "'notify[0].command' is an empty list. Write at least one."],
  [{ notify: [{ command: 5 }] }, "'notify[0].command' is not right: it must be a text for the shell"],
  [{ agent: "" }, "'agent' is empty. Write a text of at least one character."],
  [{ tools: { permissions: { "": {} } } }, "has an empty name. Write a name before the colon."],
  [["a"], "The configuration cannot be of type array. Write keys with values instead."],
  [{ rules: [{ deny: "sleep" }] }, "'rules[0].because' is missing. Add it."],
  [{ rules: [{ deny: "a", becuase: "b", because: "c" }] }, "Did you mean 'rules[0].because'?"],
  [{ rules: [{ deny: "[", because: "c" }] }, "'rules[0].deny' is not right: '[' has a '['"],
  [{ rules: [{ deny: "a", allow: "a", because: "c" }] }, "'rules[0]' is not right: it has allow and deny"],
  [{ rules: [{ deny: "a", because: "c", role: [] }] }, "'rules[0].role' is an empty list. Write at least one."],
  [{ rules: [{ ask: "a", because: "c", approvers: { cout: 1 } }] }, "Did you mean 'rules[0].approvers.count'?"],
])("%j is refused with a sentence that says what to do", (value, sentence) => {
  expect(checkConfig(value).flaws.map((flaw) => flaw.sentence)).toEqual([expect.stringContaining(sentence)])
})

test.each([
  ["https://tools.example", true],
  ["https://tools.example:8443/", true],
  ["http://127.0.0.1:7420", true],
  ["http://localhost:7420", true],
  ["http://tools.example", false],
  ["http://127.0.0.1.evil.example", false],
  ["ftp://tools.example", false],
  ["tools.example", false],
  ["https://tools.example/qm", false],
  ["https://a:b@tools.example", false],
])("server.publicUrl may be %s: %s", (publicUrl, isRight) => {
  const flaws = checkConfig({ server: { publicUrl } }).flaws.map(({ sentence }) => sentence)
  const wrong = expect.stringContaining("'server.publicUrl' is not right: it must be an https address without a path")
  expect(flaws).toEqual(isRight ? [] : [wrong])
})

test("every problem is reported, not only the first", () => {
  expect(checkConfig({ tols: 1, agent: 5, tools: { timeout: 0, shel: {} } }).flaws).toHaveLength(4)
})

test("the JSON Schema wants exactly one verdict of a rule, and a reason", () => {
  expect(configJsonSchema()).toMatchObject({
    properties: {
      rules: {
        type: "array",
        items: {
          required: ["because"],
          additionalProperties: false,
          oneOf: [{ required: ["allow"] }, { required: ["ask"] }, { required: ["deny"] }],
        },
      },
    },
  })
})

test("the JSON Schema describes every key, forbids others and lets data be a plain text", () => {
  const json = configJsonSchema()
  const undescribed: string[] = []
  const visit = (node: unknown, path: string): void => {
    if (typeof node !== "object" || node === null) return
    for (const [key, part] of Object.entries((node as { properties?: object }).properties ?? {})) {
      if (!(part as { description?: string }).description) undescribed.push(`${path}.${key}`)
    }
    for (const [key, part] of Object.entries(node)) visit(part, `${path}.${key}`)
  }
  visit(json, "")
  expect(undescribed).toEqual([])
  expect(json).toMatchObject({
    additionalProperties: false,
    properties: { data: { anyOf: [{ type: "string" }, { type: "object", additionalProperties: false }] } },
  })
})
