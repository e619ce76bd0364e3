import { expect, test } from "vitest"
import type { Rule, RuleFlaw } from "../../core/rule.ts"
import { findFlaws } from "./flaws.ts"
import { rule } from "../testing.ts"
import { known, wide, narrow } from "../testing/flaws.ts"

const flawsOf = (...rules: Rule[]): RuleFlaw[] => findFlaws(rules, known)
const texts = (flaws: readonly RuleFlaw[]) => flaws.map(({ kind, sentence }) => `${kind}: ${sentence}`)

test("sound rules have no flaws", () => {
  expect(
    flawsOf(
      rule("deny", "read_file", {
        touching: ["file:.env"],
        role: ["developer"],
        department: ["north"],
        agent: ["ada"],
      }),
      rule("ask", "group:workspace", { role: ["role-developer"], effect: ["write"] }),
      rule("allow", "*_file", { args: { "/path": "docs/*" }, agent: ["bob"] }),
      rule("allow", "Read", { effect: ["read"], touching: ["file:docs/**"] }),
      rule("ask", "*", { release: "always" }),
    ),
  ).toEqual([])
})

test("a built-in rule is never a flaw; one that repeats it is", () => {
  const about = { agent: ["nobody"], source: "built in" }
  const wide = rule("allow", "group:workspace", { source: "yours" })
  expect(flawsOf(rule("allow", "group:workspace", about), wide)).toEqual([])
  expect(flawsOf(rule("allow", "group:workspace", about), rule("deny", "*", { source: "yours" }))).toEqual([])
  const narrow = { agent: ["ada"], source: "built in" }
  expect(
    texts(flawsOf(rule("allow", "read_file", narrow), rule("allow", "read_file", { ...narrow, source: "yours" }))),
  ).toEqual(["shadowed: It says the same as the rule at built in. Remove one of them."])
})

test.each<[Rule, string]>([
  [rule("deny", "["), "malformed: 'deny' is not right: '[' has a '['"],
  [rule("allow", "*", { touching: ["docs/**"] }), "malformed: 'touching' is not right: 'docs/**' must begin"],
  [rule("deny", "*", { except: ["host:*evil.com"] }), "malformed: 'except' is not right: 'host:*evil.com' also fits"],
  [rule("ask", "*", { args: { path: "*" } }), "malformed: 'args.path' is not right: 'path' is not a JSON pointer"],
  [rule("deny", "read_fiel"), "dead: There is no tool 'read_fiel'. Did you mean 'read_file'?"],
  [rule("deny", "zzzzzzzzzz"), "dead: There is no tool 'zzzzzzzzzz'."],
  [rule("deny", "group:workspaces"), "dead: There is no group 'workspaces'. Did you mean 'workspace'?"],
  [rule("deny", "group:empty"), "dead: No tool is in 'group:empty'."],
  [rule("deny", "http_*"), "dead: No tool has a name that fits 'http_*'."],
  [
    rule("deny", "read_file", { effect: ["write", "execute"] }),
    "dead: None of the tools 'read_file' stands for has the effect write or execute.",
  ],
  [
    rule("deny", "*", { role: ["developer", "develper"] }),
    "dead: There is no role 'develper'. Did you mean 'developer'?",
  ],
  [rule("deny", "*", { role: ["helper"] }), "dead: Role 'helper' was made by an agent"],
  [rule("deny", "*", { department: ["nort"] }), "dead: There is no department 'nort'. Did you mean 'north'?"],
  [rule("deny", "*", { agent: ["adda"] }), "dead: There is no agent 'adda'. Did you mean 'ada'?"],
  [
    rule("deny", "set_env", { touching: ["file:**"] }),
    "dead: It can never hold: none of the tools 'set_env' stands for says what it touches.",
  ],
  [
    rule("deny", "set_env", { except: ["file:**"] }),
    "dead: Its exception never applies: none of the tools 'set_env' stands for",
  ],
  [
    rule("ask", "read_file", { args: { "/limit": "[1-9][0-9][0-9]*" } }),
    "doubtful: '/limit' of read_file is a number, and the rule compares it with a text pattern: 1e21 is a number too.",
  ],
  [
    rule("deny", "read_file", { args: { "/pth": "*" } }),
    "dead: It can never hold: no tool it is about has a parameter for '/pth'. Did you mean 'path'?",
  ],
  [
    rule("deny", "read_file", { examples: { match: [{ input: {} }] }, args: { "/path": "a" } }),
    "example: 'examples.match[0]' should match the rule and does not: {\"input\":{}}",
  ],
  [
    rule("deny", "read_file", { examples: { miss: [{ input: { path: "a" } }] }, args: { "/path": "a" } }),
    "example: 'examples.miss[0]' should not match the rule and does all the same",
  ],
  [
    rule("deny", "*_file", { examples: { match: [{ input: {} }] } }),
    "example: 'examples.match[0]' names no tool, and the rule is about several.",
  ],
  [
    rule("deny", "*", { examples: { match: [{ tool: "write_file" }] } }),
    "example: 'examples.match[0]' calls the tool 'write_file', which does not exist.",
  ],
  [
    rule("deny", "read_file", { examples: { miss: [{ agent: "eve" }] } }),
    "example: 'examples.miss[0]' is about the agent 'eve', which does not exist",
  ],
  [
    rule("deny", "read_file", { agent: ["ada"], examples: { match: [{ agent: "bob" }] } }),
    "example: 'examples.match[0]' should match the rule and does not",
  ],
  [
    rule("deny", "*", { effect: ["write"], examples: { match: [{ tool: "Read" }] } }),
    "example: 'examples.match[0]' should match",
  ],
  [
    rule("deny", "*", {
      touching: ["write:src/**"],
      examples: { match: [{ tool: "move_file", input: { path: "docs/a" } }] },
    }),
    "example: 'examples.match[0]' should match",
  ],
  [
    rule("deny", "*", {
      except: ["write:docs/**"],
      examples: { match: [{ tool: "move_file", input: { path: "docs/a" } }] },
    }),
    "example: 'examples.match[0]' should match",
  ],
])("%j has one flaw: %s", (given, sentence) => {
  expect(texts(flawsOf(given))).toEqual([expect.stringContaining(sentence)])
  expect(flawsOf(given)[0]?.source).toBe(given.source)
})

