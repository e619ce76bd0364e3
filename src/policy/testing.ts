import fc from "fast-check"
import { z } from "zod"
import { defineTool } from "../schema/define-tool.ts"
import { sessionModes, type AgentView, type Role, type SessionMode } from "../core/organisation.ts"
import { effects } from "../core/permission.ts"
import { canonicalJson, sha256 } from "../lib/canonical-json.ts"
import type { DecisionInput } from "./rules/decision-input.ts"
import { grantScopes, type ArgumentCondition, type ArgumentValue, type Grant, type Rule } from "../core/rule.ts"
import { type Touch } from "../core/touches.ts"
import type { RegisteredTool, ToolSpec } from "../core/tool.ts"
import type { RuleTools } from "./rules/conditions.ts"

/* Few names, so that random rules and calls often nearly match. */

export const groupIds = ["workspace", "network", "data"] as const
const roleNames = ["developer", "tester", "lead"] as const
const departments = ["north", "south"] as const
const agentIds = ["ada", "bob", "cleo", "dan"] as const

/** A registered tool; with `touches: true` one that declares what it touches. */
export function registered(spec: Partial<Omit<ToolSpec, "touches">> & { touches?: boolean } = {}): RegisteredTool {
  const { touches = false, ...rest } = spec
  const tool = defineTool({
    name: "probe",
    group: "data",
    description: "A tool of a test.",
    input: z.object({}),
    execute: () => undefined,
    ...(touches ? { touches: () => [] } : {}),
    ...rest,
  })
  const definitionHash = sha256(canonicalJson([tool.name, tool.effect, tool.permission]))
  return { ...tool, id: `system:${tool.name}@1.0.0`, type: "custom", layer: "system", enabled: true, definitionHash }
}

export function role(name: string, change: Partial<Role> = {}): Role {
  return {
    id: `role-${name}`,
    name,
    rolePrompt: "",
    status: "active",
    llmServiceId: null,
    toolGroups: null,
    createdBy: "configuration",
    madeBy: "configuration",
    createdAt: "2026-01-01T00:00:00.000Z",
    ...change,
  }
}

type AgentChange = Partial<Omit<AgentView, "role">> & { id?: string; role?: Role | string }

export function agent({ id = "ada", role: given = "developer", ...change }: AgentChange = {}): AgentView {
  const its = typeof given === "string" ? role(given) : given
  const made = { createdBy: "configuration", madeBy: "configuration", createdAt: its.createdAt } as const
  return {
    agent: { id, roleId: its.id, status: "active", ...made },
    role: its,
    level: 0,
    groups: its.toolGroups,
    pins: {},
    ancestors: [],
    ...change,
  }
}

const aliases: Readonly<Record<string, string>> = { Read: "read_file", Fetch: "http_get" }

/** A registry in which a tool is in the group it names. */
export const tools: RuleTools & { inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean } = {
  canonical: (name) => aliases[name] ?? name,
  inGroups: (tool, groups) =>
    groups === null || (tool.sameNameTools ?? [tool]).every(({ group }) => groups.includes(group)),
}

let rules = 0

export function rule(verdict: Rule["verdict"], tool: string, change: Partial<Rule> = {}): Rule {
  const id = `r${rules++}`
  return { id, verdict, tool, because: `Reason ${id}.`, source: `rule ${id}`, ...change }
}

export const now = Date.UTC(2026, 0, 1)

export function facts(change: Partial<DecisionInput> = {}): DecisionInput {
  return {
    who: agent(),
    tool: registered(),
    input: {},
    touches: { list: [], proved: true },
    limit: { ok: true },
    sessionId: "s1",
    taskId: "t1",
    workspace: "/work",
    at: now,
    ...change,
  }
}

/** The same call, held by bubblewrap. */
export const heldCall = (call: DecisionInput): DecisionInput => ({
  ...call,
  findings: [
    {
      verdict: "allow",
      sandboxed: true,
      reason: { check: "guard", source: "tools.shell.mode", code: "test", sentence: "Bubblewrap holds it." },
    },
  ],
})

/** The same call, held by bubblewrap, of a command that visibly deletes. */
export const deletingCall = (call: DecisionInput): DecisionInput => ({
  ...call,
  findings: heldCall(call).findings!.map((finding) => ({ ...finding, verdict: "ask", isLiftable: true })),
})

/** A yes to exactly this call, in the widest scope unless the test says otherwise. */
export function grantFor(call: DecisionInput, change: Partial<Grant> = {}): Grant {
  return {
    id: "g1",
    verdict: "allow",
    scope: "tool-always",
    agentId: call.who.agent.id,
    tool: call.tool.name,
    definitionHash: call.tool.definitionHash,
    workspace: call.workspace,
    sessionId: call.sessionId,
    taskId: call.taskId,
    inputDigest: sha256(canonicalJson(call.input)),
    touches: call.touches.list,
    by: "ann",
    createdAt: call.at - 1,
    expiresAt: call.at + 1,
    words: "As it was shown.",
    ...change,
  }
}

