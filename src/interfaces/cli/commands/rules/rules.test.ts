import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { RuleAdmin, RuleSuggestion, Simulation } from "../../../../policy/rule-admin.ts"
import type { Rule, RuleFlaw } from "../../../../core/rule.ts"
import { whenText } from "./rule-text.ts"
import { temporaryFolder } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

const rule: Rule = {
  id: "rules[0]",
  verdict: "deny",
  tool: "set_env",
  role: ["developer"],
  because: "It is closed.",
  source: "quartermaster.yml rules[0]",
}
const added: Rule = { ...rule, id: "r1", verdict: "ask", shadow: true, role: undefined, source: "rule r1" }
const builtIn: Rule = { ...rule, id: "root-organises", verdict: "allow", source: "built in" }
const flaw: RuleFlaw = { kind: "dead", source: rule.source, sentence: "There is no role 'developer'." }
const stray: RuleFlaw = { kind: "malformed", source: "quartermaster.yml rules[1]", sentence: "It has no because." }
const simulation: Simulation = {
  looked: 7,
  uncertain: 2,
  flaws: [],
  changed: [
    {
      callId: "c1",
      at: 0,
      agentId: "dev",
      tool: "set_env",
      input: "{}",
      code: "",
      before: "allow",
      after: "deny",
      reasons: [{ check: "rule", source: "rules[0]", code: "test", sentence: "It is closed." }],
    },
  ],
}

function rulesWith(
  flaws: readonly RuleFlaw[] = [],
  replaced: Partial<RuleAdmin> = {},
  file: unknown = [{ deny: "x" }],
  others: readonly Rule[] = [],
  stdin?: string,
) {
  const received: unknown[][] = []
  const rules: Partial<RuleAdmin> = {
    list: () => [rule, added, ...others],
    flaws: () => flaws,
    add: (given, by) => (received.push(["add", given, by]), Promise.resolve(added)),
    remove: (id, by) => (received.push(["remove", id, by]), Promise.resolve(id === "r1" ? added : undefined)),
    simulate: (given, filter) => (
      received.push(["simulate", given, filter]),
      Promise.resolve({ ...simulation, flaws })
    ),
    ...replaced,
  }
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, "new.yml"), JSON.stringify(file))
  const additions = () => received.filter(([what]) => what === "add")
  return { received, additions, run: (...words: string[]) => runWithApp({ rules }, words, { cwd, stdin }) }
}

test("rules are listed with their source, verdict, conditions, reason, shadow and flaws", async () => {
  const { run } = rulesWith([flaw, stray])
  const { code, stdout, stderr } = await run("rules")
  expect(code).toBe(0)
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["SOURCE", "VERDICT", "TOOL", "WHEN", "BECAUSE"],
    ["quartermaster.yml rules[0]", "deny", "set_env", "role developer", "It is closed."],
    ["rule r1", "ask (shadow)", "set_env", "-", "It is closed."],
    [""],
  ])
  expect(stderr).toBe(
    "quartermaster.yml rules[0] (dead): There is no role 'developer'.\nquartermaster.yml rules[1] (malformed): It has no because.\n",
  )
  const over: Rule = { ...rule, id: "r2", role: undefined, expiresAt: "2026-01-01T00:00:00Z", source: "rule r2" }
  const { stdout: withExpired } = await rulesWith([], {}, [], [over]).run("rules")
  expect(withExpired).toMatch(/rule r2 +deny \(expired\) +set_env +until 202[56]-/)
  expect(JSON.parse((await run("rules", "list", "--json")).stdout)).toMatchObject({
    rules: [
      { id: "rules[0]", flaws: [flaw] },
      { id: "r1", flaws: [] },
    ],
    flaws: [stray],
  })
})

test("every condition of a rule is shown", () => {
  const all: Rule = {
    ...rule,
    department: ["eng", "ops"],
    agent: ["dev"],
    effect: ["write"],
    touching: ["file:docs/**"],
    args: { "/key": "A*", "/n": { above: 1, not: [5, 6] } },
    except: ["host:x"],
    approvers: { role: "lead", count: 2 },
    deadline: 5,
  }
  expect(whenText(all)).toBe(
    "role developer, department eng or ops, agent dev, effect write, touching file:docs/**, /key is A*, /n is above 1 and not 5 or 6, except host:x, 2 of lead agree, within 5 min",
  )
})

test("rules without a flaw pass the test; a flaw of any kind fails it", async () => {
  expect(await rulesWith().run("rules", "test")).toEqual({
    code: 0,
    stdout: "2 rules, no mistakes, and every example passes.\n",
    stderr: "",
  })
  for (const kind of ["malformed", "dead", "shadowed", "example"] as const) {
    const { run } = rulesWith([{ ...flaw, kind }])
    expect(await run("rules", "test")).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(kind) as string,
    })
    expect(JSON.parse((await run("rules", "test", "--json")).stdout)).toMatchObject({
      ok: false,
      rules: 2,
      flaws: [{ kind }],
    })
  }
})

