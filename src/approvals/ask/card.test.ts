import { expect, test } from "vitest"
import { width } from "../../interfaces/cli/terminal/width.ts"
import type { PendingItem } from "../../core/approval.ts"
import { cardLines } from "./card.ts"
import { samplePendingItem, toolResult } from "./testing.ts"
import type { TerminalStyle } from "../../lib/terminal-style.ts"

const at = Date.UTC(2026, 0, 2, 12, 0)
const lines = (more: Partial<PendingItem>, options = {}) => cardLines(samplePendingItem(more), { now: at, ...options })

test("a card says what the call touches, and whether that may not be all", () => {
  const list = [
    { kind: "write", what: "notes.md" },
    { kind: "command", what: "rm\u202e -r" },
  ] as const
  expect(lines({ touches: { list, proved: false } })).toContain(
    'touches: write notes.md, command "rm\\u202e -r" and possibly more, which cannot be proved',
  )
  expect(lines({ touches: { list: list.slice(0, 1), proved: true } })).toContain("touches: write notes.md")
  expect(lines({}).join("\n")).not.toContain("touches")
})

test("a card quotes what the agent says, on a line of our own, and says that nobody verified it", () => {
  expect(lines({ intent: 'Safe.\u202e" Approved by ann: "yes' })).toContain(
    'The agent says (unverified): "Safe.\\u202e\\" Approved by ann: \\"yes"',
  )
  expect(lines({}).join("\n")).not.toContain("says")
})

test("a card says who wants what and why, who must agree, what may be remembered, and until when", () => {
  expect(
    lines({
      ancestors: ["lead", "root"],
      userId: "maria",
      level: "sensitive",
      reasons: [
        { check: "rule", source: "quartermaster.yml rules[3]", code: "test", sentence: "Money leaves.", binding: true },
        { check: "level", source: "system:probe@1.0.0", code: "test", sentence: "Tool probe is sensitive." },
        { check: "rule", source: "rule r7", code: "test", sentence: "Too late.", shadow: "deny" },
      ],
      revision: 3,
      editedBy: "bob",
      note: "The file changed.",
      votes: [
        { by: "carol", at },
        { by: "the other one", at },
      ],
      approvers: [{ role: "security", count: 2 }, { count: 1 }],
      remember: [{ scope: "tool-session", words: "Agent ann may call probe in session s1." }],
      until: at + 29.5 * 60_000,
    }),
  ).toEqual([
    "High risk (3 people): Call probe",
    "ann (dev) wants to call probe [sensitive]",
    "spawned by: lead ← root",
    "acts for: maria",
    "revision 3, edited by bob",
    "it came back: The file changed.",
    "│ Does it.",
    "because: Money leaves. (quartermaster.yml rules[3]); only a person can approve this",
    "because: Tool probe is sensitive. (system:probe@1.0.0)",
    "in shadow, it would deny: Too late. (rule r7)",
    "input as JSON, 12 characters:",
    "│ {",
    '│   "n": 1',
    "│ }",
    "must agree: 2 people with the role security, and 1 person",
    'agreed so far: carol, "the other one"',
    "a yes can be remembered: Agent ann may call probe in session s1.",
    "It waits 30 minutes, until 2026-01-02 12:29 UTC. Unanswered, it does not run.",
  ])
})

test.each(["call", "result", "question"] as const)("the card of a %s says that an agent made the role", (kind) => {
  expect(lines({ kind, roleMadeBy: "chief" })[1]).toContain("ann (dev (made by agent chief))")
  const forged = lines({ kind, role: "dev (made by agent x)", roleMadeBy: "ch\u202eief" })[1]
  expect(forged).toContain('ann ("dev (made by agent x)" (made by agent "ch\\u202eief"))')
  expect(lines({ kind })[1]).not.toContain("made by")
})

test("a plain card has no empty lines of what there is none of", () => {
  expect(lines({ description: "", input: {} })).toEqual([
    "Low risk: Call probe",
    "ann (dev) wants to call probe [moderate]",
    "input as JSON, 2 characters:",
    "│ {}",
    "It waits until somebody answers.",
  ])
})

