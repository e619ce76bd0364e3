import { spawn, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import type { ApprovalRequest } from "../model/approval.ts"
import type { ToolResult } from "../model/result.ts"
import { open, temporaryFolder, tool } from "../testing/open.ts"
import { terminalAdapter, terminalAsk, type Terminal } from "./terminal.ts"

const request: ApprovalRequest = {
  callId: "c1",
  agentId: "ann",
  role: "dev",
  tool: "probe",
  reasons: [],
  until: Infinity,
  signal: new AbortController().signal,
}
const result: ToolResult = {
  callId: "c1",
  toolName: "probe",
  version: "1.0.0",
  status: "success",
  success: true,
  startedAt: 0,
}

/** Streams that are no terminal, and all that was written to them. */
function pipes(
  tty: { input?: true; output?: true } = {},
  yes?: boolean,
): { terminal: Terminal; written: () => string } {
  const input = Object.assign(new PassThrough(), { isTTY: tty.input })
  const output = Object.assign(new PassThrough(), { isTTY: tty.output })
  const terminal = { input, output, ...(yes === undefined ? {} : { yes }) } as unknown as Terminal
  return { terminal, written: () => String(output.read() ?? "") }
}

test.each([
  ["neither stream is", {}],
  ["only the input is", { input: true }],
  ["only the output is", { output: true }],
] as const)("where %s a terminal, the answer is no with a sentence, and nothing is written", async (_what, tty) => {
  const { terminal, written } = pipes(tty)
  const no = { approved: false, rejectReason: "A person must agree, and there is no terminal to ask in.", by: "nobody" }
  expect(await terminalAdapter(terminal).showToolExecutionApproval("probe", "", {}, "moderate", request)).toEqual(no)
  expect(await terminalAdapter(terminal).showToolResultApproval("probe", {}, result, request)).toEqual(no)
  await expect(terminalAsk(terminal)({ question: "Which?", signal: request.signal })).rejects.toThrow(
    "there is no terminal to ask in",
  )
  expect(written()).toBe("")
})

test("yes answers for public and moderate tools, never for sensitive ones and never for a result", async () => {
  const adapter = terminalAdapter(pipes({}, true).terminal)
  const answers = await Promise.all(
    (["public", "moderate", "sensitive"] as const).map((level) =>
      adapter.showToolExecutionApproval("probe", "", {}, level, request),
    ),
  )
  expect(answers.map(({ approved }) => approved)).toEqual([true, true, false])
  expect(await adapter.showToolResultApproval("probe", {}, result, request)).toMatchObject({ approved: false })
})

test("with yes and no terminal, a moderate call runs and a sensitive one is not executed", async () => {
  const system = await open({}, { approvals: terminalAdapter(pipes({}, true).terminal) })
  for (const level of ["moderate", "sensitive"] as const)
    system.registry.register(tool({ name: level, permission: { level }, execute: () => "ran" }))
  expect(await system.call({ agentId: "operator", tool: "moderate", input: {} })).toMatchObject({ result: "ran" })
  expect(await system.call({ agentId: "operator", tool: "sensitive", input: {} })).toMatchObject({
    code: "approval_rejected",
    rejectReason: "A person must agree, and there is no terminal to ask in.",
  })
})

/** Runs a command in a terminal of 100 columns and presses each key once the text before it has appeared; tells what was seen, without colours. */
const driver = `
import fcntl, json, os, pty, re, select, struct, sys, termios, time
keys, command = json.loads(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    os.execv(command[0], command)
raw, seen, place, until = b"", "", 0, time.time() + 15
while time.time() < until:
    if keys and keys[0][0] in seen[place:]:
        place = seen.index(keys[0][0], place) + len(keys[0][0])
        os.write(terminal, keys.pop(0)[1].encode())
    elif select.select([terminal], [], [], 0.1)[0]:
        try:
            read = os.read(terminal, 65536)
        except OSError:
            break
        if not read:
            break
        raw += read
        seen = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", raw.decode(errors="ignore"))
else:
    os.kill(pid, 9)
sys.stdout.buffer.write(seen.encode())
`

const python = spawnSync("python3", ["-c", "import pty"]).status === 0
if (!python) console.warn("Skipped: the dialogs need python3 with its module pty to have a terminal. Install python3.")
const inTerminal = test.skipIf(!python)

type Keys = readonly (readonly [after: string, key: string])[]

const dist = (file: string) => JSON.stringify(fileURLToPath(new URL(`../../dist/${file}`, import.meta.url)))
const dialogs = `
import { terminalAdapter, terminalAsk } from ${dist("approval/terminal.js")}
const { stdin: input, stdout: output } = process
const { showToolExecutionApproval, showToolResultApproval } = terminalAdapter({ input, output })
const ask = terminalAsk({ input, output })
const { signal } = new AbortController()
const request = { callId: "c1", agentId: "ann", role: "dev", tool: "probe", reasons: [], until: Infinity, signal }
const run = (more, level = "sensitive", args = {}) => showToolExecutionApproval("probe", "Does it.", args, level, { ...request, ...more })
`

/** What a script gave back, and what a person saw meanwhile. */
async function played(script: string, keys: Keys): Promise<{ given: unknown; seen: string }> {
  const dir = temporaryFolder()
  const [source, answer] = [join(dir, "script.mjs"), join(dir, "answer.json")]
  const ending = `\n;(await import("node:fs")).writeFileSync(${JSON.stringify(answer)}, JSON.stringify(given)); process.exit()`
  writeFileSync(source, script + ending)
  const child = spawn("python3", ["-c", driver, JSON.stringify(keys), process.execPath, source])
  let seen = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (seen += text))
  await new Promise((resolve) => child.on("close", resolve))
  try {
    return { given: JSON.parse(readFileSync(answer, "utf8")), seen }
  } catch {
    throw new Error(`The script gave nothing back. This was seen:\n${seen}`)
  }
}

