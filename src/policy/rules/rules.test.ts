import { expect, test } from "vitest"
import type { DecisionInput } from "./decision-input.ts"
import type { Rule } from "../../core/rule.ts"
import type { Touch } from "../../core/touches.ts"
import { decide } from "../decide/decide.ts"
import { GrantIndex } from "../grants.ts"
import { compileRules } from "./rules.ts"
import { agent, facts, now, registered, role, rule, tools } from "../testing.ts"

const judge = (rules: readonly Rule[], call: Partial<DecisionInput>) =>
  decide(facts(call), compileRules(rules, tools), new GrantIndex(), "ask")

const readFile = registered({ name: "read_file", group: "workspace", effect: "read", touches: true })
const other = registered({ name: "write_file", group: "data", effect: "none", touches: true })
const sensitive = registered({
  name: "read_file",
  group: "workspace",
  effect: "read",
  touches: true,
  permission: { level: "sensitive" },
})
const spawned = (by: ReturnType<typeof agent>) =>
  agent({ id: "kid", role: "tester", ancestors: [agent({ id: "mid", role: "lead" }), by] })
const touching = (...list: [Touch["kind"], string][]) => ({
  touches: { list: list.map(([kind, what]) => ({ kind, what })), proved: true },
})
const made = (name: string) => agent({ role: role(name, { madeBy: "agent" }) })