test.each([[[{ deny: "x" }]], [{ rules: [{ deny: "x" }], agent: "dev" }]])(
  "the rules of a file are tested without looking at any call: %j",
  async (file) => {
    const { run, received } = rulesWith([], {}, file)
    expect(await run("rules", "test", "new.yml")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^1 rule, /) as string,
    })
    expect(received).toEqual([["simulate", [{ deny: "x" }], { since: Number.MAX_SAFE_INTEGER }]])
  },
)

test("a file that is no list of rules is wrong usage", async () => {
  for (const file of ["text", 1, null, { rules: "all" }, {}]) {
    expect(await rulesWith([], {}, file).run("rules", "test", "new.yml")).toMatchObject({ code: 2, stdout: "" })
  }
})

test("a simulation lists changed decisions and says which are uncertain", async () => {
  const { run, received } = rulesWith()
  const words = ["rules", "simulate", "--rules", "new.yml", "--since", "2026-01-01T00:00Z", "--agent", "dev"]
  const { code, stdout, stderr } = await run(...words)
  expect(code).toBe(0)
  expect(stderr).toMatch(/^7 calls were decided again; 1 would have been decided differently\. The logged input of 2 /)
  expect(stdout).toMatch(/^\S+ \S+ +c1 +dev +set_env +allow +deny +It is closed\.$/m)
  expect(received.at(-1)).toEqual([
    "simulate",
    [{ deny: "x" }],
    { agentId: "dev", since: Date.parse("2026-01-01T00:00:00Z") },
  ])
  expect((await rulesWith([stray]).run(...words)).code).toBe(1)
  expect((await rulesWith([flaw]).run(...words)).code).toBe(0)
})

test("a rule is added as JSON or from a file, and a refused rule is reported", async () => {
  const { run, additions } = rulesWith([], {}, { deny: "y", because: "z" })
  expect((await run("rules", "add", '{"deny":"x","because":"y"}')).code).toBe(0)
  expect((await run("rules", "add", "@new.yml", "--as", "eve")).code).toBe(0)
  expect(additions()).toEqual([
    ["add", { deny: "x", because: "y" }, "ada"],
    ["add", { deny: "y", because: "z" }, "eve"],
  ])
  const refusing = rulesWith([], { add: () => Promise.reject(new Error("'because' is missing. Say why.")) })
  expect(await refusing.run("rules", "add", "{}")).toEqual({
    code: 2,
    stdout: "",
    stderr: "'because' is missing. Say why. 'qm rules add --help' shows how to use it.\n",
  })
  expect(await run("rules", "add", "deny http_post")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^The rule is not one rule with keys .* For example: qm rules add --allow write_file /,
    ),
  })
})

test.each([
  ["short YAML", "{ deny: x, because: It is frozen. }", undefined],
  ["YAML of several lines", "deny: x\nbecause: It is frozen.\n", undefined],
  ["an entry of a list, as it stands in a configuration", "-", "- deny: x\n  because: It is frozen."],
  ["stdin", "-", "deny: x\nbecause: It is frozen.\n"],
])("rules add takes a rule as %s", async (_what, text, stdin) => {
  const { run, additions } = rulesWith([], {}, undefined, [], stdin)
  expect(await run("rules", "add", text)).toMatchObject({ code: 0 })
  expect(additions()).toEqual([["add", { deny: "x", because: "It is frozen." }, "ada"]])
})

test("a rule whose YAML is broken is refused with the line", async () => {
  expect(await rulesWith().run("rules", "add", "deny: x\nbecause: [")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^The rule cannot be read as YAML or JSON \(line 2\): /),
  })
})

test("a rule that names something unknown is not added without a terminal, unless --yes says so", async () => {
  const { run, additions } = rulesWith([{ ...flaw, sentence: "There is no tool 'set_evn'. Did you mean 'set_env'?" }])
  const words = ["rules", "add", "--deny", "set_evn", "--because", "So."]
  expect(await run(...words)).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(
      /^There is no tool 'set_evn'\. Did you mean 'set_env'\? Nothing was added\./,
    ) as string,
  })
  expect(additions()).toEqual([])
  expect(await run(...words, "--yes")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Added /) as string })
})

test("a rule whose reason is still the placeholder is refused", async () => {
  const refused = await runWithApp({}, ["rules", "add", '{"allow":"x","because":"<why>"}'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("'<why>' is only its placeholder") })
})

test("an added rule can be removed; for a configured one the message says where it is written", async () => {
  const { run } = rulesWith([], {}, [], [builtIn])
  expect(await run("rules", "remove", "r1")).toMatchObject({ code: 0, stdout: "Removed rule r1: ask set_env.\n" })
  expect(await run("rules", "remove", "rules[0]")).toEqual({
    code: 1,
    stdout: "",
    stderr: "The rule 'rules[0]' is written in quartermaster.yml rules[0]. Change it there.\n",
  })
  expect((await run("rules", "remove", "root-organises")).stderr).toBe(
    "The rule 'root-organises' is built in and cannot be removed.\n",
  )
  expect((await run("rules", "remove", "")).code).toBe(2)
  expect(await run("rules", "remove", "r2")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^No rule was added/) as string,
  })
})

