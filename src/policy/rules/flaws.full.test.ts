import fc from "fast-check"
import { expect, test } from "vitest"
import type { Rule } from "../../core/rule.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { findFlaws, type RuleContext } from "./flaws.ts"
import { compileRules } from "./rules.ts"
import { agent, registered, rule, someRule, tools } from "../testing.ts"
import { known } from "../testing/flaws.ts"

/** Returns the rule that covers each, found by trying every pair. */
function shadowedSlowly(rules: readonly Rule[], all: readonly RegisteredTool[]): (string | undefined)[] {
  const about = rules.map((one) =>
    all.filter((tool) => compileRules([one], tools).select(tool, anyone(one)).rules.length > 0),
  )
  const people = ({ role: roles, department, agent: agents }: Rule) => [roles, department, agents]
  const says = ({
    verdict,
    tool,
    effect,
    touching,
    args,
    except,
    release,
    approvers,
    deadline,
    expiresAt,
    ...one
  }: Rule) =>
    JSON.stringify([
      [
        verdict,
        tools.canonical(tool),
        args &&
          Object.entries(args)
            .map((entry) => JSON.stringify(entry))
            .sort(),
        release,
        approvers,
        deadline,
        expiresAt,
      ],
      [...people(one as Rule), effect, touching, except].map((list) => list && [...list].sort()),
    ])
  const covers = (wide: number, narrow: number) => {
    const { touching, args, except } = rules[wide]!
    if (touching ?? args ?? except) return false
    const isWider = people(rules[wide]!).every(
      (list, at) => !list || people(rules[narrow]!)[at]?.every((name) => (list as string[]).includes(name)),
    )
    const [end, otherEnd] = [wide, narrow].map((at) => new Date(rules[at]!.expiresAt ?? "9999-01-01").getTime())
    return isWider && end! >= otherEnd! && about[narrow]!.every((tool) => about[wide]!.includes(tool))
  }
  return rules.map((one, index) => {
    if (one.shadow === true || about[index]!.length === 0) return undefined
    return rules.find((other, at) => {
      if (at === index || other.shadow === true) return false
      if (at < index && says(other) === says(one)) return true
      const isStronger = other.verdict === "deny" || (one.verdict === "allow" && other.release === undefined)
      if (!isStronger || !covers(at, index)) return false
      return !(other.verdict === one.verdict && covers(index, at) && at > index)
    })?.source
  })
}

/** An agent the rule is about. */
function anyone({ role: roles, department, agent: agents }: Rule) {
  return agent({
    ...(agents ? { id: agents[0]! } : {}),
    ...(roles ? { role: roles[0]!.replace("role-", "") } : {}),
    ...(department ? { department: department[0] } : {}),
  })
}

test("law: which rule covers another is what trying every pair finds", () => {
  const all = ["read_file", "write_file", "http_get", "probe"].map((name, at) =>
    registered({ name, group: at % 2 === 0 ? "workspace" : "data", effect: at < 2 ? "read" : "network" }),
  )
  let found = 0
  fc.assert(
    fc.property(fc.array(someRule, { maxLength: 12 }), (rules) => {
      const flaws = findFlaws(rules, { ...known, tools: () => all }).filter(({ kind }) => kind === "shadowed")
      const sources = rules.map(({ source }) => flaws.find((flaw) => flaw.source === source)?.sentence)
      const expected = shadowedSlowly(rules, all)
      found += flaws.length
      expect(sources.map((sentence) => /the rule at (rule r\d+)/.exec(sentence ?? "")?.[1])).toEqual(expected)
    }),
    { numRuns: 500 },
  )
  expect(found).toBeGreaterThan(100)
})

test("ten thousand rules of any kind are checked, and the lists of tools and roles are read once", () => {
  const many = <T>(make: (index: number) => T) => Array.from({ length: 10_000 }, (_, index) => make(index))
  let reads = 0
  const counting: RuleContext = { ...known, tools: () => (reads++, known.tools()) }
  const kinds: ((index: number) => Rule)[] = [
    (index) => rule("ask", "set_env", { args: { "/key": `K${index}*` } }),
    (index) => rule("deny", "set_env", { agent: [`a${index}`] }),
    (index) => rule("ask", "*", { deadline: index + 1 }),
    (index) => rule("deny", `t${index}`),
    (index) => rule("allow", `*_${"?".repeat(index % 50)}*`, { args: { "": `${index}` } }),
  ]
  const counts = kinds.map((kind) => findFlaws(many(kind), counting).length)
  expect(counts).toEqual([0, 10_000, 0, 10_000, expect.any(Number)])
  expect(reads).toBe(kinds.length)
}, 60_000)
