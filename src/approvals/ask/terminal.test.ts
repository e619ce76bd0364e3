import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test, type TestContext } from "vitest"
import type { ApprovalRequest, PendingItem } from "../../core/approval.ts"
import type { ToolResult } from "../../core/result.ts"
import { cardLines } from "./card.ts"
import type { Terminal } from "./dialog.ts"
import { terminalAdapter, terminalAsk } from "./terminal.ts"
import { approvalRequest, samplePendingItem, fakeTerminal, toolResult } from "./testing.ts"

const menu = "escape no\n> "
const [escape, controlC, clearLine, enter] = ["\u001b", "\u0003", "\u0015", "\r"]
const closed = { approved: false, rejectReason: "The dialog was closed." }
const yes = { approved: true }
const remember: PendingItem["remember"] = [
  { scope: "input-session", words: "Agent ann may call probe with exactly this input." },
  { scope: "tool-session", words: "Agent ann may call probe in this session." },
]

function askCall(terminal: Terminal, more: Partial<ApprovalRequest> = {}) {
  const request = approvalRequest(more)
  const { tool, description, input, level } = request
  return terminalAdapter(terminal).showToolExecutionApproval(tool, description, input, level, request)
}

function askResult(terminal: Terminal, result: Partial<ToolResult>, more: Partial<ApprovalRequest> = {}) {
  return terminalAdapter(terminal).showToolResultApproval("probe", {}, toolResult(result), approvalRequest(more))
}

/** Waits for each text and then makes one read of each of the keys behind it. */
async function play({ appears, press }: ReturnType<typeof fakeTerminal>, steps: readonly (readonly string[])[]) {
  for (const [text = "", ...keys] of steps) {
    await appears(text)
    await press(...keys)
  }
}

test("with onInterrupt, Ctrl-C stops the program: no card is answered, and none is shown any more", async () => {
  let stops = 0
  const fake = fakeTerminal({ onInterrupt: () => stops++ })
  const { showToolExecutionApproval } = terminalAdapter(fake.terminal)
  const [first, second] = [new AbortController(), new AbortController()]
  const answered: unknown[] = []
  const open = [first, second].map(({ signal }, place) => {
    const request = approvalRequest({ signal, tool: `tool${place}` })
    const { tool, description, input, level } = request
    return showToolExecutionApproval(tool, description, input, level, request).then((answer) => answered.push(answer))
  })
  await play(fake, [["Run tool0?", controlC]])
  await fake.appears("> stopped")
  await new Promise(setImmediate)
  expect([stops, answered]).toEqual([1, []])
  first.abort()
  second.abort()
  await Promise.all(open)
  expect(fake.seen()).not.toContain("tool1")
})

