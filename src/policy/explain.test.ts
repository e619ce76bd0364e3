import fc from "fast-check"
import { expect, test } from "vitest"
import type { Explanation } from "../model/app.ts"
import type { Facts } from "../model/ports.ts"
import type { Grant, Rule } from "../model/rule.ts"
import { decide } from "./decide.ts"
import { explain } from "./explain.ts"
import { GrantIndex } from "./grants.ts"
import type { Judges } from "./heard.ts"
import { compile } from "./rules.ts"
import {
  agent,
  facts,
  grantFor,
  registered,
  role,
  rule,
  someFacts,
  someGrantsFor,
  someMode,
  someRules,
  tools,
} from "./testing.ts"
import { hiddenBecause } from "./visible.ts"

function judges(rules: readonly Rule[] = [], grants: readonly Grant[] = [], change: Partial<Judges> = {}): Judges {
  return {
    book: compile(rules, tools),
    grants: new GrantIndex(grants),
    mode: "ask",
    groups: tools,
    levelOrder: "asc",
    version: "v1",
    ...change,
  }
}

const why = (call: Facts, given: Judges = judges()) => explain({ ...call, agentId: call.who.agent.id }, given)

/** The verdict that follows from the voices alone. */
function fromVoices({ heard }: Explanation): string {
  const said = heard.filter(({ shadow }) => shadow === undefined)
  if (said.some(({ says }) => says === "deny")) return "deny"
  if (said.some(({ says, binding }) => says === "ask" && binding === true)) return "ask"
  const asks = said.some(({ says }) => says === "ask")
  const covered = said.some(({ says, voice }) => says === "allow" && voice !== "level")
  return asks && !covered ? "ask" : "allow"
}

const someCase = someFacts.chain((call) =>
  fc.record({ call: fc.constant(call), rules: someRules, grants: someGrantsFor(call), mode: someMode }),
)

test("law: explain says what the list and the decision say, and its voices alone lead to the same [S2-87]", () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(someCase, ({ call, rules, grants, mode }) => {
      const given = judges(rules, grants, { mode })
      const told = why(call, given)
      const policy = { hidden: (tool: Facts["tool"], who: Facts["who"]) => given.book.select(tool, who).hidden }
      const hidden = hiddenBecause(call.tool, call.who, tools, "asc", policy)
      const decided = decide(call, given.book, given.grants, mode)
      expect(fromVoices(told)).toBe(told.verdict)
      if (hidden !== undefined) {
        expect(told).toMatchObject({ verdict: "deny", code: "tool_not_available" })
        expect(told.reasons[0]).toEqual(hidden)
      } else {
        const { verdict, code, reasons, approvers = [], release = "never" } = decided
        expect(told).toMatchObject({ verdict, code, reasons, approvers, release })
      }
      expect(told.change.length).toBeGreaterThan(0)
      seen.add(`${told.verdict} ${told.code}`)
    }),
    { numRuns: 800, seed: 3 },
  )
  expect([...seen]).toEqual(
    expect.arrayContaining(["allow undefined", "ask undefined", "deny permission_denied", "deny tool_not_available"]),
  )
})

const moderate = registered({ name: "set_env", effect: "write" })
const limited = { ok: false as const, sentence: "Rate limit exceeded: 1 calls per minute", retryAfterMs: 11_500 }
const denying = rule("deny", "*", { args: { "/n": "1" }, source: "quartermaster.yml rules[3]" })
const asking = rule("ask", "*", { source: "quartermaster.yml rules[4]" })
const allowing = rule("allow", "*", { source: "quartermaster.yml rules[5]" })
const call = facts({ tool: moderate })
const no = grantFor(call, { verdict: "deny" })
const kept = (toolGroups: string[], madeBy: "configuration" | "person") =>
  agent({ role: role("tester", { toolGroups, madeBy }) })