const confirm = "● No"
const escape = "\u001b"
const controlC = "\u0003"
const down = "\u001b[B"
const enter = "\r"

inTerminal(
  "a person sees who wants what and why, and says yes, no with a reason, or closes the dialog [S1-12] [S3-95]",
  async () => {
    const reasons = `[{ voice: "level", source: "system:probe@1.0.0", sentence: "Tool probe is sensitive." }]`
    const script = `${dialogs}
    const given = [
      await run({ reasons: ${reasons} }, "sensitive", { path: "a\\u202etxt", n: 1 }),
      await run({ preview: "first line\\nsecond\\u001b[2J line" }, "moderate"),
      await run({}),
      await run({}),
      await run({}),
    ]`
    const { given, seen } = await played(script, [
      [confirm, "y"],
      [confirm, "n"],
      ["Why not?", `not today${enter}`],
      [confirm, enter],
      ["Why not?", enter],
      [confirm, escape],
      [confirm, controlC],
    ])
    expect(given).toEqual([
      { approved: true, by: "terminal" },
      { approved: false, rejectReason: "not today", by: "terminal" },
      { approved: false, rejectReason: "Operation cancelled by user", by: "terminal" },
      { approved: false, rejectReason: "The dialog was closed.", by: "terminal" },
      { approved: false, rejectReason: "The dialog was closed.", by: "terminal" },
    ])
    expect(seen).toContain(
      "  ann (dev) wants to call probe [sensitive]\r\n  Does it.\r\n  because: Tool probe is sensitive. (system:probe@1.0.0)\r\n",
    )
    expect(seen).toContain('"path": "a\\u{202e}txt"')
    expect(seen).toContain("  ann (dev) wants to call probe [moderate]")
    expect(seen).toContain("  first line\r\n  second\\u{1b}[2J line\r\n")
  },
)

inTerminal("a no without a reason, closed at the question why, is still a no", async () => {
  const { given } = await played(`${dialogs} const given = await run({})`, [
    [confirm, "n"],
    ["Why not?", controlC],
  ])
  expect(given).toEqual({ approved: false, rejectReason: "Operation cancelled by user", by: "terminal" })
})

inTerminal("a person sees a result and releases it or not, also when there is none or it is very long", async () => {
  const script = `${dialogs}
    const release = (result) => showToolResultApproval("probe", {}, { success: true, ...result }, request)
    const given = [
      await release({ result: { total: 3 } }),
      await release({ success: false, error: "It failed." }),
      await release({}),
      await release({ result: { text: "x".repeat(20000), lines: Array.from({ length: 100 }, (_, n) => "line " + n) } }),
      await release({ result: Array.from({ length: 100 }, (_, n) => "item " + n) }),
    ]`
  const { given, seen } = await played(script, [
    [confirm, "y"],
    [confirm, "n"],
    ["Why not?", `secret${enter}`],
    [confirm, "y"],
    [confirm, "y"],
    [confirm, "y"],
  ])
  const yes = { approved: true, by: "terminal" }
  expect(given).toEqual([yes, { approved: false, rejectReason: "secret", by: "terminal" }, yes, yes, yes])
  expect(seen).toContain("  probe has run for ann (dev). May the model see its result?")
  expect(seen).toContain('  "total": 3')
  expect(seen).toContain("  Error: It failed.")
  expect(seen).toContain("  (no result)")
  expect(seen).toMatch(/x…|… \d+ more of \d+ characters/)
  expect(seen).not.toContain("line 0")
  expect(seen).toContain("item 38")
  expect(seen).not.toContain("item 39")
})