test.concurrent.each<[string, Partial<ApprovalRequest>, string[][], object]>([
  ["a approves", {}, [[menu, `a${enter}`]], yes],
  ["escape is no", {}, [[menu, escape]], closed],
  ["Ctrl-C is no", {}, [[menu, controlC]], closed],
  ["q is no", {}, [[menu, `q${enter}`]], closed],
  ["escape pressed in anger is no", {}, [[menu, escape + escape + controlC]], closed],
  ["y approves too, as elsewhere in terminals", {}, [[menu, `y${enter}`]], yes],
  [
    "n rejects and asks why",
    {},
    [
      [menu, `n${enter}`],
      ["Why not?", `later${enter}`],
    ],
    { ...closed, rejectReason: "later" },
  ],
  ["the prompt says that a choice needs Enter", {}, [["type one of these, then Enter", `a${enter}`]], yes],
  ["A approves too: caps lock may be on", {}, [[menu, `A${enter}`]], yes],
  ["Enter in a read of its own", {}, [[menu, "a", enter]], yes],
  ["a letter that was deleted is none", {}, [[menu, "r", "\u007f", "a", enter]], yes],
  [
    "escape empties the line, and then is no",
    {},
    [
      [menu, "a", escape],
      ["\r> ", escape],
    ],
    closed,
  ],
  [
    "keys that type nothing do nothing",
    {},
    [[menu, "\t", "\u0004", "\u001b[A", "\u001bOP", "\u001b[15~", "\u001ba", `q${enter}`]],
    closed,
  ],
  [
    "m remembers what is chosen",
    { remember },
    [
      [menu, `m${enter}`],
      ["escape back\n> ", `3${enter}`],
      ["not one of the choices"],
      ["escape back\n> ", `2${enter}`],
    ],
    { ...yes, remember: "tool-session" },
  ],
  [
    "m and escape goes back",
    { remember },
    [
      [menu, `m${enter}`],
      ["escape back\n> ", escape],
      [menu, `a${enter}`],
    ],
    yes,
  ],
  [
    "r asks why",
    {},
    [
      [menu, `r${enter}`],
      ["Why not?", `not today${enter}`],
    ],
    { ...closed, rejectReason: "not today" },
  ],
  [
    "r without a reason is still a no",
    {},
    [
      [menu, `r${enter}`],
      ["Why not?", enter],
    ],
    { ...closed, rejectReason: "Operation cancelled by user" },
  ],
  [
    "r closed at the question why is still a no",
    {},
    [
      [menu, `r${enter}`],
      ["Why not?", controlC],
    ],
    { ...closed, rejectReason: "Operation cancelled by user" },
  ],
  [
    "s shows the whole and asks again",
    { preview: "A=1" },
    [[menu, `s${enter}`], ["input as JSON, 12 characters:\n"], [menu, `a${enter}`]],
    yes,
  ],
  [
    "e gives a new input",
    { input: { text: "a\u202eb" } },
    [
      [menu, `e${enter}`],
      ['{"text":"a\\u202eb"}', clearLine, `{"text":"c"}${enter}`],
    ],
    { approved: false, edit: { input: { text: "c" } } },
  ],
  [
    "e says what is no JSON and asks again",
    {},
    [
      [menu, `e${enter}`],
      ['{"n":1}', clearLine, `{n${enter}`],
      ["That is not valid JSON", clearLine, `[2]${enter}`],
    ],
    { approved: false, edit: { input: [2] } },
  ],
  [
    "e without a change goes back",
    {},
    [[menu, `e${enter}`], ["The input as JSON", enter], ["Nothing was changed."], [menu, `a${enter}`]],
    yes,
  ],
  [
    "e and escape goes back",
    {},
    [
      [menu, `e${enter}`],
      ["The input as JSON", controlC],
      [menu, `q${enter}`],
    ],
    closed,
  ],
])("the terminal, the adapter by default, asks about a call: %s", async (_what, more, steps, decision) => {
  const fake = fakeTerminal()
  const [given] = await Promise.all([askCall(fake.terminal, more), play(fake, steps)])
  expect(given).toEqual(decision)
})

test.concurrent.each<[string, Partial<ToolResult>, string[][], object]>([
  ["a releases", { result: 1 }, [[menu, `a${enter}`]], yes],
  ["y releases", { result: 1 }, [[menu, `y${enter}`]], yes],
  ["escape withholds", { result: 1 }, [[menu, escape]], closed],
  [
    "r asks why",
    { result: 1 },
    [
      [menu, `r${enter}`],
      ["Why not?", `secret${enter}`],
    ],
    { ...closed, rejectReason: "secret" },
  ],
  [
    "keys of a call are nothing here",
    { result: 1 },
    [[menu, `e${enter}`], ["not one of the choices"], [menu, `q${enter}`]],
    closed,
  ],
  [
    "s shows the whole and asks again",
    { result: `${"x".repeat(5000)} the end` },
    [["cut here"], [menu, `s${enter}`], ["the end"], [menu, `a${enter}`]],
    yes,
  ],
  [
    "d takes out what pointers name",
    { result: { a: { "b/c": 1 }, list: [null] } },
    [
      [menu, `d${enter}`],
      ["What to take out", `/a/b~1c, /list/0${enter}`],
    ],
    { ...yes, redact: ["/a/b~1c", "/list/0"] },
  ],
  [
    "d with a pointer to nothing asks again",
    { result: { password: "x" } },
    [
      [menu, `d${enter}`],
      ["What to take out", `/pasword${enter}`],
      ['There is nothing at "/pasword"', clearLine, `/password${enter}`],
    ],
    { ...yes, redact: ["/password"] },
  ],
  [
    "d with nothing asks again, and a text replaces the result",
    { result: 1 },
    [
      [menu, `d${enter}`],
      ["What to take out", enter],
      ["Name a place", `It worked.${enter}`],
    ],
    { ...yes, replace: { value: "It worked." } },
  ],
  [
    "an error has no parts, but can be replaced",
    { success: false, error: "at /home/ann" },
    [
      [menu, `d${enter}`],
      ["What to take out", `/a${enter}`],
      ["This is an error", clearLine, `It failed.${enter}`],
    ],
    { ...yes, replace: { value: "It failed." } },
  ],
  [
    "d and Ctrl-C goes back",
    { result: 1 },
    [
      [menu, `d${enter}`],
      ["What to take out", controlC],
      [menu, `q${enter}`],
    ],
    closed,
  ],
])("the terminal asks about a result: %s", async (_what, result, steps, decision) => {
  const fake = fakeTerminal()
  const [given] = await Promise.all([askResult(fake.terminal, result), play(fake, steps)])
  expect(given).toEqual(decision)
})

