import { expect, test } from "vitest"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { Explanation } from "../../../../policy/explanation.ts"
import { runWithApp } from "../../testing.ts"
import { whyText } from "./why.ts"

const explanation: Explanation = {
  agentId: "dev",
  tool: "set_env",
  verdict: "deny",
  code: "permission_denied",
  reasons: [
    { check: "rule", source: "quartermaster.yml rules[0]", code: "test", sentence: "It is closed.", binding: true },
  ],
  checks: [
    { check: "group", source: "role developer", code: "test", sentence: "It has the group.", verdict: "pass" },
    { check: "rule", source: "quartermaster.yml rules[0]", code: "test", sentence: "It is\nclosed.", verdict: "deny" },
    {
      check: "level",
      source: "system:set_env@1",
      code: "test",
      sentence: "It is moderate.",
      verdict: "ask",
      binding: true,
    },
    { check: "rule", source: "rule x", code: "test", sentence: "Later.", verdict: "pass", shadow: "deny" },
  ],
  touches: { list: [{ kind: "write", what: "a.txt" }], proved: false },
  approvers: [{ role: "lead", count: 2 }],
  release: "always",
  change: ["qm rules remove x"],
  policy: "abc",
}

test("of a tool that does not say what it touches, that is said", () => {
  const touches = { list: [], proved: true, unknown: true }
  expect(whyText({ ...explanation, touches })).toContain("\nTouches unknown: the tool does not say which files")
  expect(whyText(explanation)).not.toContain("Touches unknown")
})

function whyWith(given: Parameters<typeof runWithApp>[2] = {}) {
  const asked: unknown[] = []
  const why: Quartermaster["why"] = (request) => {
    asked.push(request)
    if (request.tool === "broken") return Promise.reject(new Error("The store is gone."))
    return Promise.resolve(
      request.tool === "free" ? { ...explanation, verdict: "allow", code: undefined, reasons: [] } : explanation,
    )
  }
  return { asked, run: (...words: string[]) => runWithApp({ why, inputSchemaOf: () => undefined }, words, given) }
}

test("the verdict comes first, then the checks that decided it in order, then what would change it", async () => {
  const { run, asked } = whyWith()
  const printed = await run("why", "set_env", "key=A", "--agent", "dev", "--session", "s1")
  expect(printed).toMatchObject({ code: 0, stderr: "" })
  expect(printed.stdout.split("\n")).toEqual([
    "Agent dev may not call set_env (permission_denied).",
    "",
    "Checks, in order:",
    "  deny           It is\\nclosed. (rule: quartermaster.yml rules[0])",
    "  ask            It is moderate. (level: system:set_env@1; only a person can approve it)",
    "  deny (shadow)  Later. (rule: rule x)",
    "  1 other check passed; --all shows them.",
    "",
    "It touches, as far as is known:",
    "  write a.txt",
    "",
    "Who must approve:",
    "  2 with role lead",
    "",
    "The result:",
    "  is held for a person (always)",
    "",
    "To change this:",
    "  qm rules remove x",
    "",
    "Policy version abc.",
    "",
  ])
  expect(asked).toEqual([{ agentId: "dev", tool: "set_env", input: { key: "A" }, sessionId: "s1" }])
  expect(JSON.parse((await run("why", "set_env", '{"key":"A"}', "--json")).stdout)).toEqual(explanation)
})

test("--all also shows the checks that passed", async () => {
  const { stdout } = await whyWith().run("why", "set_env", "--agent", "dev", "--all")
  expect(stdout).toContain("  pass           It has the group. (group: role developer)\n")
  expect(stdout).not.toContain("--all")
})

test.each([
  [{ verdict: "allow", code: undefined }, "Agent dev may call set_env; it runs without asking."],
  [{ verdict: "ask", code: undefined }, "Agent dev may call set_env after a person has approved it."],
  [{ verdict: "deny", code: "unknown_tool" }, "There is no tool set_env for agent dev (unknown_tool)."],
  [
    { verdict: "ask", code: undefined, reasons: [{ check: "tool", source: "x", code: "question", sentence: "" }] },
    "Agent dev may call set_env; it waits for a person's answer.",
  ],
] as const)("the first line says the verdict in one sentence: %#", (change, sentence) => {
  expect(whyText({ ...explanation, ...change }).split("\n")[0]).toBe(sentence)
})

test("lines on stdin are answered line by line; a bad line does not stop the rest, and the exit code is 1", async () => {
  const lines = [
    '{"agent":"dev","tool":"set_env","input":{"key":"A"}}',
    "{oops",
    "[]",
    '{"agent":"dev"}',
    '{"agent":7,"tool":"sleep"}',
    "",
    '{"tool":"sleep","session":"s2"}',
    '{"tool":"broken"}',
    '{"tool":"free"}',
  ]
  const { run, asked } = whyWith({ stdin: lines.join("\n"), config: { agent: "usual" } })
  const { code, stdout, stderr } = await run("why", "--stdin")
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" })
  const right = whyWith({ stdin: '{"tool":"free"}\n{"tool":"set_env"}\n' })
  expect((await right.run("why", "--stdin")).code).toBe(0)
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const judged = {
    verdict: "deny",
    code: "permission_denied",
    reasons: [{ check: "rule", source: "quartermaster.yml rules[0]", code: "test", sentence: "It is closed." }],
  }
  const help = 'Write {"agent":"…","tool":"…","input":{…}} on one line.'
  expect(answers).toEqual([
    judged,
    { error: expect.stringMatching(/^The line is not JSON \(.*\)\. Write /) as string },
    { error: `The line is not an object. ${help}` },
    { error: `The line names no tool. ${help}` },
    { error: `'agent' must be a string. ${help}` },
    { error: expect.stringMatching(/^The line is not JSON/) as string },
    judged,
    { error: "The store is gone." },
    { verdict: "allow", code: null, reasons: [] },
  ])
  expect(asked).toEqual([
    { agentId: "dev", tool: "set_env", input: { key: "A" } },
    { agentId: "usual", tool: "sleep", input: {}, sessionId: "s2" },
    { agentId: "usual", tool: "broken", input: {} },
    { agentId: "usual", tool: "free", input: {} },
  ])
})

test.each([[["why"]], [["why", "sleep", "--stdin"]]])("%j is wrong usage", async (words) => {
  expect(await whyWith().run(...words)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^Name a tool/) as string,
  })
})

test("the input of one call is read from stdin with -", async () => {
  const { run, asked } = whyWith({ stdin: '{"key":"A","value":"it\'s"}' })
  expect((await run("why", "set_env", "-")).code).toBe(0)
  expect(asked).toMatchObject([{ tool: "set_env", input: { key: "A", value: "it's" } }])
})