test("examples that come out as they say are no flaw", () => {
  const examples = {
    match: [{ input: { path: "src/a" } }, { agent: "ada", tool: "move_file", input: { path: "src/b" } }],
    miss: [{ input: { path: "docs/a" } }, { agent: "bob", input: { path: "src/a" } }, { tool: "set_env" }],
  }
  expect(flawsOf(rule("deny", "move_file", { touching: ["file:src/**"], agent: ["ada"], examples }))).toEqual([])
})

test("the paths of an example are counted from the workspace", () => {
  const examples = { match: [{ input: { path: "src/a" } }], miss: [{ input: { path: "/src/a" } }] }
  expect(flawsOf(rule("deny", "move_file", { touching: ["file:/work/src/**"], examples }))).toEqual([])
})

test.each<[string, Rule, Rule, string | undefined]>([
  ["an allow under a deny", narrow("allow"), wide("deny"), "denies everything it is about"],
  ["an ask under a deny", narrow("ask"), wide("deny"), "denies everything it is about"],
  ["a deny under a deny", narrow("deny", { args: { "/path": "*" } }), wide("deny"), "denies everything it is about"],
  ["an allow under an ask", narrow("allow"), wide("ask"), "asks about everything it allows"],
  [
    "an allow under an allow",
    narrow("allow", { touching: ["file:**"] }),
    wide("allow"),
    "allows everything it is about already",
  ],
  ["a named agent under everyone", narrow("allow", { agent: ["ada"] }), wide("deny"), "denies everything it is about"],
  [
    "a named agent under the same and another",
    narrow("allow", { agent: ["ada"] }),
    wide("deny", { agent: ["ada", "bob"] }),
    "denies everything it is about",
  ],
  [
    "a group under an effect",
    rule("allow", "read_file", { source: "narrow" }),
    wide("deny", { effect: ["read"] }),
    "denies everything it is about",
  ],
  ["everyone under a named agent", narrow("allow"), wide("deny", { agent: ["ada"] }), undefined],
  ["another agent", narrow("allow", { agent: ["bob"] }), wide("deny", { agent: ["ada"] }), undefined],
  ["another department", narrow("allow", { department: ["north"] }), wide("deny", { role: ["developer"] }), undefined],
  ["a deny with a condition", narrow("allow"), wide("deny", { args: { "": "*" } }), undefined],
  ["a deny with an exception", narrow("allow"), wide("deny", { except: ["file:**"] }), undefined],
  ["a deny in shadow", narrow("allow"), wide("deny", { shadow: true }), undefined],
  ["a rule in shadow", narrow("allow", { shadow: true }), wide("deny"), undefined],
  ["an ask about the result", narrow("allow"), wide("ask", { release: "always" }), undefined],
  ["an ask under an ask", narrow("ask"), wide("ask"), undefined],
  ["a deny under an allow", narrow("deny"), wide("allow"), undefined],
  ["a deny under an ask", narrow("deny"), wide("ask"), undefined],
  ["a wider tool", narrow("deny"), rule("allow", "group:workspace", { source: "wide" }), undefined],
])("shadowed or not, wherever they stand: %s", (_, given, other, sentence) => {
  for (const rules of [
    [given, other],
    [other, given],
  ]) {
    const expected =
      sentence === undefined
        ? []
        : [`shadowed: It never decides: the rule at wide ${sentence}. Remove it, or narrow that one.`]
    expect(texts(flawsOf(...rules))).toEqual(expected)
  }
})

test("of two rules that say the same the later one is named, also under an alias or in another order", () => {
  const one = rule("ask", "read_file", { role: ["developer", "role-developer"], deadline: 5, source: "first" })
  const same = rule("ask", "Read", {
    role: ["role-developer", "developer"],
    deadline: 5,
    because: "Other words.",
    source: "second",
  })
  expect(flawsOf(one, same)).toEqual([
    { kind: "shadowed", source: "second", sentence: "It says the same as the rule at first. Remove one of them." },
  ])
  expect(flawsOf(one, { ...same, deadline: 6 })).toEqual([])
  const twice = [
    wide("deny", { source: "a" }),
    wide("deny", { source: "b" }),
    wide("deny", { source: "c", effect: ["read", "write"] }),
  ]
  expect(flawsOf(...twice).map(({ source }) => source)).toEqual(["b", "c"])
})

test("where no department is declared any word may be one", () => {
  const rules = [rule("deny", "*", { department: ["east"] })]
  expect(findFlaws(rules, { ...known, departments: () => [] })).toEqual([])
})

test("flaws come in the order of the rules", () => {
  const rules = [rule("deny", "zzzz"), rule("deny", "["), rule("deny", "yyyy", { agent: ["eve"] })]
  expect(flawsOf(...rules).map(({ source }) => source)).toEqual(
    [rules[0], rules[1], rules[2], rules[2]].map((one) => one!.source),
  )
})