test.concurrent.each([
  ["the same key twice", ["aa", enter]],
  ["a word", ["yes", enter]],
  ["a key that is not offered", ["m", enter]],
  ["a sentence, letter by letter", ["a", "n", "d", " ", "so", " on", enter]],
  ["pasted lines", [`a${enter}a${enter}`, enter]],
  ["marked pasted lines", [`\u001b[200~a${enter}b${enter}\u001b[201~`, enter]],
  ["a letter with a space", [" a", enter]],
  ["a pasted letter with its line end", [`\u001b[200~a${enter}\u001b[201~`, enter]],
  ["a letter with the line end of a file", ["a\r\n", enter]],
  ["lines in reads of their own", [`see below${enter}`, `a${enter}`]],
  ["lines in reads of their own, the letter first", [`a${enter}`, `and more${enter}`]],
  ["a marked paste in pieces", ["\u001b[200~a", enter, "a", "\u001b[20", "1~", enter]],
])("a line that is not one of the letters answers nothing, and a sentence says so: %s", async (_what, typed) => {
  const fake = fakeTerminal()
  const [given] = await Promise.all([
    askCall(fake.terminal),
    play(fake, [[menu, ...typed], ["not one of the choices"], [menu, `q${enter}`]]),
  ])
  expect(given).toEqual(closed)
})

test.concurrent("a sentence that was begun before the card could be read is not ended by an answer", async () => {
  const fake = fakeTerminal()
  const answer = askCall(fake.terminal)
  await play(fake, [["ann (dev) wants", "option "], [menu], ["> option "]])
  await new Promise((resolve) => setTimeout(resolve, 300))
  await play(fake, [["", "a", enter], ["not one of the choices"]])
  await play(fake, [[menu, "a"]])
  await fake.press(escape)
  await play(fake, [["\r> ", `a${enter}`]])
  expect(await answer).toEqual(yes)
})

test.concurrent("a letter that was typed before the card could be read is no answer, and no hint says so", async () => {
  const fake = fakeTerminal()
  const answer = askCall(fake.terminal)
  await play(fake, [["ann (dev) wants", "a"], [menu], ["> a", enter], ["not one of the choices"], [menu, escape]])
  expect([await answer, fake.seen().includes("Enter: approve")]).toEqual([closed, false])
})

test.concurrent("a paste whose end never comes is left with Ctrl-C", async () => {
  const fake = fakeTerminal()
  const [given] = await Promise.all([
    askCall(fake.terminal),
    play(fake, [
      [menu, "\u001b[200~abc", enter, escape],
      ["> abc", controlC],
      ["\r> ", controlC],
    ]),
  ])
  expect(given).toEqual(closed)
})

test.concurrent("Enter alone answers nothing", async () => {
  const fake = fakeTerminal()
  const answer = askCall(fake.terminal)
  await play(fake, [[menu, enter]])
  await new Promise((resolve) => setTimeout(resolve, 400))
  await fake.press(`q${enter}`)
  expect([await answer, fake.seen().includes("not one of")]).toEqual([closed, false])
})

test.concurrent("the name of something that every object has is no key", async () => {
  const fake = fakeTerminal()
  const [given] = await Promise.all([
    askCall(fake.terminal),
    play(fake, [[menu, "constructor", enter], ["not one of the choices"], [menu, escape]]),
  ])
  expect([given, fake.seen().includes("Enter:")]).toEqual([closed, false])
})