const some = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 })
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 })

export const toolNames = ["read_file", "write_file", "http_get", "http_post", "probe"] as const

const someSingleTool: fc.Arbitrary<RegisteredTool> = fc
  .record({
    name: fc.constantFrom(...toolNames),
    group: fc.constantFrom(...groupIds),
    effect: maybe(fc.constantFrom(...effects)),
    kind: fc.constantFrom("plain" as const, "plain" as const, "interactive" as const),
    touches: fc.boolean(),
    level: fc.constantFrom("public" as const, "moderate" as const, "sensitive" as const),
    requireExecutionApproval: maybe(fc.boolean()),
  })
  .map(({ level, requireExecutionApproval, effect, ...rest }) =>
    registered({
      ...rest,
      ...(effect === undefined ? {} : { effect }),
      permission: { level, ...(requireExecutionApproval === undefined ? {} : { requireExecutionApproval }) },
    }),
  )

/** Some of them hide another of their name. */
export const someTool: fc.Arbitrary<RegisteredTool> = fc
  .tuple(someSingleTool, fc.option(someSingleTool, { nil: undefined, freq: 2 }))
  .map(([tool, below]) =>
    below === undefined ? tool : { ...tool, sameNameTools: [tool, { ...below, name: tool.name }] },
  )

const someRole = fc
  .record({
    name: fc.constantFrom(...roleNames),
    madeBy: fc.constantFrom("configuration" as const, "person" as const, "agent" as const),
    toolGroups: fc.option(fc.subarray([...groupIds]), { nil: null }),
  })
  .map(({ name, ...change }) => role(name, change))

const someView = fc
  .record({
    id: fc.constantFrom(...agentIds),
    role: someRole,
    department: maybe(fc.constantFrom(...departments)),
    level: fc.integer({ min: 0, max: 2 }),
  })
  .map(agent)

export const someAgent = fc
  .record({ view: someView, ancestors: fc.array(someView, { maxLength: 2 }) })
  .map(({ view, ancestors }): AgentView => ({ ...view, ancestors }))

const texts = {
  read: ["docs", "docs/a.md", "docs/x/b.md", "src/a.ts", ".env", "docs2/a.md", "./docs//a.md", "docs/../.env", "/work/docs/a.md", "/etc/passwd", "../x/.env", "docs/$A", ".", "DOCS/a.md", "Docs/X"], // prettier-ignore
  command: ["rm x", "rm -rf /", "git status", "farm x"],
  host: ["example.com", "api.example.com", "evilexample.com", "API.Example.com.", "example.org"],
  database: ["shop", "crm", "crm2"],
}

export const someTouch: fc.Arbitrary<Touch> = fc.oneof(
  fc.record({ kind: fc.constantFrom("read" as const, "write" as const), what: fc.constantFrom(...texts.read) }),
  fc.record({ kind: fc.constant("command" as const), what: fc.constantFrom(...texts.command) }),
  fc.record({ kind: fc.constant("host" as const), what: fc.constantFrom(...texts.host) }),
  fc.record({ kind: fc.constant("database" as const), what: fc.constantFrom(...texts.database) }),
)

const somePattern = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("file", "read", "write"),
      fc.constantFrom(
        "docs/**",
        "docs/*",
        "docs",
        "**",
        "**/*.md",
        "**/.env",
        "src/a.ts",
        "[ds]*/**",
        "/work/docs/**",
        "/**",
        "/etc/*",
        "DOCS/**",
      ),
    )
    .map((parts) => parts.join(":")),
  fc.constantFrom(
    "command:rm *",
    "command:*",
    "command:git status",
    "host:*.example.com",
    "host:example.com",
    "host:*",
    "database:crm",
    "database:crm*",
  ),
)

export const someInput = fc.record(
  {
    path: fc.oneof(fc.constantFrom(...texts.read), fc.constantFrom(null, 1, true)),
    n: fc.constantFrom<unknown>(
      0,
      1,
      2,
      1e21,
      -1,
      "1",
      " 2 ",
      "1e21",
      "",
      "lots",
      "true",
      null,
      true,
      [1, 5],
      ["1"],
      [],
      { a: 2 },
      {},
    ),
    list: fc.oneof(fc.subarray(["a", "b", "c"]), fc.constantFrom([["a"]], [1], "a")),
    deep: fc.record({ "x/y": fc.constantFrom("a", "ab", { b: 1, a: 2 }) }, { requiredKeys: [] }),
    require_confirmation: fc.constantFrom(false, true, "true"),
  },
  { requiredKeys: [] },
)

