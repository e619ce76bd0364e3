import { expect, test } from "vitest"
import type { ToolResult } from "../model/result.ts"
import { appears, dist, ended, makeDesk } from "./testing.ts"

const red = "\u001b[31mred"

test("[S3-95] in a terminal a person sees what would run, with nothing painted over it, and their answer counts", async () => {
  const { inTerminal } = makeDesk()
  const yes = await inTerminal(["call", "set_env", "key=A", `value=${red}`], [["Run set_env?", "a"]])
  expect(yes.code).toBe(0)
  expect(yes.stdout).toContain("operator (operator) wants to call set_env [moderate]")
  expect(yes.stdout).toContain("A=\\u{1b}[31mred")
  expect(yes.stdout).toContain('"previous": null')
  const no = await inTerminal(
    ["call", "set_env", "key=A", "value=2"],
    [
      ["Run set_env?", "r"],
      ["Why not?", "not today\r"],
    ],
  )
  expect(no.code).toBe(4)
  expect(no.stdout).toMatch(/rejected the call of set_env: not today\r\n$/)
})

test("a terminal that a tool holds is nobody who could agree", async () => {
  const { inTerminal } = makeDesk({ QM_INSIDE: "1", QM_AGENT: "operator" })
  const refused = await inTerminal(["call", "set_env", "key=A", "value=1", "--wait", "0.2"], [["Run set_env?", "a"]])
  expect(refused.code).toBe(4)
  expect(refused.stdout).not.toContain("Run set_env?")
})

test("behind an & a call in a terminal waits at the desk instead of being stopped for asking", async () => {
  const { shellInTerminal } = makeDesk()
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

test("[S3-63] a question with options is answered by choosing one, and one without by writing", async () => {
  const { inTerminal } = makeDesk()
  const chosen = await inTerminal(
    ["call", "ask_user", "question=Which?", "options=red", "options=blue"],
    [
      ["○ blue", "\u001b[B"],
      ["● ", "\r"],
    ],
  )
  expect(chosen.stdout).toContain('"answer": "blue"')
  const written = await inTerminal(["call", "ask_user", "question=Your name?"], [["Your name?", "Ada\r"]])
  expect(written.stdout).toContain('"answer": "Ada"')
})

/** The built command line over a house whose tools are made to be difficult. */
const difficult = `
import { createQuartermaster, defineTool } from ${JSON.stringify(`${dist}index.js`)}
import { main } from ${JSON.stringify(`${dist}cli/main.js`)}

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
const house = {
  version: () => "test",
  loadConfig: async () => ({ config: {}, dataDir: ".quartermaster", warnings: [], trusted: true }),
  async open() {
    const app = await createQuartermaster({ approvals: { unattended: "reject" } }, { writes: "direct", sweepMs: 0 })
    app.registry.registerMany(tools)
    return process.env.DEAF ? { ...app, call: () => new Promise(() => { process.stderr.write("called"); setInterval(() => {}, 1000) }) } : app
  },
  printable: (text) => text.replaceAll("\\u001b", "\\\\e"),
}
const { stdin, stdout, stderr, env } = process
const leave = (code) => process.exit(code)
process.exit(await main(process.argv.slice(2), { stdin, stdout, stderr, env, cwd: ".", home: ".", leave }, house))
`

function makeDifficult(env: Record<string, string> = {}) {
  const { write, script } = makeDesk(env)
  write("difficult.mjs", difficult)
  return {
    start: (...words: string[]) => script("difficult.mjs", ...words),
    run: (...words: string[]) => ended(script("difficult.mjs", ...words), ""),
  }
}

test("pieces are shown as they come and not once more at the end; for programs they go to stderr", async () => {
  const { run } = makeDifficult()
  expect(await run("call", "drip")).toEqual({ code: 0, stdout: `one\ntwo\u001b[31m three\n`, stderr: "" })
  expect(await run("call", "pieces")).toEqual({ code: 0, stdout: '{"n":1}\n{"n":2}\n', stderr: "" })
  expect(await run("call", "sum")).toEqual({ code: 0, stdout: 'working\n{\n  "total": 3\n}\n', stderr: "" })
  const json = await run("call", "drip", "--json")
  expect(json.stderr).toBe("one\ntwo\u001b[31m three\n")
  expect((JSON.parse(json.stdout) as ToolResult).result).toBe("one\ntwo\u001b[31m three")
  expect(json.stdout).toMatch(/^\P{C}*\n$/u)
})

test("a tool that prints does not spoil the result", async () => {
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

test("when the reader of a stream goes away the tool is stopped, quietly", async () => {
  const { start } = makeDifficult()
  const flood = start("call", "flood")
  await appears(flood, "line")
  flood.stdout.destroy()
  expect(await ended(flood, "")).toMatchObject({ code: 1, stderr: "" })
})

test("a tool that ignores its end does not keep its call", async () => {
  const { run } = makeDifficult()
  expect(await run("call", "stuck", "--timeout", "30")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("timed out after 30ms") as string,
  })
})

test("a second Ctrl-C leaves at once with 130", async () => {
  const { start } = makeDifficult({ DEAF: "1" })
  const deaf = start("call", "stuck")
  const end = ended(deaf, "")
  await appears(deaf, "called")
  deaf.kill("SIGINT")
  await appears(deaf, "Cancelling")
  deaf.kill("SIGINT")
  expect(await end).toMatchObject({ code: 130, stdout: "" })
})