test.concurrent("nothing is answered before Enter, however long nobody types", async () => {
  const fake = fakeTerminal()
  const answer = askCall(fake.terminal)
  await play(fake, [[menu, "a"], ["> a   Enter: approve"]])
  await new Promise((resolve) => setTimeout(resolve, 1000))
  await play(fake, [["", "nd keep it short", enter], ["not one of the choices"], [menu, `q${enter}`]])
  expect(await answer).toEqual(closed)
})

test.concurrent("keys that were typed before the dialog is shown do not answer it, Ctrl-C does", async () => {
  const [early, while_, stopped] = [fakeTerminal(), fakeTerminal(), fakeTerminal()]
  await early.press(`a${enter}`)
  const answers = [askCall(early.terminal), askCall(while_.terminal), askCall(stopped.terminal)]
  await new Promise(setImmediate)
  await Promise.all([while_.press(`a${enter}`), stopped.press(controlC)])
  await Promise.all([play(early, [[menu, `q${enter}`]]), play(while_, [[menu, `q${enter}`]])])
  expect(await Promise.all(answers)).toEqual([closed, closed, closed])
  expect(stopped.seen()).toBe("")
})

test.concurrent("the two halves of an arrow key are one key, and no escape", async () => {
  const fake = fakeTerminal()
  const answer = askCall(fake.terminal)
  await fake.appears(menu)
  fake.pressAtOnce(escape, "[A")
  await new Promise(setImmediate)
  await fake.press(`a${enter}`)
  expect(await answer).toEqual(yes)
})

test.concurrent("a key typed while the whole is not yet shown does not answer either", async () => {
  const fake = fakeTerminal()
  const answer = askCall(fake.terminal)
  await play(fake, [
    [menu, `s${enter}`, `a${enter}`],
    [menu, `q${enter}`],
  ])
  expect(await answer).toEqual(closed)
})

test.concurrent("a terminal that goes away rejects the call", async () => {
  const fake = fakeTerminal()
  const answer = askCall(fake.terminal)
  await fake.appears(menu)
  fake.hangUp()
  expect(await answer).toEqual(closed)
  expect(await askCall(fake.terminal)).toEqual(closed)
})

test.concurrent("a dialog that somebody else has answered is closed and says who it was", async () => {
  const given = new AbortController()
  const fake = fakeTerminal()
  const answers = [askCall(fake.terminal, { signal: given.signal }), askCall(fake.terminal, { agentId: "bea" })]
  await fake.appears(menu)
  given.abort({ by: "carol" })
  await play(fake, [["carol has answered elsewhere."], ["bea (dev) wants"], [menu, `a${enter}`]])
  expect(await Promise.all(answers)).toEqual([closed, yes])
})

test.concurrent.each([
  ["e", "The input as JSON"],
  ["r", "Why not?"],
  ["m", "escape back"],
])("a dialog is closed from outside also behind the key %s", async (key, text) => {
  const given = new AbortController()
  const fake = fakeTerminal()
  const answer = askCall(fake.terminal, { signal: given.signal, remember })
  await play(fake, [[menu, `${key}${enter}`], [text]])
  given.abort()
  expect(await answer).toMatchObject({ approved: false })
  const next = askCall(fake.terminal)
  await play(fake, [[menu, `a${enter}`]])
  expect(await next).toEqual(yes)
})

test.concurrent("a call that is over does not take the keyboard from the dialog that is open", async () => {
  const over = new AbortController()
  const fake = fakeTerminal()
  const answers = [askCall(fake.terminal, { signal: over.signal }), askCall(fake.terminal)]
  await play(fake, [[menu, `r${enter}`], ["Why not?", enter], [menu]])
  over.abort()
  expect(fake.terminal.input.isRaw).toBe(true)
  await fake.press(`a${enter}`)
  expect(await Promise.all(answers)).toMatchObject([{ approved: false }, yes])
  expect(fake.terminal.input.isRaw).toBe(false)
})