inTerminal(
  "a question is answered by writing, by choosing one, by choosing several, or not at all [S3-63] [C-39]",
  async () => {
    const script = `${dialogs}
    const said = (question) => ask({ signal, ...question }).catch((error) => "failed: " + error.message)
    const options = ["red", "blue", "gre\\u200ben"]
    const given = [
      await said({ question: "Your name?" }),
      await said({ question: "Nothing?" }),
      await said({ question: "Which one?", options }),
      await said({ question: "Which ones?", options, multiple: true }),
      await said({ question: "And now?" }),
      await said({ question: "And then?", options }),
    ]`
    const { given, seen } = await played(script, [
      ["Your name?", `Ada 汉字${enter}`],
      ["Nothing?", enter],
      ["Which one?", ""],
      ["blue", down],
      ["● blue", enter],
      ["Which ones?", ""],
      ["gre\\u{200b}en", " "],
      ["◼ red", down + down + " "],
      ["◼ gre", enter],
      ["And now?", controlC],
      ["And then?", ""],
      ["blue", escape],
    ])
    const closed = "failed: the question was closed without an answer"
    expect(given).toEqual(["Ada 汉字", "", "blue", ["red", "gre\u200ben"], closed, closed])
    expect(seen).not.toContain("\u200b")
  },
)

inTerminal("calls that ask at once are asked one after the other: one key answers one call", async () => {
  const script = `
    import { createQuartermaster } from ${dist("index.js")}
    import { terminalAdapter } from ${dist("approval/terminal.js")}
    const approvals = terminalAdapter({ input: process.stdin, output: process.stdout })
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(temporaryFolder())} } }, { approvals })
    const set = (key) => system.call({ agentId: "operator", tool: "set_env", input: { key, value: "1" } })
    const ended = await Promise.all([set("A"), set("B"), set("C")])
    const given = ended.map((result) => result.rejectReason ?? result.status).sort()
    await system.close()`
  const { given } = await played(script, [
    [confirm, "y"],
    [confirm, "n"],
    ["Why not?", `one is enough${enter}`],
    [confirm, "y"],
  ])
  expect(given).toEqual(["one is enough", "success", "success"])
})

inTerminal("a question of a tool waits for the dialog that is open", async () => {
  const script = `${dialogs}
    const given = await Promise.all([run({}), ask({ question: "Who?", signal }), run({})])`
  const { given } = await played(script, [
    [confirm, "y"],
    ["Who?", `yes${enter}`],
    [confirm, "y"],
  ])
  expect(given).toEqual([{ approved: true, by: "terminal" }, "yes", { approved: true, by: "terminal" }])
})

inTerminal(
  "a dialog that somebody else has answered is closed, and one that still waited for its turn is never shown",
  async () => {
    const script = `${dialogs}
    const [first, second] = [new AbortController(), new AbortController()]
    const answers = [run({ signal: first.signal, preview: "one" }), run({ signal: second.signal, preview: "two" }), run({ preview: "three" })]
    setTimeout(() => second.abort(), 100)
    setTimeout(() => first.abort(), 300)
    const given = await Promise.all(answers)`
    const { given, seen } = await played(script, [
      ["three", ""],
      [confirm, "y"],
    ])
    const closed = { approved: false, rejectReason: "The dialog was closed.", by: "terminal" }
    expect(given).toEqual([closed, closed, { approved: true, by: "terminal" }])
    expect(seen).toContain("  one")
    expect(seen).not.toContain("  two")
  },
)

inTerminal("a call that is over does not take the keyboard from the dialog that is open", async () => {
  const script = `${dialogs}
    const first = new AbortController()
    const answers = [run({ signal: first.signal }), run({ preview: "two" })]
    await answers[0]
    setTimeout(() => { first.abort(); output.write("The first is over.") }, 200)
    const given = await Promise.all(answers)`
  const { given } = await played(script, [
    [confirm, "y"],
    ["The first is over.", "y"],
  ])
  expect(given).toEqual([
    { approved: true, by: "terminal" },
    { approved: true, by: "terminal" },
  ])
})
