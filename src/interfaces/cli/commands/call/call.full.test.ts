import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { ToolResult } from "../../../../core/result.ts"
import { waitForOutput, dist, outputOf, makeCli } from "../../testing.ts"

const parsed = (stdout: string) => JSON.parse(stdout) as ToolResult<Record<string, unknown>>

test("a first session: encode Chinese, fail with a sentence, list the tools", async () => {
  const { run } = makeCli()
  const encoded = await run("call", "base64_encode", "text=中文", "--json")
  expect(encoded).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^\{.*\}\n$/) as string })
  expect(parsed(encoded.stdout)).toMatchObject({
    success: true,
    toolName: "base64_encode",
    result: { encoded: "5Lit5paH" },
  })

  const oops = await run("call", "json_parse", '{"text":"{oops"}')
  expect(oops).toMatchObject({ code: 1, stdout: "" })
  expect(oops.stderr).toMatch(/^The text is not JSON: .*\. Correct it and call again\.\n$/)

  const tools = await run("tools", "list")
  expect(tools.stdout).toMatch(/^NAME +GROUP +LEVEL +EFFECT +DESCRIPTION\n/)
  expect(tools.stdout).toMatch(/^set_env +system +moderate +write +Set an environment variable/m)
  expect(Math.max(...tools.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100)
  const groups = await run("groups")
  expect(groups.stdout).toMatch(/^data {12}4 {6}JSON and Base64$/m)
})

test("an agent sees the tools it may use, and nothing else", async () => {
  const { run } = makeCli()
  const ofRoot = JSON.parse((await run("tools", "--agent", "root", "--json")).stdout) as { group: string }[]
  expect(new Set(ofRoot.map(({ group }) => group))).toEqual(new Set(["org_management"]))
  expect((await run("--agent", "root", "tools", "show", "sleep")).stderr).toContain("Agent root may not use sleep: ")
  expect((await run("groups", "--agent", "root")).stdout).not.toMatch(/^data /m)
  const inGroup = JSON.parse((await run("tools", "list", "--group", "data", "--json")).stdout) as { group: string }[]
  expect(inGroup.length).toBeGreaterThan(3)
  expect(inGroup.every(({ group }) => group === "data")).toBe(true)
  expect(JSON.parse((await run("groups", "show", "data", "--json")).stdout)).toMatchObject({
    toolCount: inGroup.length,
  })
  expect(JSON.parse((await run("tools", "show", "sleep", "--json")).stdout)).toMatchObject({
    id: "system:sleep@1.0.0",
    permission: { level: "public" },
    input: { required: ["duration"] },
  })
})

test("the input is read by the schema, from JSON, from pairs or from stdin", async () => {
  const { run, runWith } = makeCli()
  expect((await run("call", "json_stringify", "data.n=1", 'data.list=["中"]', "pretty=false")).stdout).toBe(
    `${JSON.stringify({ text: '{"n":1,"list":["中"]}' }, null, 2)}\n`,
  )
  expect(parsed((await runWith('{"text":"123"}', "call", "base64_encode", "-", "--json")).stdout).result).toEqual({
    encoded: "MTIz",
  })
  expect(await runWith("{oops", "call", "base64_encode", "-")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("The input on stdin is not JSON") as string,
  })
  expect(await run("call", "sleep", "duration=long")).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "Parameter 'duration' takes a number, and 'long' is not that. 'qm tools show sleep' shows its parameters.\n",
  })
})

test("a wrong input never runs: every problem on a line of its own, or all in one result", async () => {
  const { run } = makeCli()
  const wrong = await run("call", "set_env", "ky=A", "--yes")
  expect(wrong).toMatchObject({ code: 2, stdout: "" })
  expect(wrong.stderr.split("\n").slice(0, 3)).toEqual([
    "Missing required parameter: key",
    "Missing required parameter: value",
    "Unknown parameter 'ky'. Did you mean 'key'?",
  ])
  const json = parsed((await run("call", "set_env", "--json", "--yes")).stdout)
  expect(json).toMatchObject({ code: "invalid_arguments", metadata: { ran: false } })
  expect(json.error).toMatch(/^Validation failed: Missing required parameter: key, Missing required parameter: value/)
  const proto = await run("call", "sleep", "__proto__=1", "constructor.x=1")
  expect(proto).toMatchObject({ code: 2, stderr: expect.stringContaining("Parameter '__proto__'") as string })
})