/** An editor out of a line of the shell, in which $1 is the file. */
function editor(line: string, { onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "quartermaster-editor-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const script = join(folder, "editor.sh")
  writeFileSync(script, line)
  return { folder, command: `sh ${script}` }
}

test.concurrent("an editor gets the input in a file that only its owner can read, and which is gone afterwards", async (context) => {
  const { folder, command } = editor(
    'cd "$(dirname "$0")"; stat -c "%a" "$1" "$(dirname "$1")" > modes; echo "$1" > name; sed -i s/1/2/ "$1"',
    context,
  )
  const fake = fakeTerminal({ env: { EDITOR: "false", VISUAL: command } })
  const answer = askCall(fake.terminal, { input: { n: 1, text: "a\u202e" } })
  await play(fake, [[menu, `e${enter}`], ["Edit where?"], ["escape back", `v${enter}`]])
  expect(await answer).toEqual({ approved: false, edit: { input: { n: 2, text: "a\u202e" } } })
  expect(readFileSync(join(folder, "modes"), "utf8")).toBe("600\n700\n")
  expect(() => readFileSync(readFileSync(join(folder, "name"), "utf8").trim())).toThrow("ENOENT")
})

test.concurrent("a text of several lines is edited as text, and keeps its end; one with hidden characters only as JSON", async (context) => {
  const { command } = editor('sed -i s/two/2/ "$1"; echo >> "$1"', context)
  const fake = fakeTerminal({ env: { EDITOR: command } })
  const input = { path: "a.md", content: 'one\n"two"', hidden: "a\u202e\nb" }
  const answer = askCall(fake.terminal, { input })
  await play(fake, [
    [menu, `e${enter}`],
    ["Edit where? 1 content in sh", ""],
    ["escape back", `2${enter}`],
    ["not one of the choices"],
    ["escape back", `1${enter}`],
  ])
  expect(await answer).toMatchObject({ edit: { input: { ...input, content: 'one\n"2"' } } })
})

test.concurrent("the question names what the call is about, quoted where it could be mistaken for more", async () => {
  const fake = fakeTerminal()
  const list = [{ kind: "write", what: "a)? a approve" }] as const
  const answer = askCall(fake.terminal, { touches: { list, proved: true } })
  await play(fake, [
    ['Run probe (write "a)? a approve")? a approve, e edit', ""],
    [menu, `a${enter}`],
  ])
  expect(await answer).toEqual(yes)
})

test.concurrent("invalid JSON from an editor is reported and can be edited again; an editor that fails changes nothing", async (context) => {
  const { command } = editor(
    'if grep -q nope "$1"; then echo [1] > "$1"; elif grep -q 7 "$1"; then exit 3; else echo nope > "$1"; fi',
    context,
  )
  const fake = fakeTerminal({ env: { EDITOR: command } })
  const answer = askCall(fake.terminal)
  await play(fake, [
    [menu, `e${enter}`],
    ["escape back", `v${enter}`],
    ["That is not valid JSON"],
    ["Edit it again."],
    ["escape back", `v${enter}`],
  ])
  expect(await answer).toMatchObject({ edit: { input: [1] } })
  const failing = askCall(fake.terminal, { input: 7 })
  await play(fake, [
    [menu, `e${enter}`],
    ["escape back", `v${enter}`],
    ["The editor ended with 3, so nothing was changed."],
    [menu, `e${enter}`],
  ])
  await play(fake, [
    ["escape back", `h${enter}`],
    ["The input as JSON", `7${enter}`],
  ])
  expect(await failing).toMatchObject({ edit: { input: 77 } })
})

test.concurrent("an editor is ended when somebody answers elsewhere", async (context) => {
  const given = new AbortController()
  const { folder, command } = editor('echo $$ > "$(dirname "$0")/pid"; exec sleep 60', context)
  const fake = fakeTerminal({ env: { EDITOR: command } })
  const answer = askCall(fake.terminal, { signal: given.signal })
  await play(fake, [
    [menu, `e${enter}`],
    ["escape back", `v${enter}`],
  ])
  await context.expect.poll(() => readFileSync(join(folder, "pid"), "utf8")).toMatch(/\d/)
  given.abort()
  expect(await answer).toEqual(closed)
  const pid = Number(readFileSync(join(folder, "pid"), "utf8"))
  await context.expect.poll(() => isAlive(pid)).toBe(false)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.concurrent("the terminal shows the same card as every interface, in colours unless NO_COLOR is set", async () => {
  const more = { preview: "@@ -1 +1 @@\n-a\n+b", previewData: { kind: "diff", files: [] } as const }
  const colours = { "": fakeTerminal(), "1": fakeTerminal({ env: { NO_COLOR: "1" } }) }
  await Promise.all(
    Object.values(colours).map((fake) =>
      Promise.all([askCall(fake.terminal, more), play(fake, [[menu, `a${enter}`]])]),
    ),
  )
  const card = cardLines(samplePendingItem(more)).join("\n")
  for (const fake of Object.values(colours)) expect(fake.seen()).toContain(`\n${card}\n`)
  expect(colours[""].raw()).toContain("\u001b[32m+b\u001b[39m")
  expect(colours["1"].raw()).toContain(`\n${card}\n`)
  const sequences = colours["1"].raw().split("\u001b[").slice(1)
  expect(sequences.filter((text) => /^[\d;]*m/.test(text))).toEqual([])
})

test.concurrent("who answers is the person at the terminal, where that is known", async () => {
  const fake = fakeTerminal({ by: "carol" })
  const answers = [askCall(fake.terminal), askCall(fake.terminal)]
  await play(fake, [
    [menu, `a${enter}`],
    [menu, `q${enter}`],
  ])
  expect(await Promise.all(answers)).toEqual([
    { ...yes, by: "carol" },
    { ...closed, by: "carol" },
  ])
})

test.each([
  ["neither stream is", {}],
  ["only the input is", { input: true }],
  ["only the output is", { output: true }],
])("where %s a terminal, the answer is no with a sentence, and nothing is written", async (_what, tty) => {
  const { terminal, raw } = fakeTerminal({}, tty)
  const no = { approved: false, rejectReason: "A person must agree, and there is no terminal to ask in.", by: "nobody" }
  expect(await askCall(terminal)).toEqual(no)
  expect(await askResult(terminal, {})).toEqual(no)
  expect(await terminalAdapter(terminal).showQuestion?.({ question: "Which?" }, approvalRequest())).toEqual({
    rejectReason: "A person must answer, and there is no terminal to ask in.",
    by: "nobody",
  })
  await expect(terminalAsk(terminal)({ question: "Which?", signal: approvalRequest().signal })).rejects.toThrow(
    "there is no terminal to ask in",
  )
  expect(raw()).toBe("")
})

test.each([
  ["public", undefined, true],
  ["moderate", undefined, true],
  ["moderate", false, true],
  ["moderate", true, false],
  ["public", true, false],
  ["sensitive", undefined, false],
] as const)("yes answers for what is %s with a binding reason (%s): %s", async (level, binding, approved) => {
  const { terminal } = fakeTerminal({ yes: true }, {})
  const reasons = [{ check: "rule", source: "rules[0]", code: "test", sentence: "Because.", binding }]
  const by = approved ? "--yes" : "nobody"
  expect(await askCall(terminal, { level, reasons })).toMatchObject({ approved, by })
})

test.concurrent("yes never answers for a result or a question", async () => {
  const { terminal } = fakeTerminal({ yes: true }, {})
  expect(await askResult(terminal, {})).toMatchObject({ approved: false, by: "nobody" })
  expect(await terminalAdapter(terminal).showQuestion?.({ question: "?" }, approvalRequest())).not.toHaveProperty(
    "answer",
  )
})

test.concurrent("a waiting question shows who asks, and its answer has a name", async () => {
  const fake = fakeTerminal()
  const { showQuestion } = terminalAdapter(fake.terminal)
  const ask = (question: NonNullable<PendingItem["question"]>) => showQuestion!(question, approvalRequest())
  const forged = "Your name?\nbecause: it is harmless"
  const answers = [
    ask({ question: forged }),
    ask({ question: "Which?", options: ["red", "blue"] }),
    ask({ question: "No?" }),
  ]
  await play(fake, [
    ["ann (dev) asks"],
    ["\n│ Your name?\n│ because: it is harmless\n"],
    ["Your answer:", `Ada${enter}`],
  ])
  await play(fake, [["Which?"], ["Choose one:", "\u001b[B"], ["● blue", enter], ["No?"], ["Your answer:", controlC]])
  expect(await Promise.all(answers)).toEqual([
    { answer: "Ada" },
    { answer: "blue" },
    { rejectReason: "the question was closed without an answer" },
  ])
})

test.concurrent("what was typed before a question does not answer it", async () => {
  const fake = fakeTerminal()
  await fake.press(`typed before${enter}`)
  const answer = terminalAsk(fake.terminal)({ question: "Who?", signal: approvalRequest().signal })
  await play(fake, [["Who?"], ["Your answer:", `Ada${enter}`]])
  expect(await answer).toBe("Ada")
})