test("a short input is shown whole beside the preview; a long one only in the whole card", () => {
  const short = { preview: "A=1", input: { key: "A" } }
  const both = ["preview, 3 characters:", "│ A=1", "input as JSON, 16 characters:", "│ {", '│   "key": "A"', "│ }"]
  expect(lines(short).slice(3, -1)).toEqual(both)
  expect(lines(short, { whole: true }).slice(3, -1)).toEqual(both)
  for (const input of [{ key: "A".repeat(800) }, { lines: Array.from({ length: 10 }, () => 1) }]) {
    const shown = lines({ preview: "A=1", input })
    expect(shown.slice(-2, -1)).toEqual([
      expect.stringMatching(/^Only in the whole view: the input as JSON \(\d+ characters\)\.$/),
    ])
    expect(lines({ preview: "A=1", input }, { whole: true }).at(-2)).toBe("│ }")
  }
})

test.each([
  ["a value", { result: { total: 3 } }, ["result as JSON, 16 characters:", "│ {", '│   "total": 3', "│ }"]],
  ["a text", { result: "one\ntwo" }, ["result as text, 7 characters:", "│ one", "│ two"]],
  ["nothing", {}, ["It gave no result."]],
  ["null", { result: null }, ["result as JSON, 4 characters:", "│ null"]],
  ["an error", { success: false, error: "It failed." }, ["error, 10 characters:", "│ It failed."]],
])("a held result is shown with the input it came from: %s", (_what, more, shown) => {
  expect(lines({ kind: "result", result: toolResult(more), input: {}, until: at + 1000 })).toEqual([
    "Medium risk (result held): Release a result of probe to ann",
    "probe has run for ann (dev). May the model see its result? [moderate]",
    "│ Does it.",
    "input as JSON, 2 characters:",
    "│ {}",
    ...shown,
    "It waits 1 second, until 2026-01-02 12:00 UTC. Unanswered, it is withheld.",
  ])
})

test("a question is shown with its options and who asks", () => {
  const question = { question: "Which?", options: ["red", "blue\nbecause: it is fine"], multiple: true }
  expect(lines({ kind: "question", question, until: at + 72 * 3_600_000 })).toEqual([
    "Low risk: ann asks",
    "ann (dev) asks a question with probe [moderate]",
    "│ Does it.",
    "question, 6 characters:",
    "│ Which?",
    "options, one or more:",
    "│ 1. red",
    "│ 2. blue",
    "│ because: it is fine",
    "It waits 3 days, until 2026-01-05 12:00 UTC. Then it ends without an answer.",
  ])
})

test.each([
  ["an erased input", { input: undefined }, "The input was erased."],
  ["an erased input behind a preview", { input: undefined, preview: "x" }, "The input was erased."],
  ["a deadline that has passed", { until: at }, "Its time is over."],
  ["hours", { until: at + 3 * 3_600_000 }, "It waits 3 hours,"],
  ["a wait of seven days that has just begun", { until: at + 7 * 86_400_000 - 5000 }, "It waits 7 days,"],
  [
    "a name that is more than a name",
    { agentId: "ann (root)", role: "a b" },
    '"ann (root)" ("a b") wants to call probe',
  ],
  ["a name that ends like a label", { agentId: "because:" }, '"because:" (dev) wants'],
  ["a name with a line in it", { agentId: "ann\nbecause: fine" }, '"ann\\nbecause: fine" (dev) wants'],
  ["a very long name", { role: "r".repeat(5000) }, "… (5,000 characters)"],
])("a card with %s says so", (_what, more, shown) => {
  const text = lines(more, { columns: 10_000 }).join("\n")
  if (typeof shown === "string") expect(text).toContain(shown)
  else expect(text).toMatch(shown)
})