const someValue = fc.constantFrom<ArgumentValue>(0, 1, 2, "1", "a*", "?", "lots", true, null)

export const someCondition: fc.Arbitrary<ArgumentCondition> = fc
  .record(
    {
      above: fc.constantFrom(-1, 0, 1, 1e20),
      below: fc.constantFrom(0, 2, 1e22),
      oneOf: fc.array(someValue, { minLength: 1, maxLength: 2 }),
      not: fc.oneof(someValue, fc.array(someValue, { minLength: 1, maxLength: 2 })),
    },
    { requiredKeys: [] },
  )
  .filter((given) => Object.keys(given).length > 0)

const someArguments = fc
  .dictionary(
    fc.constantFrom("/path", "/n", "/list", "/list/0", "/deep/x~1y", "/none", ""),
    fc.oneof(
      fc.constantFrom("a", "a*", "*", "docs/*", "1", "null", '["a"]', '{"a":2,"b":1}', "[ab]", "?"),
      someCondition,
    ),
    { maxKeys: 2 },
  )
  .filter((given) => Object.keys(given).length > 0)

const conditions = fc.record({
  role: some([...roleNames, "role-developer"]),
  department: some(departments),
  agent: some(agentIds),
  effect: some(effects),
  touching: fc.array(somePattern, { minLength: 1, maxLength: 2 }),
  args: someArguments,
  except: fc.array(somePattern, { minLength: 1, maxLength: 2 }),
  shadow: fc.boolean(),
  expiresAt: fc.constantFrom(...[now - 1, now, now + 1].map((at) => new Date(at).toISOString())),
})
const terms = fc.record({
  release: maybe(fc.constantFrom("always" as const, "on-error" as const)),
  approvers: maybe(fc.record({ count: fc.integer({ min: 1, max: 3 }) })),
  deadline: maybe(fc.integer({ min: 1, max: 60 })),
})
const conditionNames = [
  "role",
  "department",
  "agent",
  "effect",
  "touching",
  "args",
  "except",
  "shadow",
  "expiresAt",
] as const

/** Rules with few conditions, so that many match. */
export const someRule: fc.Arbitrary<Rule> = fc
  .record({
    verdict: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
    tool: fc.constantFrom(
      ...toolNames,
      "Read",
      "Fetch",
      "group:workspace",
      "group:data",
      "*",
      "http_*",
      "[rw]*_file",
      "prob?",
    ),
    all: conditions,
    used: fc.subarray([...conditionNames], { maxLength: 2 }),
    terms,
  })
  .map(({ verdict, tool, all, used, terms: given }) =>
    rule(verdict, tool, {
      ...Object.fromEntries(used.map((name) => [name, all[name]])),
      ...(verdict === "ask" ? given : {}),
    }),
  )

export const someRules = fc.array(someRule, { maxLength: 6 })

export const someFacts: fc.Arbitrary<DecisionInput> = fc
  .record({
    who: someAgent,
    tool: someTool,
    input: someInput,
    list: fc.array(someTouch, { maxLength: 3 }),
    proved: fc.constantFrom(true, true, false),
    limited: fc.constantFrom(true, true, true, true, false),
    taskId: fc.constantFrom("t1", "t1", undefined),
  })
  .map(({ list, proved, limited, ...rest }) =>
    facts({
      ...rest,
      touches: rest.tool.touches === undefined ? { list: [], proved: true } : { list, proved },
      limit: limited
        ? { ok: true }
        : { ok: false, sentence: "Rate limit exceeded: 1 calls per minute", retryAfterMs: 12_000 },
    }),
  )

export const someMode: fc.Arbitrary<SessionMode> = fc.constantFrom(...sessionModes)

/** Answers that match the call or miss it by one field. */
export function someGrantsFor(call: DecisionInput): fc.Arbitrary<Grant[]> {
  const misses: fc.Arbitrary<Partial<Grant>>[] = [
    fc.record({ agentId: fc.constantFrom(...agentIds) }),
    fc.record({ tool: fc.constantFrom(...toolNames) }),
    fc.record({ sessionId: fc.constantFrom("s1", "s2") }),
    fc.record({ taskId: fc.constantFrom("t1", "t2", undefined) }),
    fc.record({ touches: fc.array(someTouch, { maxLength: 3 }) }),
    fc.record({ expiresAt: fc.constantFrom(null, now, now + 1) }),
  ]
  const grant = fc
    .record({
      verdict: fc.constantFrom("allow" as const, "allow" as const, "deny" as const),
      scope: fc.constantFrom(...grantScopes),
      change: fc.oneof(fc.constant({}), ...misses),
    })
    .map(({ change, ...rest }) => grantFor(call, { ...rest, ...change }))
  return fc.array(grant, { maxLength: 2 }).map((grants) => grants.map((one, index) => ({ ...one, id: `g${index}` })))
}