/** Field, the rule's field, a call it is about, and calls that miss it by just that field. */
const table: [string, Partial<Rule>, Partial<DecisionInput>, Partial<DecisionInput>[]][] = [
  [
    "tool, by name",
    { tool: "read_file" },
    {},
    [{ tool: other }, { tool: registered({ name: "read_files", effect: "none" }) }],
  ],
  ["tool, by alias", { tool: "Read" }, {}, [{ tool: other }, { tool: registered({ name: "Read", effect: "none" }) }]],
  [
    "tool, by group",
    { tool: "group:workspace" },
    {},
    [{ tool: other }, { tool: registered({ name: "workspace", effect: "none" }) }],
  ],
  [
    "tool, by glob",
    { tool: "read_*" },
    {},
    [{ tool: other }, { tool: registered({ name: "xread_file", effect: "none" }) }],
  ],
  [
    "role, by name",
    { role: ["lead", "developer"] },
    { who: agent({ role: "developer" }) },
    [{ who: agent({ role: "developers" }) }, { who: made("developer") }],
  ],
  [
    "role, by id",
    { role: ["role-developer"] },
    { who: agent({ role: "developer" }) },
    [{ who: agent({ role: "tester" }) }, { who: made("developer") }],
  ],
  [
    "role, of a parent",
    { role: ["developer"] },
    { who: spawned(agent({ role: "developer" })) },
    [{ who: spawned(agent({ role: "tester" })) }, { who: spawned(made("developer")) }],
  ],
  [
    "department",
    { department: ["north"] },
    { who: agent({ department: "north" }) },
    [{ who: agent({ department: "south" }) }, { who: agent() }],
  ],
  [
    "agent",
    { agent: ["ada"] },
    { who: agent({ id: "ada" }) },
    [{ who: agent({ id: "ADA" }) }, { who: agent({ id: "bob" }) }],
  ],
  [
    "agent, of a parent",
    { agent: ["ada"] },
    { who: spawned(agent({ id: "ada" })) },
    [{ who: spawned(agent({ id: "bob" })) }],
  ],
  ["effect", { effect: ["read", "write"] }, {}, [{ tool: registered({ name: "read_file", effect: "none" }) }]],
  [
    "effect, of a tool that says none",
    { effect: ["write"] },
    { tool: registered({ name: "read_file", permission: { level: "public" } }) },
    [{ tool: readFile }],
  ],
  [
    "touching, any touch",
    { touching: ["file:docs/**"] },
    touching(["read", "src/a"], ["write", "docs/a"]),
    [touching(["read", "src/a"]), touching(["host", "docs/a"]), touching()],
  ],
  [
    "touching, the folder itself",
    { touching: ["file:docs/**"] },
    touching(["write", "docs"]),
    [touching(["write", "docs2"])],
  ],
  [
    "touching, however the path is written",
    { touching: ["file:docs/**"] },
    touching(["read", "./src/..//docs/./a"]),
    [touching(["read", "docs/../src/a"]), touching(["read", "/docs/a"])],
  ],
  [
    "touching, from the root",
    { touching: ["file:docs/**"] },
    touching(["read", "/work/docs/a"]),
    [touching(["read", "/work/docs/../src"]), touching(["read", "/workdocs/a"])],
  ],
  [
    "touching, a pattern from the root",
    { touching: ["file:/etc/**", "file:/work//src/./**/"] },
    touching(["read", "/tmp/..//etc/passwd"]),
    [touching(["read", "etc/passwd"]), touching(["read", "/etc/../tmp/a"])],
  ],
  [
    "touching, a pattern from the root for what is in the workspace",
    { touching: ["file:/work//src/./**/"] },
    touching(["read", "src/a"]),
    [touching(["read", "docs/a"])],
  ],
  [
    "touching, outside of the workspace",
    { touching: ["file:**/.env"] },
    touching(["read", "../home/.env"]),
    [touching(["read", "../home/env"])],
  ],
  [
    "touching read:",
    { touching: ["read:docs/*"] },
    touching(["read", "docs/a"]),
    [touching(["write", "docs/a"]), touching(["read", "docs/a/b"])],
  ],
  ["touching write:", { touching: ["write:**"] }, touching(["write", "docs/a"]), [touching(["read", "docs/a"])]],
  [
    "touching command:",
    { touching: ["command:rm *"] },
    touching(["command", "git status"], ["command", "rm -rf /"]),
    [touching(["command", "farm x"]), touching(["read", "rm x"])],
  ],
  [
    "touching host:",
    { touching: ["host:*.example.com"] },
    touching(["host", "API.Example.COM."]),
    [
      touching(["host", "example.com"]),
      touching(["host", "evilexample.com"]),
      touching(["host", "api.example.com.evil.org"]),
    ],
  ],
  [
    "args",
    { args: { "/path": "docs/*", "/n": "1" } },
    { input: { path: "docs/a/b", n: 1 } },
    [
      { input: { path: "docs/a", n: 2 } },
      { input: { path: "doc", n: 1 } },
      { input: { n: 1 } },
      { input: {} },
      { input: "docs/a" },
    ],
  ],
  [
    "args, in a list",
    { args: { "/list": "rm *" } },
    { input: { list: ["ls", "rm x"] } },
    [{ input: { list: ["ls"] } }, { input: { list: [] } }],
  ],
  [
    "args, of an object",
    { args: { "/o": '{"a":1,"b":2}' } },
    { input: { o: { b: 2, a: 1 } } },
    [{ input: { o: { a: 1 } } }],
  ],
  [
    "args, within an object",
    { args: { "/o": "rm *" } },
    { input: { o: { a: [{ b: "rm x" }] } } },
    [{ input: { o: { a: [{ b: "ls" }], "rm x": "ls" } } }],
  ],
  [
    "args, below",
    { args: { "/a~1b/~0/0": "x" } },
    { input: { "a/b": { "~": ["x"] } } },
    [{ input: { a: { b: { "~": ["x"] } } } }, { input: { "a/b": { "~": ["y", "x"] } } }],
  ],
  [
    "args, of null",
    { args: { "/path": "null" } },
    { input: { path: null } },
    [{ input: {} }, { input: { path: undefined } }],
  ],
  [
    "args, of the prototype",
    { args: { "/path": "*" } },
    { input: { path: "" } },
    [{ input: Object.create({ path: "x" }) as object }],
  ],
  [
    "except, every touch",
    { except: ["file:docs/**"] },
    touching(["read", "docs/a"], ["read", "src/a"]),
    [touching(["read", "docs/a"], ["write", "docs/b"])],
  ],
  [
    "except, not the folder itself",
    { except: ["file:docs/**"] },
    touching(["write", "docs"]),
    [touching(["write", "docs/a/"])],
  ],
  ["except, nothing touched", { except: ["file:**"] }, touching(), [touching(["read", "a"])]],
  ["shadow", { shadow: false }, {}, []],
  ["expiresAt", { expiresAt: new Date(now).toISOString() }, { at: now - 1 }, [{ at: now }, { at: now + 1 }]],
]

test.each(table)("a deny rule with %s matches its call and nothing near it", (_, change, hit, misses) => {
  const rules = [rule("deny", "*", change)]
  const base = { tool: readFile, ...touching() }
  expect(judge(rules, { ...base, ...hit })).toMatchObject({ verdict: "deny", code: "permission_denied" })
  for (const miss of misses)
    expect(judge(rules, { ...base, ...hit, ...miss })).toEqual({ verdict: "allow", reasons: [] })
})

