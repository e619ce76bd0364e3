import { expect, test } from "vitest"
import { readRule } from "./rule-schema.ts"

const everyField = {
  ask: "write_file",
  role: ["developer", "tester"],
  department: "eng",
  agent: "ada",
  effect: "write",
  touching: ["write:src/**", "file:docs/*.md"],
  args: { "/path": "src/*", "/deep/0/a~1b": "1" },
  except: "host:*.example.com",
  because: "Somebody looks.",
  approvers: { role: "lead" },
  deadline: 0.5,
  examples: { match: [{ agent: "ada", tool: "write_file", input: { path: "src/a" } }], miss: [{ input: null }] },
  shadow: true,
}

test("a rule with every field is read, and one becomes a list", () => {
  expect(readRule(everyField, "r1", "quartermaster.yml rules[0]")).toEqual({
    rule: {
      id: "r1",
      source: "quartermaster.yml rules[0]",
      verdict: "ask",
      tool: "write_file",
      role: ["developer", "tester"],
      department: ["eng"],
      agent: ["ada"],
      effect: ["write"],
      touching: ["write:src/**", "file:docs/*.md"],
      args: { "/path": "src/*", "/deep/0/a~1b": "1" },
      except: ["host:*.example.com"],
      because: "Somebody looks.",
      approvers: { role: "lead", count: 1 },
      deadline: 0.5,
      examples: everyField.examples,
      shadow: true,
    },
  })
  expect(readRule(asking({ release: "on-error" }), "r", "s")).toMatchObject({ rule: { release: "on-error" } })
})

test.each(["allow", "ask", "deny"] as const)("%s says the verdict and the tool", (verdict) => {
  const read = readRule({ [verdict]: "group:data", because: "So." }, "r", "s")
  expect(read).toMatchObject({ rule: { verdict, tool: "group:data", because: "So." } })
})

/** A sound rule, or one that asks, with what the case changes. */
const rule = (change: object) => ({ deny: "sleep", because: "So.", ...change })
const asking = (change: object) => ({ ask: "sleep", because: "So.", ...change })

test.each<[unknown, string | RegExp]>([
  [5, "The rule cannot be of type number."],
  [null, "The rule cannot be of type null."],
  [[], "The rule cannot be of type array."],
  [{ because: "So." }, "it has no verdict; write exactly one of allow, ask and deny"],
  [rule({ allow: "sleep" }), "it has allow and deny; write exactly one"],
  [{ deny: "sleep" }, "'because' is missing. Add it."],
  [rule({ because: " \n" }), "'because' is not right: say why"],
  [rule({ because: 5 }), "'because' cannot be of type number. Write a text instead."],
  [rule({ becuase: "So." }), "'becuase' is not a field of a rule. Did you mean 'because'?"],
  [rule({ zzzzz: 1 }), "'zzzzz' is not a field of a rule. Known here: allow, ask, deny,"],
  [rule({ deny: "" }), "'deny' is empty."],
  [rule({ deny: "[a" }), "'deny' is not right: '[a' has a '['"],
  [rule({ deny: "group:" }), "names no group"],
  [rule({ deny: "{a,b}" }), "has braces"],
  [rule({ deny: "sleep@1.0.0" }), "names a version"],
  [rule({ role: [] }), "'role' is an empty list. Write at least one."],
  [rule({ role: 5 }), "'role' is not right: write a text or a list of texts."],
  [rule({ department: [""] }), "'department"],
  [rule({ agent: [5] }), "'agent' is not right"],
  [rule({ effect: "wirte" }), "'effect' is not right: write one or more of none, read, write,"],
  [rule({ touching: "docs/**" }), "'docs/**' must begin with one of: file:, read:, write:, command:, host:"],
  [rule({ touching: ["file:a", "fiel:a"] }), "'fiel:a' must begin with"],
  [rule({ touching: "constructor:a" }), "must begin with"],
  [rule({ touching: "file:" }), "'file:' is empty"],
  [rule({ touching: "file:*.{ts,js}" }), "has braces"],
  [rule({ touching: "file:../other/**" }), "'file:../other/**' has '..'"],
  [rule({ except: "file:/tmp/../etc" }), "write the path without it"],
  [rule({ touching: "command:[" }), "not closed"],
  [rule({ except: "host:*example.com" }), "write a dot after the '*'"],
  [rule({ except: "host:docs.*" }), "do not end it with '*'"],
  [{ allow: "x", because: "So.", touching: "host:*example.com" }, "write a dot after the '*'"],
  [rule({ args: {} }), "'args' is not right: it names no value"],
  [rule({ args: { path: "x" } }), "'path' is not a JSON pointer"],
  [rule({ args: { "/a~2": "x" } }), "is not a JSON pointer"],
  [rule({ args: { "/a": "[" } }), "the pattern '['"],
  [rule({ args: { "/a": 5 } }), "write a pattern as text ('5'), or { oneOf: [5] }."],
  [rule({ approvers: {} }), "'approvers' is not right: only a rule that asks can have it"],
  [rule({ deadline: 5 }), "'deadline' is not right: only a rule that asks"],
  [rule({ release: "always" }), "'release' is not right: only a rule that asks"],
  [asking({ release: "always", approvers: {} }), "'approvers' is not right: a result is released by one person"],
  [asking({ release: "always", deadline: 5 }), "'deadline' is not right: a result is released by one person"],
  [asking({ approvers: { cuont: 2 } }), "'approvers.cuont' is not a field of a rule. Did you mean 'approvers.count'?"],
  [asking({ approvers: { count: 0 } }), "'approvers.count' is too small. Write a number of at least 1."],
  [asking({ deadline: 0 }), "'deadline' is too small. Write a number above 0."],
  [asking({ release: "never" }), "'release' has a value that is not allowed. Write one of: always, on-error."],
  [rule({ shadow: "yes" }), "'shadow' cannot be of type string. Write true or false instead."],
  [rule({ examples: [] }), "'examples' cannot be of type array."],
  [rule({ examples: { mach: [] } }), "Did you mean 'examples.match'?"],
  [rule({ examples: { miss: [{ inptu: 1 }] } }), "Did you mean 'examples.miss[0].input'?"],
])("%j is refused with a sentence that says what to do", (given, sentence) => {
  const read = readRule(given, "r1", "here")
  if (!("flaws" in read)) throw new Error("It was read.")
  expect(read.flaws).toEqual([
    { kind: "malformed", source: "here", sentence: expect.stringContaining(sentence as string) },
  ])
})

test.each([
  { touching: "host:*example.com" },
  { touching: "host:docs.*" },
  { except: "host:*" },
  { touching: "command:echo {a}" },
  { args: { "": '{"a":*}' } },
])("%j tightens or is meant, so it is read", (change) => {
  expect(readRule(rule(change), "r1", "here")).toHaveProperty("rule")
})

test("every problem is told, not only the first", () => {
  const given = { deny: "[", allow: "x", role: [], touchng: 1, args: { a: "[" }, approvers: { x: 1 } }
  const read = readRule(given, "r1", "here")
  expect("flaws" in read && read.flaws).toHaveLength(8)
})