test.each<[string, Explanation, string[]]>([
  [
    "a moderate tool",
    why(call),
    ["A person can approve it and remember it for the session", "Add an allow rule for set_env"],
  ],
  [
    "a sensitive tool",
    why(facts({ tool: registered({ effect: "execute" }) })),
    ["A person can approve it, each time anew", "Add an allow rule for probe"],
  ],
  [
    "an ask rule",
    why(call, judges([asking])),
    ["A person can approve it, this once", "Change or remove the rule at quartermaster.yml rules[4]"],
  ],
  [
    "a wish",
    why({ ...call, input: { require_confirmation: true } }),
    ["A person can approve it, this once", "Leave out require_confirmation"],
  ],
  [
    "a public tool",
    why(facts({ tool: registered({ effect: "none" }) }), judges([allowing])),
    ["Add a rule that asks about probe or denies it"],
  ],
  ["an allow rule", why(call, judges([allowing])), ["Change or remove the rule at quartermaster.yml rules[5]"]],
  ["a grant", why(call, judges([], [grantFor(call)])), ["Forget the remembered yes: qm grants revoke g1"]],
  ["a remembered no", why(call, judges([], [no])), ["Forget the remembered no: qm grants revoke g1"]],
  [
    "a deny rule",
    why({ ...call, input: { n: 1 } }, judges([denying, allowing])),
    ["Change or remove the rule at quartermaster.yml rules[3]"],
  ],
  ["a limit", why({ ...call, limit: limited }), ["Wait 12 s"]],
  [
    "the mode plan",
    why(call, judges([], [], { mode: "plan" })),
    ["Leave the mode plan: set the session's mode to ask"],
  ],
  [
    "a freeze",
    why({ ...call, who: agent({ id: "dev", frozen: { by: "ann", at: 0 } }) }),
    ["Thaw it: qm thaw --agent dev, or qm thaw when everyone is frozen"],
  ],
  [
    "a tool that is off",
    why({ ...call, tool: { ...moderate, enabled: false } }),
    ["Add set_env to tools.enabled in the configuration"],
  ],
  [
    "a role of a person",
    why({ ...call, who: kept(["system", "network"], "person") }),
    ["Give role tester the group 'data': qm roles update tester --groups system,network,data"],
  ],
  [
    "a role of the configuration",
    why({ ...call, who: kept(["system"], "configuration") }),
    ["Add 'data' to the toolGroups of role tester in the configuration"],
  ],
  [
    "root",
    why({ ...call, who: agent({ id: "root", role: role("root", { toolGroups: ["org_management"] }) }) }),
    ["Call it as another agent: root organises and has nothing else"],
  ],
  [
    "a spawner without the group",
    why({
      ...call,
      who: {
        ...agent(),
        groups: ["system"],
        spawners: [agent({ id: "boss", role: role("lead", { toolGroups: ["system"] }) })],
      },
    }),
    ["Change first what agent boss may use"],
  ],
  [
    "role, department and level",
    why({
      ...call,
      tool: registered({
        effect: "none",
        permission: { allowedRoles: ["lead"], allowedDepartments: ["north"], minLevel: 2 },
      }),
    }),
    [
      "Add developer to tools.permissions.probe.allowedRoles, or give the agent one of the roles: lead",
      "Move the agent to one of the departments: north",
      "Give agent ada the level 2, or change tools.permissions.probe.minLevel",
    ],
  ],
])("for %s it says what would change the verdict", (_, { change }, expected) => {
  expect(change).toEqual(expected)
})

test("an agent nobody knows is told to be created, and nothing else is heard", () => {
  const { who: _who, ...rest } = call
  expect(explain({ ...rest, agentId: "ghost", who: undefined }, judges())).toMatchObject({
    agentId: "ghost",
    verdict: "deny",
    code: "tool_not_available",
    reasons: [{ voice: "agent" }],
    heard: [{ voice: "agent", says: "deny" }],
    change: ["Create the agent: qm agents create --id ghost --role <role>"],
  })
})

test("every voice is heard in its order, also those that say nothing", () => {
  const rules = [
    denying,
    asking,
    allowing,
    rule("deny", "*", { shadow: true }),
    rule("ask", "*", { release: "always" }),
  ]
  const { heard, release, approvers } = why(
    call,
    judges(rules, [grantFor(call), { ...no, scope: "tool-session", sessionId: "s2" }]),
  )
  expect(heard.map(({ voice, says }) => `${voice} ${says}`)).toEqual([
    "agent nothing",
    "freeze nothing",
    "configuration nothing",
    "group nothing",
    "role nothing",
    "department nothing",
    "level nothing",
    "limit nothing",
    "rule nothing",
    "mode nothing",
    "grant nothing",
    "rule ask",
    "rule nothing",
    "level ask",
    "rule allow",
    "grant allow",
    "rule nothing",
  ])
  expect([release, approvers]).toEqual(["always", []])
  expect(heard.every(({ sentence }) => /[.!?]$/.test(sentence))).toBe(true)
})

test("a frozen agent's call would end as frozen, and the tool's own release counts where no rule says more", () => {
  const tool = registered({ effect: "none", permission: { requireResultApproval: "on-error" } })
  expect(why({ ...call, who: agent({ frozen: { by: "ann", at: 0 } }) })).toMatchObject({
    verdict: "deny",
    code: "frozen",
  })
  expect(why(facts({ tool }))).toMatchObject({ release: "on-error", policy: "v1", touches: { proved: true } })
})

test("a question waits for its answer whatever allows it, and what asks or denies besides is told as ever", () => {
  const tool = { ...registered({ name: "ask_user", effect: "none" }), question: () => ({ question: "Which?" }) }
  const call = facts({ tool })
  const sentence = "Tool ask_user asks a person."
  for (const rules of [[], [rule("allow", "*")]]) {
    const told = why(call, judges(rules))
    expect(told).toMatchObject({ verdict: "ask", reasons: [{ voice: "tool", sentence }] })
    expect(told.heard).toContainEqual(expect.objectContaining({ sentence, says: "ask" }))
    expect(told.change).toEqual(["A person can answer it, each time anew"])
    expect(fromVoices(told)).toBe("ask")
  }
  expect(why(call, judges([rule("ask", "*")]))).toMatchObject({ verdict: "ask", reasons: [{ voice: "rule" }] })
  expect(why(call, judges([rule("deny", "*", { args: { "": "*" } })])).verdict).toBe("deny")
})