const allowTable: [string, Partial<Rule>, Partial<DecisionInput>, Partial<DecisionInput>[]][] = [
  ["tool", { tool: "read_file" }, {}, [{ tool: registered({ name: "read_fil", permission: { level: "sensitive" } }) }]],
  [
    "role",
    { role: ["developer"] },
    { who: agent({ role: "developer" }) },
    [{ who: made("developer") }, { who: spawned(agent({ role: "developer" })) }],
  ],
  [
    "department",
    { department: ["north"] },
    { who: agent({ department: "north" }) },
    [{ who: { ...spawned(agent({ department: "north" })), department: "south" } }],
  ],
  ["agent", { agent: ["ada"] }, { who: agent({ id: "ada" }) }, [{ who: spawned(agent({ id: "ada" })) }]],
  [
    "effect",
    { effect: ["read"] },
    {},
    [{ tool: registered({ name: "read_file", permission: { level: "sensitive" } }) }],
  ],
  [
    "touching, every touch",
    { touching: ["file:docs/**", "host:example.com"] },
    touching(["read", "docs/a"], ["host", "example.com"]),
    [touching(["read", "docs/a"], ["read", "src/a"]), touching(), touching(["write", "docs"])],
  ],
  [
    "touching, the normal form",
    { touching: ["file:/tmp/**", "file:docs/**"] },
    touching(["write", "//tmp/./a"], ["write", "src/../docs/a"]),
    [
      touching(["write", "/tmp/../etc/passwd"]),
      touching(["write", "docs/../src/a"]),
      touching(["write", "/docs/a"]),
      touching(["write", "docs/~/a"]),
      touching(["write", "docs/$HOME"]),
      touching(["write", "docs/a\\b"]),
      touching(["write", "docs/a\0b"]),
      touching(["write", "../../tmp/a"]),
    ],
  ],
  [
    "touching, only in the workspace",
    { touching: ["file:**"] },
    touching(["write", "/work/a"]),
    [touching(["write", "/etc/passwd"]), touching(["write", "../a"])],
  ],
  ["args, not within an object", { args: { "/o": "a" } }, { input: { o: "a" } }, [{ input: { o: { a: "a" } } }]],
  [
    "args, the whole value",
    { args: { "/list": '[\\[]"a"]' } },
    { input: { list: ["a"] } },
    [{ input: { list: ["a", "b"] } }, { input: {} }],
  ],
  ["args, not one of a list", { args: { "/list": "a" } }, { input: { list: "a" } }, [{ input: { list: ["a"] } }]],
  [
    "except, any touch",
    { except: ["file:docs/secret/**"] },
    touching(["read", "docs/a"]),
    [touching(["read", "docs/a"], ["write", "docs/secret"]), touching(["read", "docs/secret/a"])],
  ],
]

test.each(allowTable)("an allow rule with %s matches its call and nothing near it", (_, change, hit, misses) => {
  const rules = [rule("allow", "*", change)]
  const base = { tool: sensitive, ...touching() }
  expect(judge(rules, { ...base, ...hit })).toMatchObject({ verdict: "allow", reasons: [{ check: "rule" }] })
  for (const miss of misses) expect(judge(rules, { ...base, ...hit, ...miss })).toMatchObject({ verdict: "ask" })
  const unproved = { ...base, ...hit }
  const touches = { ...unproved.touches, proved: false }
  expect(judge(rules, { ...unproved, touches }).verdict).toBe("ask")
  const undeclared = { ...sensitive, touches: undefined } as unknown as DecisionInput["tool"]
  expect(judge(rules, { ...unproved, tool: undeclared, touches }).verdict).toBe("ask")
})

test("an exception does not apply when the touches are not proved", () => {
  const call = { tool: readFile, touches: { list: [{ kind: "read" as const, what: "docs/a" }], proved: false } }
  expect(judge([rule("deny", "*", { except: ["file:**"] })], call).verdict).toBe("deny")
})

test("an exception does not apply to a path that could mean another", () => {
  const rules = [rule("deny", "*", { except: ["write:/tmp/**"] })]
  const verdictOf = (path: string) => judge(rules, { tool: readFile, ...touching(["write", path]) }).verdict
  expect(["/tmp/a", "/tmp/../tmp/a", "/tmp/$A", "/tmp/../etc/passwd"].map(verdictOf)).toEqual([
    "allow",
    "deny",
    "deny",
    "deny",
  ])
})

test("a tool that hides another is denied and asked about like either of them, and allowed only like both", () => {
  const below = registered({ name: "pay", group: "network", effect: "execute", permission: { level: "sensitive" } })
  const above = registered({ name: "pay", group: "data", effect: "read", permission: { level: "sensitive" } })
  const tool = { ...above, sameNameTools: [above, below] }
  const verdictOf = (...rules: Rule[]) => judge(rules, { tool }).verdict
  for (const one of ["group:network", "group:data"]) {
    expect(verdictOf(rule("deny", one))).toBe("deny")
    expect(judge([rule("ask", one)], { tool }).reasons[0]?.check).toBe("rule")
    expect(verdictOf(rule("allow", one))).toBe("ask")
  }
  for (const effect of ["execute", "read"] as const) {
    expect(verdictOf(rule("deny", "*", { effect: [effect] }))).toBe("deny")
    expect(verdictOf(rule("allow", "*", { effect: [effect] }))).toBe("ask")
  }
  expect(verdictOf(rule("deny", "group:workspace"))).toBe("ask")
  expect(verdictOf(rule("allow", "*", { effect: ["execute", "read"] }))).toBe("allow")
  // Group and effect of two tools together are those of neither.
  expect(verdictOf(rule("deny", "group:data", { effect: ["execute"] }))).toBe("ask")
})