test.each([
  [["cal"], 2, "'qm cal' is not a command. Did you mean 'qm call'?\n"],
  [["audit", "verfy"], 2, "'qm audit verfy' is not a command. Did you mean 'qm audit verify'?\n"],
  [["listen", "--port", "1"], 2, "'qm listen' is not a command. Commands: "],
  [["call"], 2, "Missing required argument 'tool'. 'qm call --help' shows how to use it.\n"],
  [
    ["call", "read_file", "--path", "a b"],
    2,
    "Unknown option '--path'. A parameter of the tool has no dashes: write path='a b'.",
  ],
  [["why", "read_file", "--path=x"], 2, "write path=x."],
  [["call", "sleep", "--tmeout", "5"], 2, "Unknown option '--tmeout'. Did you mean --timeout?\n"],
  [["call", "sleep", "--timeout", "soon"], 2, "--timeout takes a whole number above 0, and 'soon' is none.\n"],
  [["--set", "tools.timeout=long", "tools"], 2, "flag tools.timeout: 'tools.timeout' cannot be of type string."],
  [["call", "sleeep"], 1, 'Tool "sleeep" not found. Did you mean "sleep"?\n'],
  [["tools", "show", "sleeep"], 1, "There is no tool 'sleeep' for this agent. Did you mean 'sleep'?\n"],
  [["--agent", "root", "call", "json_parse", "text=1"], 3, "Tool json_parse is not available to this role: "],
  [["call", "sleep", "duration=5", "--timeout", "20"], 1, "Tool execution timed out after 20ms."],
])("%j ends with %i and says why", async (words, code, stderr) => {
  const { run } = makeCli()
  const result = await run(...words)
  expect(result).toMatchObject({ code, stdout: "" })
  expect(result.stderr).toContain(stderr.trimEnd())
})

test("a word that is no URL is refused as such by every tool that takes one", async () => {
  const { run } = makeCli()
  for (const tool of ["http_get", "http_post", "http_request", "web_fetch"]) {
    const { code, stderr } = await run("call", tool, "url=notaurl", ...(tool === "http_request" ? ["method=GET"] : []))
    expect([code, stderr]).toEqual([2, expect.stringContaining("'url' is not a URL; write the whole address")])
  }
})

test("with unattended reject, a call that needs approval does not run; --yes approves it unless it is sensitive", async () => {
  const { run } = makeCli()
  const refused = await run("--set", "approvals.unattended=reject", "call", "set_env", "key=A", "value=1")
  expect(refused).toMatchObject({ code: 4, stdout: "" })
  expect(refused.stderr).toBe("Nobody agreed to the call of set_env: Nobody is here to ask.\n")
  const agreed = await run("call", "set_env", "key=A", "value=2", "--yes", "--json")
  expect(parsed(agreed.stdout)).toMatchObject({ success: true, result: { previous: null } })
  const sensitive = ["--set", "tools.permissions.set_env.level=sensitive"]
  const reject = ["--set", "approvals.unattended=reject"]
  const never = await run(...sensitive, "call", "set_env", "key=A", "value=3", "--yes", "--json", ...reject)
  expect(never.code).toBe(4)
  expect(parsed(never.stdout)).toMatchObject({ code: "approval_rejected", metadata: { ran: false } })
  expect(parsed((await run("call", "get_env", "key=A", "--json")).stdout).result).toEqual({ value: "2" })
})

