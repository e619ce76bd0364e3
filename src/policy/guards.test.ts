import fc from "fast-check"
import { expect, test } from "vitest"
import type { Finding, Guard, GuardLook } from "../model/guard.ts"
import type { Touch } from "../model/rule.ts"
import { decide } from "./decide.ts"
import { GrantIndex } from "./grants.ts"
import { guardsOf } from "./guards.ts"
import { compile } from "./rules.ts"
import { facts, registered, rule, tools } from "./testing.ts"

const reason = (sentence: string, binding?: true) => ({
  voice: "guard",
  source: "tools.shell.allow[0]",
  sentence,
  ...(binding === undefined ? {} : { binding }),
})
const deny: Finding = { says: "deny", code: "command_denied", reason: reason("It is denied.") }
const ask: Finding = { says: "ask", reason: reason("It is asked for.", true) }
const allow: Finding = { says: "allow", reason: reason("It is on the list.") }

const judge = (level: "public" | "moderate" | "sensitive", findings: readonly Finding[], rules = compile([], tools)) =>
  decide(facts({ tool: registered({ permission: { level } }), findings }), rules, new GrantIndex(), "ask")

test("what a guard denies is denied, what it asks for is asked for, and its list lifts the level's own ask alone", () => {
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

test("no allow rule lifts what a guard says, and no guard's list lifts a rule", () => {
  const allowing = compile([rule("allow", "*")], tools)
  expect(judge("sensitive", [deny], allowing).verdict).toBe("deny")
  expect(judge("sensitive", [ask], allowing).verdict).toBe("ask")
  expect(judge("public", [allow], compile([rule("deny", "*")], tools)).verdict).toBe("deny")
  expect(judge("public", [allow], compile([rule("ask", "*")], tools)).verdict).toBe("ask")
})

test("a reason of the guard comes with the verdict", () => {
  expect(judge("sensitive", [allow]).reasons).toEqual([allow.reason])
  expect(judge("sensitive", [deny]).reasons[0]).toEqual(deny.reason)
})

const saying = (look: Partial<GuardLook>): Guard & { ready(): undefined } => ({
  look: () => ({ more: [], proved: true, findings: [], ...look }),
  ready: () => undefined,
})
const covers = reason("It is covered.")
const touches: Record<"path" | "command" | "host", Touch> = {
  path: { kind: "read", what: "a" },
  command: { kind: "command", what: "ls a | wc" },
  host: { kind: "host", what: "https://a.example/x" },
}

test("the real place of a path stands beside it; what a command or an address comes to stands in its place", () => {
  const guards = guardsOf({
    paths: saying({ more: [{ kind: "read", what: "b" }] }),
    commands: saying({
      more: [
        { kind: "command", what: "ls a" },
        { kind: "read", what: "a" },
      ],
    }),
    hosts: saying({ more: [{ kind: "host", what: "a.example" }] }),
  })
  const { list } = guards.look(Object.values(touches), {}).touches
  expect(list).toEqual([
    { kind: "read", what: "a" },
    { kind: "read", what: "b" },
    { kind: "command", what: "ls a" },
    { kind: "read", what: "a", derived: true },
    { kind: "host", what: "a.example" },
  ])
})

test("all is allowed by lists only when every kind of touch is, and all is proved", () => {
  fc.assert(
    fc.property(
      fc.subarray(["path", "command", "host"] as const, { minLength: 1 }),
      fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
      fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
      (kinds, covered, proved) => {
        const guard = (at: number) => saying({ proved: proved[at]!, ...(covered[at] ? { covers } : {}) })
        const guards = guardsOf({ paths: guard(0), commands: guard(1), hosts: guard(2) })
        const looked = guards.look(
          kinds.map((kind) => touches[kind]),
          {},
        )
        const at = kinds.map((kind) => ["path", "command", "host"].indexOf(kind))
        expect(looked.touches.proved).toBe(at.every((one) => proved[one]))
        const all = at.every((one) => proved[one] && covered[one])
        expect(looked.findings).toEqual(all ? [{ says: "allow", reason: covers }] : [])
      },
    ),
    { numRuns: 200 },
  )
})

test("an allow rule on a command need not name the files it names; what denies or asks sees them", () => {
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
      compile(
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