test("a rule in shadow decides nothing and says at the end what it would have done", () => {
  const shadow = rule("deny", "*", { shadow: true, because: "Too early." })
  expect(judge([shadow], { tool: readFile })).toMatchObject({
    verdict: "allow",
    reasons: [
      {
        check: "rule",
        source: shadow.source,
        code: "rule_denies",
        sentence: "A rule in shadow would have denied it: Too early.",
        shadow: "deny",
      },
    ],
  })
  const { verdict, reasons } = judge([shadow, rule("deny", "*")], { tool: readFile })
  expect([verdict, reasons.length, reasons[1]?.shadow]).toEqual(["deny", 2, "deny"])
  expect(judge([rule("allow", "*", { shadow: true })], { tool: sensitive })).toMatchObject({
    verdict: "ask",
    reasons: [{ check: "level" }, { shadow: "allow" }],
  })
  expect(compileRules([shadow], tools).select(readFile, agent()).hidden(now)).toBeUndefined()
})

test("rules that cannot be read do not count, and the others do", () => {
  const wrong = [rule("deny", "["), rule("deny", "*", { touching: ["docs"] }), rule("deny", "*", { args: { a: "*" } })]
  expect(judge(wrong, { tool: readFile, input: { a: 1 }, ...touching(["read", "docs"]) }).verdict).toBe("allow")
  expect(judge([...wrong, rule("deny", "*")], { tool: readFile }).verdict).toBe("deny")
})

test("a cached selection does not outlive a change of its agent or tool", () => {
  const ruleSet = compileRules([rule("deny", "*", { role: ["tester"], effect: ["read"] })], tools)
  const before = agent({ role: "developer" })
  expect(ruleSet.select(readFile, before).hidden(now)).toBeUndefined()
  expect(ruleSet.select(readFile, { ...before, role: role("tester") }).hidden(now)).toBeDefined()
  expect(
    ruleSet.select({ ...readFile, effect: "none" }, { ...before, role: role("tester") }).hidden(now),
  ).toBeUndefined()
  expect(ruleSet.select(readFile, before).hidden(now)).toBeUndefined()
})

test("the mode edits covers what stays in the workspace, and nothing that could be elsewhere", () => {
  const tool = registered({ name: "write_file", group: "workspace", effect: "write", touches: true })
  const verdictOf = (path: string) =>
    decide(facts({ tool, ...touching(["write", path]) }), compileRules([], tools), new GrantIndex(), "edits").verdict
  expect(["a", "/work/a", "a/../b", "../work/a"].map(verdictOf)).toEqual(["allow", "allow", "allow", "allow"])
  expect(["/etc/passwd", "/workplace/a", "../a", "~/a", "$A/b"].map(verdictOf)).toEqual(Array(5).fill("ask"))
})

test("a path in another case matches deny and ask rules, and never allow rules", () => {
  const verdict = (one: Rule, path: string) => judge([one], { tool: sensitive, ...touching(["read", path]) }).verdict
  const fitting = [
    ["file:secrets/**", "SECRETS/x"],
    ["file:secrets/**", "Secrets"],
    ["file:Secrets/**", "secrets/x"],
    ["read:/work/SECRETS/**", "secrets/x"],
    ["file:**/*.KEY", "a/B.key"],
  ] as const
  for (const [pattern, path] of fitting)
    expect([path, verdict(rule("deny", "*", { touching: [pattern] }), path)]).toEqual([path, "deny"])
  expect(verdict(rule("allow", "*", { touching: ["file:docs/**"] }), "docs/x")).toBe("allow")
  expect(verdict(rule("allow", "*", { touching: ["file:docs/**"] }), "Docs/x")).toBe("ask")
  expect(verdict(rule("allow", "*", { touching: ["file:Docs/**"] }), "docs/x")).toBe("ask")
  const but = (except: string) => rule("deny", "*", { except: [except] })
  expect([verdict(but("file:docs/**"), "docs/x"), verdict(but("file:docs/**"), "Docs/x")]).toEqual(["ask", "deny"])
  const free = rule("allow", "*", { touching: ["file:**"], except: ["file:private/**"] })
  expect([verdict(free, "docs/x"), verdict(free, "PRIVATE/x")]).toEqual(["allow", "ask"])
})