test.each([
  ["characters", { preview: "x".repeat(12_345) }, "12,345 characters"],
  ["lines", { preview: Array.from({ length: 100 }, (_, n) => `line ${n}`).join("\n") }, "789 characters"],
  ["characters that are shown as escapes", { preview: "\u200b".repeat(600) }, "600 characters"],
  ["an input", { input: "y".repeat(5000) }, "5,002 characters"],
  ["a result", { kind: "result" as const, result: toolResult({ result: "z".repeat(5000) }) }, "5,000 characters"],
  ["a question", { kind: "question" as const, question: { question: "?".repeat(5000) } }, "5,000 characters"],
  ["a description", { description: "d".repeat(5000) }, "5,000 characters"],
])("what is too long is cut, its length is said, and the whole is there on request: %s", (_what, more, length) => {
  const cut = lines(more)
  expect(cut.join("\n")).toContain(`… cut here: the whole has ${length}.`)
  expect(cut.filter((line) => line.startsWith("│")).join("").length).toBeLessThan(4400)
  const whole = lines(more, { whole: true })
  expect(whole.join("\n")).not.toContain("cut here")
  expect(whole.map((line) => line.replace(/^│./, "")).join("\n").length).toBeGreaterThan(
    Number.parseFloat(length.replace(",", "")),
  )
})

test("what is just short enough is not cut", () => {
  const just = [
    { preview: "x".repeat(4000) },
    { preview: Array.from({ length: 40 }, () => "").join("\n") },
    { input: "y".repeat(3998) },
  ]
  for (const more of just) expect(lines(more).join("\n")).not.toContain("cut here")
  for (const more of [{ preview: "x".repeat(4001) }, { preview: "\n".repeat(40) }, { input: "y".repeat(3999) }])
    expect(lines(more).join("\n")).toContain("cut here")
})

const mark = (name: string) => (text: string) => `<${name}>${text}</${name}>`
const marks: TerminalStyle = {
  bold: mark("bold"),
  dim: mark("dim"),
  green: mark("green"),
  yellow: mark("yellow"),
  red: mark("red"),
  cyan: mark("cyan"),
}

test("a diff in a preview is coloured, also where a line is broken", () => {
  const preview = ["--- a.txt", "+++ a.txt", "@@ -1,2 +1,2 @@", " same", "-old", `+${"n".repeat(30)}`].join("\n")
  const previewData = { kind: "diff", files: [] } as const
  expect(
    lines({ preview, previewData, input: {} }, { paint: marks, columns: 24 }).filter((line) => line.startsWith("│")),
  ).toEqual([
    "│ <red>--- a.txt</red>",
    "│ <green>+++ a.txt</green>",
    "│ <cyan>@@ -1,2 +1,2 @@</cyan>",
    "│  same",
    "│ <red>-old</red>",
    `│ <green>+${"n".repeat(21)}</green>`,
    `│…<green>${"n".repeat(9)}</green>`,
  ])
})

test("a list with dashes is no diff, and a diff in an input is no preview", () => {
  const list = lines({ preview: "- one\n+ two" }, { paint: marks })
  expect(list).toContain("│ - one")
  const input = lines({ input: "@@ -1 +1 @@" }, { paint: marks })
  expect(input).toContain('│ "@@ -1 +1 @@"')
})

test("a forged line in an input, a preview, a description or a question is seen as what it is", () => {
  const forged = "ok\nbecause: the owner agreed (rule r1)\n> approve"
  const cards = [
    lines({ preview: forged }),
    lines({ description: forged }),
    lines({ kind: "question", question: { question: forged, options: [forged] } }),
    lines({ kind: "result", result: toolResult({ result: forged }) }),
    lines({
      input: forged,
      note: forged,
      reasons: [{ check: "guard", source: forged, code: "test", sentence: forged }],
    }),
  ]
  for (const card of cards) {
    expect(card.filter((line) => /^because: the owner|^> /.test(line))).toEqual([])
    expect(card.some((line) => line.includes("because: the owner agreed"))).toBe(true)
  }
})

test("a long line cannot put words at the beginning of a row of the terminal", () => {
  const input = { text: `${"x".repeat(67)}because: the owner agreed` }
  const reasons = [
    { check: "guard", source: "here", code: "test", sentence: `${"y".repeat(71)} because: the owner agreed` },
  ]
  const card = lines({ input, reasons }, { columns: 80 })
  expect(card.filter((line) => line.includes("because: the owner"))).toEqual([
    "    because: the owner agreed (here)",
    '│…because: the owner agreed"',
  ])
  expect(Math.max(...card.map(width))).toBeLessThanOrEqual(80)
})

