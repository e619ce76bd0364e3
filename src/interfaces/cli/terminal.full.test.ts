import { expect, test } from "vitest"
import type { ToolResult } from "../../core/result.ts"
import { build, waitForOutput, outputOf, makeCli } from "./testing.ts"

const red = "\u001b[31mred"

test("in a terminal a person sees what would run, with control characters escaped, and their answer counts", async () => {
  const { inTerminal } = makeCli()
  const yes = await inTerminal(["call", "set_env", "key=A", `value=${red}`], [["Run set_env?", "a\r"]])
  expect(yes.code).toBe(0)
  expect(yes.stdout).toContain("operator (operator) wants to call set_env [moderate]")
  expect(yes.stdout).toContain("A=\\u{1b}[31mred")
  expect(yes.stdout).toContain('"previous": null')
  const no = await inTerminal(
    ["call", "set_env", "key=A", "value=2"],
    [
      ["Run set_env?", "r\r"],
      ["Why not?", "not today\r"],
    ],
  )
  expect(no.code).toBe(4)
  expect(no.stdout).toMatch(/rejected the call of set_env: not today\r\n$/)
})

test("Ctrl-C at the card of a call answers nothing: the call is cancelled, and escape rejects it", async () => {
  const { inTerminal, run } = makeCli()
  const words = ["call", "set_env", "key=A", "value=1"]
  const stopped = await inTerminal(words, [["Run set_env?", "\u0003"]])
  expect(stopped.stdout).toContain("was cancelled before it ran")
  expect(stopped.stdout).not.toContain("rejected")
  expect((await run("audit", "--json")).stdout).not.toContain("closed")
  const closed = await inTerminal(words, [["Run set_env?", "\u001b"]])
  expect(closed).toMatchObject({ code: 4, stdout: expect.stringContaining("The dialog was closed.") as string })
})

test("nobody is asked in a terminal that belongs to a tool", async () => {
  const { inTerminal } = makeCli({ QM_INSIDE: "1", QM_AGENT: "operator" })
  const refused = await inTerminal(["call", "set_env", "key=A", "value=1", "--wait", "0.2"], [["Run set_env?", "a\r"]])
  expect(refused.code).toBe(4)
  expect(refused.stdout).not.toContain("Run set_env?")
})

test("a background call (&) waits in the approval queue instead of being stopped for asking", async () => {
  const { shellInTerminal } = makeCli()
  const { stdout } = await shellInTerminal(`
    eval $QM call set_env key=A value=1 &
    until [ -n "$ID" ]; do
      ID=$(eval $QM approvals list --json | sed -n 's/.*"callId":"\\([^"]*\\)".*/\\1/p')
    done
    jobs
    eval $QM approvals approve $ID
    wait
  `)
  expect(stdout).toContain("Waiting for a person")
  expect(stdout).toContain("Running")
  expect(stdout).toContain('"previous": null')
})

test("a question with options is answered by choosing one, and one without by writing", async () => {
  const { inTerminal } = makeCli()
  const chosen = await inTerminal(
    ["call", "ask_user", "question=Which?", "options=red", "options=blue"],
    [
      ["○ blue", "\u001b[B"],
      ["● ", "\r"],
    ],
  )
  expect(chosen.stdout).toContain('"answer": "blue"')
  const written = await inTerminal(["call", "ask_user", "question=Your name?"], [["Your answer:", "Ada\r"]])
  expect(written.stdout).toContain('"answer": "Ada"')
})

/** The built command line with an app whose tools behave badly. */
const difficult = `
import { createQuartermaster, defineTool } from ${JSON.stringify(`${build}index.js`)}
import { main } from ${JSON.stringify(`${build}interfaces/cli/main.js`)}

const tool = (name, execute, permission) =>
  defineTool({ name, group: "data", description: name, effect: "none", input: { type: "object", properties: {} }, permission, execute })
const tools = [
  tool("drip", async function* () { yield "one\\n"; yield "two"; yield "\\u001b[31m three" }),
  tool("pieces", async function* () { yield { n: 1 }; yield { n: 2 } }),
  tool("sum", async function* () { yield "working\\n"; return { total: 3 } }),
  tool("noisy", () => { console.log("noise"); process.stdout.write("more noise\\n"); return "quiet" }),
  tool("held", async function* () { yield "piece\\n"; return "the secret" }, { requireResultApproval: "always" }),
  tool("flood", async function* (_, { signal }) { while (!signal.aborted) { yield "line\\n".repeat(1000); await new Promise(setImmediate) } }),
  tool("stuck", () => new Promise(() => setInterval(() => {}, 1000))),
]
const permissions = { trusted: {}, untrusted: {} }
const runtime = {
  loadConfig: async () => ({ config: {}, files: [], dataDir: ".quartermaster", warnings: [], trusted: true, permissions, ruleSources: [] }),
  async openApp() {
    const app = await createQuartermaster({ approvals: { unattended: "reject" } }, { writes: "direct", sweepMs: 0 })
    app.registry.registerMany(tools)
    return process.env.DEAF ? { ...app, call: () => new Promise(() => { process.stderr.write("called"); setInterval(() => {}, 1000) }) } : app
  },
}
const { stdin, stdout, stderr, env } = process
const leave = (code) => process.exit(code)
process.exit(await main(process.argv.slice(2), { stdin, stdout, stderr, env, cwd: ".", home: ".", program: {}, leave }, runtime))
`

