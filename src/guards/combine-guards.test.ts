import fc from "fast-check"
import { expect, test } from "vitest"
import type { Finding, GuardResult } from "../core/guard.ts"
import type { Touch } from "../core/touches.ts"
import { decide } from "../policy/decide/decide.ts"
import { GrantIndex } from "../policy/grants.ts"
import { combineGuards, type GuardList } from "./combine-guards.ts"
import { compileRules } from "../policy/rules/rules.ts"
import { facts, registered, rule, tools } from "../policy/testing.ts"

const reason = (sentence: string, binding?: true) => ({
  check: "guard",
  source: "tools.shell.allow[0]",
  code: "test",
  sentence,
  ...(binding === undefined ? {} : { binding }),
})
const deny: Finding = { verdict: "deny", code: "command_denied", reason: reason("It is denied.") }
const ask: Finding = { verdict: "ask", reason: reason("It is asked for.", true) }
const allow: Finding = { verdict: "allow", reason: reason("It is on the list.") }

const judge = (
  level: "public" | "moderate" | "sensitive",
  findings: readonly Finding[],
  rules = compileRules([], tools),
) => decide(facts({ tool: registered({ permission: { level } }), findings }), rules, new GrantIndex(), "ask")

test("a guard's deny denies, its ask asks, and its allow loosens only the level's own ask", () => {
  const levels = fc.constantFrom("public", "moderate", "sensitive")
  const findings = fc.array(fc.constantFrom(deny, ask, allow), { maxLength: 4 })
  fc.assert(
    fc.property(levels, findings, (level, found) => {
      const { verdict, code } = judge(level, found)
      const wanted = found.includes(deny)
        ? "deny"
        : found.includes(ask)
          ? "ask"
          : level === "public" || found.includes(allow)
            ? "allow"
            : "ask"
      expect(verdict).toBe(wanted)
      expect(code).toBe(verdict === "deny" ? "command_denied" : undefined)
    }),
    { numRuns: 200 },
  )
})

test("an allow rule does not loosen a guard's finding, and a guard's allow does not loosen a rule", () => {
  const allowing = compileRules([rule("allow", "*")], tools)
  expect(judge("sensitive", [deny], allowing).verdict).toBe("deny")
  expect(judge("sensitive", [ask], allowing).verdict).toBe("ask")
  expect(judge("public", [allow], compileRules([rule("deny", "*")], tools)).verdict).toBe("deny")
  expect(judge("public", [allow], compileRules([rule("ask", "*")], tools)).verdict).toBe("ask")
})

test("the verdict includes the guard's reason", () => {
  expect(judge("sensitive", [allow]).reasons).toEqual([allow.reason])
  expect(judge("sensitive", [deny]).reasons[0]).toEqual(deny.reason)
})

const saying = (look: Partial<GuardResult>): GuardList["commands"] => ({
  check: () => ({ extraTouches: [], proved: true, findings: [], ...look }),
  ready: () => undefined,
  stem: () => undefined,
  parts: () => [],
  files: () => [],
})
const covers = reason("It is covered.")
const touches: Record<"path" | "command" | "host", Touch> = {
  path: { kind: "read", what: "a" },
  command: { kind: "command", what: "ls a | wc" },
  host: { kind: "host", what: "https://a.example/x" },
}

test("the real path of a link is added; the extra touches of a command or address replace it", () => {
  const guards = combineGuards({
    input: () => [],
    paths: saying({ extraTouches: [{ kind: "read", what: "b" }] }),
    commands: saying({
      extraTouches: [
        { kind: "command", what: "ls a" },
        { kind: "read", what: "a" },
      ],
    }),
    hosts: saying({ extraTouches: [{ kind: "host", what: "a.example" }] }),
  })
  const { list } = guards.check(Object.values(touches), {}).touches
  expect(list).toEqual([
    { kind: "read", what: "a" },
    { kind: "read", what: "b" },
    { kind: "command", what: "ls a" },
    { kind: "read", what: "a", derived: true },
    { kind: "host", what: "a.example" },
  ])
})

test("the lists allow a call only when they allow every kind of touch and all is proved", () => {
  fc.assert(
    fc.property(
      fc.subarray(["path", "command", "host"] as const, { minLength: 1 }),
      fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
      fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
      (kinds, covered, proved) => {
        const guard = (at: number) => saying({ proved: proved[at]!, ...(covered[at] ? { allowedBy: covers } : {}) })
        const guards = combineGuards({ paths: guard(0), commands: guard(1), hosts: guard(2), input: () => [] })
        const looked = guards.check(
          kinds.map((kind) => touches[kind]),
          {},
        )
        const at = kinds.map((kind) => ["path", "command", "host"].indexOf(kind))
        expect(looked.touches.proved).toBe(at.every((one) => proved[one]))
        const all = at.every((one) => proved[one] && covered[one])
        expect(looked.findings).toEqual(all ? [{ verdict: "allow", reason: covers }] : [])
      },
    ),
    { numRuns: 200 },
  )
})

test("an allow rule for a command need not name its files; deny and ask rules see them", () => {
  const list: Touch[] = [
    { kind: "command", what: "cat secrets/a" },
    { kind: "read", what: "secrets/a", derived: true },
  ]
  const verdictOf = (...rules: Parameters<typeof rule>[]) =>
    decide(
      facts({
        tool: registered({ touches: true, permission: { level: "sensitive" } }),
        touches: { list, proved: true },
      }),
      compileRules(
        rules.map((given) => rule(...given)),
        tools,
      ),
      new GrantIndex(),
      "ask",
    ).verdict
  expect(verdictOf(["allow", "*", { touching: ["command:cat *"] }])).toBe("allow")
  expect(verdictOf(["allow", "*", { touching: ["file:secrets/**"] }])).toBe("ask")
  expect(
    verdictOf(["allow", "*", { touching: ["command:cat *"] }], ["deny", "*", { touching: ["file:secrets/**"] }]),
  ).toBe("deny")
  expect(verdictOf(["allow", "*", { touching: ["command:cat *"], except: ["read:secrets/*"] }])).toBe("ask")
})
