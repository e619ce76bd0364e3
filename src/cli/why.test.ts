import { expect, test } from "vitest"
import type { App, Explanation } from "../model/app.ts"
import { runOver } from "./testing.ts"

const explanation: Explanation = {
  agentId: "dev",
  tool: "set_env",
  verdict: "deny",
  code: "permission_denied",
  reasons: [{ voice: "rule", source: "quartermaster.yml rules[0]", sentence: "It is closed.", binding: true }],
  heard: [
    { voice: "group", source: "role developer", sentence: "It has the group.", says: "nothing" },
    { voice: "rule", source: "quartermaster.yml rules[0]", sentence: "It is\nclosed.", says: "deny" },
    { voice: "level", source: "system:set_env@1", sentence: "It is moderate.", says: "ask", binding: true },
    { voice: "rule", source: "rule x", sentence: "Later.", says: "nothing", shadow: "deny" },
  ],
  touches: { list: [{ kind: "write", what: "a.txt" }], proved: false },
  approvers: [{ role: "lead", count: 2 }],
  release: "always",
  change: ["Remove rule quartermaster.yml rules[0]."],
  policy: "abc",
}

function whyWith(given: Parameters<typeof runOver>[2] = {}) {
  const asked: unknown[] = []
  const why: App["why"] = (request) => {
    asked.push(request)
    if (request.tool === "broken") return Promise.reject(new Error("The store is gone."))
    return Promise.resolve(
      request.tool === "free" ? { ...explanation, verdict: "allow", code: undefined, reasons: [] } : explanation,
    )
  }
  return { asked, run: (...words: string[]) => runOver({ why, inputOf: () => undefined }, words, given) }
}

test("a verdict is told with every voice in order, its source, and what would change it", async () => {
  const { run, asked } = whyWith()
  const told = await run("why", "set_env", "key=A", "--agent", "dev", "--session", "s1")
  expect(told).toMatchObject({ code: 0, stderr: "" })
  expect(told.stdout.split("\n")).toEqual([
    "set_env for agent dev: deny (permission_denied)",
    "Every voice, in order:",
    "  nothing        It has the group.",
    "                 group: role developer",
    "  deny           It is\\nclosed.",
    "                 rule: quartermaster.yml rules[0]",
    "  ask            It is moderate.",
    "                 level: system:set_env@1; only a person lifts it",
    "  deny (shadow)  Later.",
    "                 rule: rule x",
    "It touches, as far as can be told:",
    "  write a.txt",
    "Who must agree:",
    "  2 with role lead",
    "The result:",
    "  is held back for a person (always)",
    "What would change it:",
    "  Remove rule quartermaster.yml rules[0].",
    "Policy abc.",
    "",
  ])
  expect(asked).toEqual([{ agentId: "dev", tool: "set_env", input: { key: "A" }, sessionId: "s1" }])
  expect(JSON.parse((await run("why", "set_env", '{"key":"A"}', "--json")).stdout)).toEqual(explanation)
})

test("lines on stdin are answered line by line; a bad one does not stop the rest, and is told by the exit code", async () => {
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
    reasons: [{ voice: "rule", source: "quartermaster.yml rules[0]", sentence: "It is closed." }],
  }
  const help = 'Write {"agent":"…","tool":"…","input":{…}} on one line.'
  expect(answers).toEqual([
    judged,
    { error: expect.stringMatching(/^The line is not JSON \(.*\)\. Write /) as string },
    { error: `The line is no object. ${help}` },
    { error: `The line names no tool. ${help}` },
    { error: `'agent' is not a text. ${help}` },
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