test("without a terminal, what --yes does not cover waits for a person, and the message says why", async () => {
  const { run } = makeCli()
  const sensitive = ["--set", "tools.permissions.set_env.level=sensitive"]
  const words = ["call", "set_env", "key=A", "value=3", "--yes", "--wait", "0"]
  const { code, stderr } = await run(...sensitive, ...words)
  expect([code, stderr]).toEqual([
    4,
    expect.stringMatching(
      /^--yes does not cover this call, because set_env is sensitive\.\nWaiting for a person: qm approvals approve \S+\nIt waits until [-\d]+ [:\d]+\.\nCall /,
    ),
  ])
  const waiting = JSON.parse((await run("approvals", "list", "--json")).stdout) as { callId: string }[]
  expect(waiting).toHaveLength(1)
  await run("approvals", "approve", waiting[0]!.callId)
  expect((await run(...sensitive, ...words)).code).toBe(0)
})

test("a program inside a tool cannot approve anything", async () => {
  const { run } = makeCli({ QM_INSIDE: "1", QM_AGENT: "operator" })
  const yes = await run("call", "set_env", "key=A", "value=1", "--yes")
  expect(yes).toMatchObject({ code: 2, stderr: expect.stringContaining("QM_INSIDE is set") as string })
  expect((await run("trust", "quartermaster.yml")).code).toBe(3)
  expect((await run("approvals", "list")).code).toBe(3)
  expect((await run("call", "base64_encode", "text=a")).code).toBe(0)
  expect((await run("call", "base64_encode", "text=a", "--agent", "root")).code).toBe(3)
  const loose = ["--set", "tools.permissions.set_env.level=public"]
  expect((await run(...loose, "call", "set_env", "key=A", "value=1")).code).toBe(3)
})

test("Ctrl-C cancels a running call, which is recorded and says how it ended", async () => {
  const { run, start } = makeCli()
  const sleeping = start("call", "sleep", "duration=30", "--json")
  const end = outputOf(sleeping, "")
  await startIsKept(run)
  sleeping.kill("SIGINT")
  await waitForOutput(sleeping, "Cancelling")
  const { code, stdout, stderr } = await end
  expect(code).toBe(1)
  expect(parsed(stdout)).toMatchObject({ code: "aborted", metadata: { ran: true } })
  expect(stderr).toBe("Cancelling. Press Ctrl-C again to exit immediately.\n")
  expect((await run("audit", "list")).stdout).toMatch(/sleep +- +\d+ +aborted$/m)
})

test("a closed pipe ends the command without an error", async () => {
  const { shell, write } = makeCli()
  write("big.json", JSON.stringify({ data: "x".repeat(2_000_000) }))
  expect(await shell("qm call json_stringify - < big.json | head -c 3")).toEqual({
    code: 0,
    stdout: "{\n ",
    stderr: "",
  })
  expect(await shell("qm help | true")).toMatchObject({ code: 0, stderr: "" })
})

test("a call to a tool of a server that does not run has the server's error and the command that shows more", async () => {
  const { run, write } = makeCli()
  write("quartermaster.yml", "mcpServers: { gone: { command: node, args: [nope.mjs] } }\n")
  await run("trust", "--yes")
  for (const tool of ["mcp:gone:thing", "gone__thing"]) {
    const { code, stderr } = await run("call", tool)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /The MCP server gone ended with exit code 1 \(Error: Cannot find module '[^']*nope\.mjs'\)\./,
    )
    expect(stderr).toContain("check' tries the server again and shows its output.")
  }
  expect((await run("call", "thing")).stderr).toContain("It may be a tool of a server that does not run.")
})

test("both program names work and print the version", async () => {
  const { run } = makeCli()
  const manifest = JSON.parse(readFileSync(join(dist, "../package.json"), "utf8")) as { version: string; bin: unknown }
  expect(manifest.bin).toEqual({ quartermaster: "dist/qm.js", qm: "dist/qm.js" })
  expect(await run("--version")).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" })
  const tour = await run("start")
  expect(tour).toMatchObject({ code: 0, stderr: "" })
  expect(tour.stdout).toMatch(
    /^Here: \d+ tools in \d+ groups for agent operator; 0 calls in the audit log\. Data folder: /m,
  )
})

/** Waits until another process can read in the record that a call began. */
async function startIsKept(run: ReturnType<typeof makeCli>["run"]): Promise<void> {
  for (;;) {
    const { stdout } = await run("audit", "verify", "--json")
    if ((JSON.parse(stdout) as { records: number }).records > 0) return
  }
}