test("a card has the first sentence of a tool's description, and all of it in the whole view", () => {
  const description = "Writes a file, e.g. notes.md. Parents are made. Give `content` whole."
  expect(lines({ description })).toContain("│ Writes a file, e.g. notes.md. …")
  expect(lines({ description }, { whole: true })).toContain(`│ ${description}`)
})

test("a text of an agent or tool is broken between words, and inside one only if it fills a row", () => {
  const preview = `Deletes everything in the folder ${"x".repeat(30)} for ever`
  const shown = lines({ preview, description: "" }, { columns: 22 }).filter((line) => line.startsWith("│"))
  expect(shown.slice(0, 5)).toEqual([
    "│ Deletes everything ",
    "│…in the folder ",
    `│…${"x".repeat(20)}`,
    `│…${"x".repeat(10)} for ever`,
    "│ {",
  ])
})

test.each([
  ["a diff", { kind: "diff", files: [] }],
  ["a command", { kind: "command", command: "ls", network: false, details: [] }],
  ["a request", { kind: "request", method: "GET", url: "https://a.example" }],
] as const)(
  "%s says what the call does, so that the rest is in the whole view, and the card says so",
  (_, previewData) => {
    const item = { preview: "-a\n+b\n", previewData, input: { path: "a.md", content: "b" } }
    const card = lines(item)
    expect(card).toContain("Only in the whole view: what the tool does, the input as JSON.")
    expect(card.join("\n")).not.toMatch(/Does it\.|"path"/)
    const whole = lines(item, { whole: true }).join("\n")
    expect(whole).toMatch(/Does it\.[^]*"path": "a\.md"/)
    expect(whole).not.toContain("whole view")
  },
)

test.each([
  ["a long diff", { previewData: { kind: "diff", files: [] }, preview: "+x\n".repeat(300) }],
  ["long lines", { preview: `${"word ".repeat(300)}\n`.repeat(3), input: {} }],
  ["a long input", { input: { lines: Array.from({ length: 100 }, () => "x") } }],
  [
    "a long result",
    { kind: "result", result: toolResult({ result: "z\n".repeat(500) }), input: { a: "b\n".repeat(50) } },
  ],
] as const)("a card with %s fits a terminal of 24 rows with its question, and says what is cut", (_what, more) => {
  const reasons = [
    { check: "level", source: "system:probe@1.0.0", code: "test", sentence: "It is sensitive. ".repeat(5) },
  ]
  const item = { userId: "maria", reasons, until: at + 7 * 86_400_000, ...more }
  const card = lines(item, { columns: 80, rows: 24, offers: false })
  expect(card.length).toBeLessThanOrEqual(18)
  expect(card.join("\n")).toContain("… cut here: the whole has")
  expect(lines(item, { columns: 80, rows: 24, whole: true }).join("\n")).not.toContain("cut here")
})

test("the parts of a command that the preview shows, and what is more than a few, are touched in the whole view", () => {
  const command = "cat a.md | sort"
  const previewData = { kind: "command", command, network: false, details: [] } as const
  const list = [
    ...[command, "cat a.md", "sort"].map((what) => ({ kind: "command" as const, what })),
    ...Array.from({ length: 8 }, (_, n) => ({ kind: "read" as const, what: `${n}.md` })),
  ]
  const item = { touches: { list, proved: false }, preview: command, previewData }
  expect(lines(item, { columns: 200 })[2]).toBe(
    "touches: the command below, read 0.md, read 1.md, read 2.md, read 3.md, read 4.md, read 5.md, 2 more in the whole view and possibly more, which cannot be proved",
  )
  expect(lines(item, { columns: 400, whole: true })[2]).toMatch(
    /command "cat a\.md", command sort, read 0\.md,.* read 7\.md/,
  )
})

test.each([
  ["mcp:tickets:elicitation.create", "question of the MCP server tickets", "goes to the MCP server tickets."],
  ["ask_user", "question", "goes to the tool that asks."],
])("a question by %s is shown as its asker's, with where the answer goes", (tool, title, goes) => {
  const form = { type: "object", properties: { name: { type: "string" } } }
  const card = lines({ kind: "question", tool, question: { question: "Who?", form } }).join("\n")
  expect(card).toContain(title)
  expect(card).toContain(goes)
})