function makeDifficult(env: Record<string, string> = {}) {
  const { write, script } = makeCli(env)
  write("difficult.mjs", difficult)
  return {
    start: (...words: string[]) => script("difficult.mjs", ...words),
    run: (...words: string[]) => outputOf(script("difficult.mjs", ...words), ""),
  }
}

test("streamed output is shown as it arrives and not repeated; with --json it goes to stderr", async () => {
  const { run } = makeDifficult()
  expect(await run("call", "drip")).toEqual({ code: 0, stdout: `one\ntwo\u001b[31m three\n`, stderr: "" })
  expect(await run("call", "pieces")).toEqual({ code: 0, stdout: '{"n":1}\n{"n":2}\n', stderr: "" })
  expect(await run("call", "sum")).toEqual({ code: 0, stdout: 'working\n{\n  "total": 3\n}\n', stderr: "" })
  const json = await run("call", "drip", "--json")
  expect(json.stderr).toBe("one\ntwo\u001b[31m three\n")
  expect((JSON.parse(json.stdout) as ToolResult).result).toBe("one\ntwo\u001b[31m three")
  expect(json.stdout).toMatch(/^\P{C}*\n$/u)
})

test("a tool that prints does not corrupt the result", async () => {
  const { run } = makeDifficult()
  expect(await run("call", "noisy")).toEqual({ code: 0, stdout: "quiet\n", stderr: "noise\nmore noise\n" })
  const json = await run("call", "noisy", "--json")
  expect(json).toMatchObject({ code: 0, stderr: "noise\nmore noise\n" })
  expect((JSON.parse(json.stdout) as ToolResult).result).toBe("quiet")
})

test("a withheld result is not printed, for people or for programs", async () => {
  const { run } = makeDifficult()
  const json = await run("call", "held", "--json")
  expect(json.code).toBe(4)
  expect(JSON.parse(json.stdout)).toMatchObject({ status: "result_rejected", code: "result_withheld" })
  expect(json.stdout + json.stderr).not.toContain("the secret")
  const text = await run("call", "held")
  expect(text).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("withheld") as string })
  expect(text.stderr).not.toMatch(/the secret|piece/)
})

test("a closed pipe stops the tool without an error", async () => {
  const { start } = makeDifficult()
  const flood = start("call", "flood")
  await waitForOutput(flood, "line")
  flood.stdout.destroy()
  expect(await outputOf(flood, "")).toMatchObject({ code: 1, stderr: "" })
})

test("a tool that ignores its abort signal does not block its call", async () => {
  const { run } = makeDifficult()
  expect(await run("call", "stuck", "--timeout", "30")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("timed out after 30ms") as string,
  })
})

test("a second Ctrl-C exits immediately with 130", async () => {
  const { start } = makeDifficult({ DEAF: "1" })
  const deaf = start("call", "stuck")
  const end = outputOf(deaf, "")
  await waitForOutput(deaf, "called")
  deaf.kill("SIGINT")
  await waitForOutput(deaf, "Cancelling")
  deaf.kill("SIGINT")
  expect(await end).toMatchObject({ code: 130, stdout: "" })
})

test("a rule for an unknown tool is added only after a yes at the terminal", async () => {
  const { inTerminal, run } = makeCli()
  const words = ["rules", "add", "--deny", "http_gett", "--because", "So."]
  const asked = "Did you mean 'http_get'? As it is, the rule decides nothing."
  const no = await inTerminal(words, [["[y/N]", "\r"]])
  expect(no.stdout).toContain(asked)
  expect(no).toMatchObject({ code: 4, stdout: expect.stringContaining("Nothing was added.") as string })
  expect((await inTerminal(words, [["[y/N]", "y\r"]])).stdout).toContain("Added rule ")
  expect((await run("rules", "list")).stdout).toContain("http_gett")
})