test.each<[string[], object]>([
  [
    ["--allow", "write_file", "--touching", "write:docs/**", "--touching", "write:a", "--agent", "dev,ops"],
    { allow: "write_file", touching: ["write:docs/**", "write:a"], agent: ["dev", "ops"] },
  ],
  [
    [
      "--deny",
      "http_*",
      "--role",
      "intern",
      "--department",
      "eng",
      "--effect",
      "network,write",
      "--except",
      "host:a.b",
    ],
    { deny: "http_*", role: ["intern"], department: ["eng"], effect: ["network", "write"], except: ["host:a.b"] },
  ],
  [
    ["--ask", "x", "--approvers", "2:lead", "--deadline", "10", "--arg", "/path=a=b", "--shadow"],
    { ask: "x", approvers: { count: 2, role: "lead" }, deadline: 10, args: { "/path": "a=b" }, shadow: true },
  ],
  [
    ["--ask", "x", "--arg", '/amount={"above":100}', "--arg", '/currency={"oneOf":["EUR"]}', "--arg", '/o={"a":1}'],
    { ask: "x", args: { "/amount": { above: 100 }, "/currency": { oneOf: ["EUR"] }, "/o": '{"a":1}' } },
  ],
  [["--ask", "x", "--approvers", "lead"], { ask: "x", approvers: { role: "lead" } }],
  [["--ask", "x", "--approvers", "3"], { ask: "x", approvers: { count: 3 } }],
  [["--ask", "x", "--release", "always"], { ask: "x", release: "always" }],
  [["--allow", "x", "--expires", "2099-01-31T18:00Z"], { allow: "x", expiresAt: "2099-01-31T18:00:00.000Z" }],
])("%j adds the rule %j", async (words, written) => {
  const { run, additions } = rulesWith()
  expect(await run("rules", "add", ...words, "--because", "So.")).toMatchObject({ code: 0 })
  expect(additions()).toEqual([["add", { ...written, because: "So." }, "ada"]])
})

test("--expires takes a time from now and stores it with its zone", async () => {
  const { run, additions } = rulesWith()
  const before = Date.now()
  await run("rules", "add", "--allow", "x", "--because", "So.", "--expires", "2h")
  const [[, given] = []] = additions() as [string, { expiresAt: string }][]
  expect(Date.parse(given!.expiresAt) - before).toBeGreaterThanOrEqual(2 * 3_600_000)
  expect(given!.expiresAt).toBe(new Date(Date.parse(given!.expiresAt)).toISOString())
})

test.each<[string[], string]>([
  [[], "Give the rule as options"],
  [["--because", "So."], "--allow, --ask and --deny"],
  [["--allow", "x"], "--because is missing"],
  [['{"deny":"x"}', "--because", "So.", "--deny", "x"], "given twice"],
  [["--allow", "x", "--because", "So.", "--expires", "2020-01-01"], "is over"],
  [["--allow", "x", "--because", "So.", "--expires", "soon"], "--expires takes"],
  [["--allow", "x", "--because", "So.", "--arg", "path"], "--arg takes"],
  [["--ask", "x", "--because", "So.", "--deadline", "long"], "--deadline takes"],
])("%j adds no rule and says what to write", async (words, sentence) => {
  const { run, additions } = rulesWith()
  expect(await run("rules", "add", ...words)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(sentence) as string,
  })
  expect(additions()).toEqual([])
})

test("suggested rules are shown with what they cover and the command that adds each", async () => {
  const suggestion: RuleSuggestion = {
    rule: { allow: "run_command", agent: "dev", touching: ["command:git status *"], because: "ann approved it." },
    approvals: 7,
    people: ["ann"],
    first: 0,
    last: 1,
    examples: ['{"command":"git status -s"}'],
    refusedCompared: 2,
  }
  const found = { approved: 9, refused: 2, suggestions: [suggestion] }
  const { run } = rulesWith([], { suggest: () => Promise.resolve(found) })
  const { code, stdout, stderr } = await run("rules", "suggest", "--since", "30d")
  expect([code, stderr]).toEqual([0, "9 approved and 2 refused calls were read.\n"])
  expect(stdout).toContain("It would have covered 7 calls that ann approved")
  expect(stdout).toContain("It covers none of the 2 refused calls of run_command by dev.")
  expect(stdout).toContain(
    "qm rules add --allow run_command --agent dev --touching 'command:git status *' --because 'ann approved it.' --expires 30d",
  )
  expect(JSON.parse((await run("rules", "suggest", "--json")).stdout)).toEqual(found)
  const none = rulesWith([], { suggest: () => Promise.resolve({ ...found, suggestions: [] }) })
  expect(await none.run("rules", "suggest")).toMatchObject({ code: 0, stdout: "" })
})
