import { spawn, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { terminalAdapter } from "./terminal.ts"
import { approvalRequest, fakeTerminal } from "./testing.ts"

test("with yes and no terminal, a moderate call runs and a sensitive one is not executed", async () => {
  const system = await openTestApp({}, { approvals: terminalAdapter(fakeTerminal({ yes: true }, {}).terminal) })
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
raw, seen, place, until = b"", "", 0, time.time() + 120
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

const dist = (file: string) => JSON.stringify(fileURLToPath(new URL(`../../../build/${file}`, import.meta.url)))
const { signal: _signal, until: _until, ...plainRequest } = approvalRequest({ level: "sensitive", input: {} })
const dialogs = `
import { terminalAdapter, terminalAsk } from ${dist("approvals/ask/terminal.js")}
const { stdin: input, stdout: output } = process
const { showToolExecutionApproval, showToolResultApproval } = terminalAdapter({ input, output, env: {} })
const ask = terminalAsk({ input, output })
const { signal } = new AbortController()
const request = { ...${JSON.stringify(plainRequest)}, until: Infinity, signal }
const run = (more = {}, args = {}) => showToolExecutionApproval("probe", "Does it.", args, more.level ?? "sensitive", { ...request, ...more })
const shows = (text) => new Promise((resolve) => {
  const write = output.write.bind(output)
  output.write = (part, ...rest) => (String(part).includes(text) && setImmediate(resolve), write(part, ...rest))
})
`

/** Runs a script; returns its result and the screen that a person saw meanwhile. */
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

const menu = "escape no\r\n> "
const escape = "\u001b"
const controlC = "\u0003"
const down = "\u001b[B"
const enter = "\r"
const yes = { approved: true }
const closed = { approved: false, rejectReason: "The dialog was closed." }

inTerminal("a person sees who wants what and why, and says yes, no with a reason, or closes the dialog", async () => {
  const reasons = `[{ check: "level", source: "system:probe@1.0.0", sentence: "Tool probe is sensitive." }]`
  const script = `${dialogs}
    const given = [
      await run({ reasons: ${reasons} }, { path: "a\\u202etxt", n: 1 }),
      await run({ preview: "first line\\nsecond\\u001b[2J line", level: "moderate" }),
      await run(),
      await run(),
    ]`
  const { given, seen } = await played(script, [
    [menu, `a${enter}`],
    [menu, `r${enter}`],
    ["Why not?", `not today${enter}`],
    [menu, escape],
    [menu, controlC],
  ])
  expect(given).toEqual([yes, { ...closed, rejectReason: "not today" }, closed, closed])
  expect(seen).toContain(
    "\nann (dev) wants to call probe [sensitive]\r\n│ Does it.\r\nbecause: Tool probe is sensitive. (system:probe@1.0.0)\r\n",
  )
  expect(seen).toContain('│   "path": "a\\u202etxt"')
  expect(seen).toContain("\nann (dev) wants to call probe [moderate]")
  expect(seen).toContain("│ first line\r\n│ second\\u{1b}[2J line\r\n")
})

inTerminal("what was typed while nobody was asked, and what is pasted, does not answer", async () => {
  const script = `${dialogs}
    output.write("working")
    // A line that somebody else reads, and behind it a key that stays in the terminal.
    await new Promise((resolve) => input.once("data", resolve))
    input.pause()
    const given = [await run(), await run()]`
  const { given } = await played(script, [
    ["working", `go${enter}a`],
    [menu, `approve${enter}`],
    ["not one of the choices", ""],
    [menu, `q${enter}`],
    [menu, `a${enter}`],
  ])
  expect(given).toEqual([closed, yes])
})

inTerminal("the terminal is an editor's while it is open, and the dialog's again afterwards", async () => {
  const file = join(temporaryFolder(), "editor.sh")
  writeFileSync(
    file,
    `test -t 0 && test -t 1 && printf 'New number? ' && read -r answer && echo "{\\"n\\":$answer}" > "$1"`,
  )
  const script = `${dialogs}
    const adapter = terminalAdapter({ input, output, env: { EDITOR: ${JSON.stringify(`sh ${file}`)} } })
    const edited = () => adapter.showToolExecutionApproval("probe", "", { n: 1 }, "moderate", request)
    const given = [await edited(), await run()]`
  const { given } = await played(script, [
    [menu, `e${enter}`],
    ["escape back\r\n> ", `v${enter}`],
    ["New number?", `42${enter}`],
    [menu, `a${enter}`],
  ])
  expect(given).toEqual([{ approved: false, edit: { input: { n: 42 } } }, yes])
})

inTerminal("a person sees a result and releases it whole, in part, or not", async () => {
  const script = `${dialogs}
    const release = (result) => showToolResultApproval("probe", {}, { success: true, ...result }, request)
    const given = [
      await release({ result: { total: 3 } }),
      await release({ success: false, error: "It failed." }),
      await release({}),
      await release({ result: Array.from({ length: 100 }, (_, n) => "item " + n) }),
      await release({ result: { token: "x", total: 3 } }),
    ]`
  const { given, seen } = await played(script, [
    [menu, `a${enter}`],
    [menu, `r${enter}`],
    ["Why not?", `secret${enter}`],
    [menu, `a${enter}`],
    [menu, `s${enter}`],
    ["item 99", ""],
    [menu, `a${enter}`],
    [menu, `d${enter}`],
    ["What to take out", `/token${enter}`],
  ])
  expect(given).toEqual([yes, { ...closed, rejectReason: "secret" }, yes, yes, { ...yes, redact: ["/token"] }])
  expect(seen).toContain("probe has run for ann (dev). May the model see its result?")
  expect(seen).toContain('│   "total": 3')
  expect(seen).toContain("│ It failed.")
  expect(seen).toContain("It gave no result.")
  const cut = seen.slice(0, seen.indexOf("… cut here: the whole has 1,"))
  // As much as fits into the 50 rows of this terminal, so that the headline stays in sight.
  expect(cut).toContain("item 34")
  expect(cut).not.toContain("item 35")
})

inTerminal("a question is answered by writing, by choosing one, by choosing several, or not at all", async () => {
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
    ["Your answer:", `Ada 汉字${enter}`],
    ["Nothing?", ""],
    ["Your answer:", enter],
    ["Which one?", ""],
    ["blue", down],
    ["● blue", enter],
    ["Which ones?", ""],
    ["gre\\u{200b}en", " "],
    ["◼ red", down + down + " "],
    ["◼ gre", enter],
    ["And now?", ""],
    ["Your answer:", controlC],
    ["And then?", ""],
    ["blue", escape],
  ])
  const closed = "failed: the question was closed without an answer"
  expect(given).toEqual(["Ada 汉字", "", "blue", ["red", "gre\u200ben"], closed, closed])
  expect(seen).not.toContain("\u200b")
})

inTerminal("a form is filled in field by field, and a link is agreed to with a key", async () => {
  const script = `${dialogs}
    const properties = {
      name: { type: "string", minLength: 2 },
      age: { type: "integer" },
      colour: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "b", title: "Blue" }] },
      tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
    }
    const form = { type: "object", properties, required: ["name", "colour"] }
    const given = [
      await ask({ question: "Who?", form, signal }),
      await ask({ question: "Sign in.", url: "https://bank.example@evil.example/", signal }),
    ]`
  const { given, seen } = await played(script, [
    ["Give no passwords", ""],
    ["name: text", `A${enter}`],
    ["must NOT have fewer than 2", `da${enter}`],
    ["age: a whole number", enter],
    ["colour: one of", ""],
    ["Blue (b)", down],
    ["● Blue (b)", enter],
    ["tags: some of", " "],
    ["◼ a", enter],
    [menu, `a${enter}`],
    ["it leads to: evil.example", ""],
    [menu, `a${enter}`],
  ])
  expect(given).toEqual([{ name: "Ada", colour: "b", tags: ["a"] }, {}])
  expect(seen).toContain("not proved safe")
})

inTerminal("calls that ask at once are asked one after the other: one key answers one call", async () => {
  const script = `
    import { createQuartermaster } from ${dist("index.js")}
    import { terminalAdapter } from ${dist("approvals/ask/terminal.js")}
    const approvals = terminalAdapter({ input: process.stdin, output: process.stdout })
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(temporaryFolder())} } }, { approvals })
    const set = (key) => system.call({ agentId: "operator", tool: "set_env", input: { key, value: "1" } })
    const ended = await Promise.all([set("A"), set("B"), set("C")])
    const given = ended.map((result) => result.rejectReason ?? result.status).sort()
    await system.close()`
  const { given } = await played(script, [
    [menu, `a${enter}`],
    [menu, `r${enter}`],
    ["Why not?", `one is enough${enter}`],
    [menu, `a${enter}`],
  ])
  expect(given).toEqual(["one is enough", "success", "success"])
})

inTerminal("a question of a tool waits for the dialog that is open", async () => {
  const script = `${dialogs}
    const given = await Promise.all([run(), ask({ question: "Who?", signal }), run()])`
  const { given } = await played(script, [
    [menu, `a${enter}`],
    ["Your answer:", `yes${enter}`],
    [menu, `a${enter}`],
  ])
  expect(given).toEqual([yes, "yes", yes])
})

inTerminal(
  "a dialog that somebody else has answered is closed, and one that still waited for its turn is never shown",
  async () => {
    const script = `${dialogs}
    const [first, second] = [new AbortController(), new AbortController()]
    const menu = shows("escape no")
    const answers = [run({ signal: first.signal, preview: "one" }), run({ signal: second.signal, preview: "two" }), run({ preview: "three" })]
    await menu
    second.abort()
    setTimeout(() => first.abort(), 100)
    const given = await Promise.all(answers)`
    const { given, seen } = await played(script, [
      ["three", ""],
      [menu, `a${enter}`],
    ])
    expect(given).toEqual([closed, closed, yes])
    expect(seen).toContain("│ one")
    expect(seen).not.toContain("│ two")
  },
)

inTerminal("a call that is over does not take the keyboard from the dialog that is open", async () => {
  const script = `${dialogs}
    const first = new AbortController()
    const answers = [run({ signal: first.signal }), run({ preview: "two" })]
    await answers[0]
    await shows("escape no")
    first.abort()
    output.write("The first is over.")
    const given = await Promise.all(answers)`
  const { given } = await played(script, [
    [menu, `r${enter}`],
    ["Why not?", enter],
    [menu, ""],
    ["The first is over.", `a${enter}`],
  ])
  expect(given).toEqual([{ ...closed, rejectReason: "Operation cancelled by user" }, yes])
})
