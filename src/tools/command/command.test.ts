import { join } from "node:path"
import { mkdirSync } from "node:fs"
import { expect, onTestFinished, test } from "vitest"
import { callbackAdapter } from "../../approval/callback.ts"
import type { Config } from "../../config/schema.ts"
import type { JavaScript } from "../../model/javascript.ts"
import type { Processes } from "../../model/processes.ts"
import { modelText } from "../../model/text.ts"
import { open, temporaryFolder, until } from "../../testing/open.ts"
import { openJavaScript } from "../../world/javascript/javascript.ts"
import { openProcesses } from "../../world/processes/processes.ts"
import { openFence } from "../../world/files/fence.ts"
import { countProcesses, someSeconds, withMoreTime } from "../../world/processes/testing.ts"
import { commandTools } from "./index.ts"
import { runCommand } from "./run-command.ts"

const org: Config["org"] = {
  roles: [
    { name: "developer", toolGroups: ["command", "artifact"] },
    { name: "tester", toolGroups: ["command"] },
  ],
  agents: [
    { id: "dev", role: "developer" },
    { id: "eve", role: "developer" },
    { id: "tim", role: "tester" },
  ],
}

/** A house with these tools over a workspace of their own, and a person who says yes. */
async function house(options: { sandbox?: "off" | "auto"; timeoutMs?: number } = {}) {
  const workspace = temporaryFolder()
  const dataFolder = join(workspace, ".quartermaster")
  mkdirSync(dataFolder)
  let asked = 0
  const approvals = callbackAdapter({ onExecution: () => ++asked > 0 })
  const system = await open({ org }, { approvals })
  const files = openFence({ workspace, dataFolder })
  const { sandbox = "off" } = options
  const processes = openProcesses({
    files,
    sandbox,
    dataFolder,
    environment: process.env,
    hidden: [dataFolder],
    graceMs: 200,
  })
  onTestFinished(() => processes.close())
  for (const tool of commandTools(processes, openJavaScript(), options))
    system.registry.register(tool, { replace: true })
  const call = (tool: string, input: unknown, who: object = {}) => system.call({ agentId: "dev", tool, input, ...who })
  return { system, workspace, processes, call, asked: () => asked }
}

test("run_command returns what was printed and the exit code, also of a command that fails [S0-62] [S3-53] [C-16]", async () => {
  const { call, workspace } = await house()
  const result = await call("run_command", { command: "pwd; echo 错 >&2; exit 2" })
  expect(result).toMatchObject({
    success: true,
    result: {
      stdout: `${workspace}\n`,
      stderr: "错\n",
      exitCode: 2,
      durationMs: expect.any(Number) as number,
      sandbox: { kind: "none", because: "tools.shell.sandbox is off", network: true },
    },
  })
})

test("run_command takes a folder, variables and an input [S3-52] [S2-50]", async () => {
  const { call, workspace } = await house()
  mkdirSync(join(workspace, "sub"))
  const input = { command: 'pwd; echo "$GREETING"; cat', cwd: "sub", env: { GREETING: "hello" }, stdin: "input" }
  expect(await call("run_command", input)).toMatchObject({ result: { stdout: `${workspace}/sub\nhello\ninput` } })
  const outside = await call("run_command", { command: "pwd", cwd: "/etc" })
  expect(outside).toMatchObject({ success: false })
})

test("run_command is for the roles that develop, and always asks [S2-52] [S3-51]", async () => {
  const { call, asked } = await house()
  expect(await call("run_command", { command: "true" }, { agentId: "tim" })).toMatchObject({
    code: "tool_not_available",
  })
  expect(asked()).toBe(0)
  expect(await call("run_command", { command: "true" })).toMatchObject({ success: true })
  expect(asked()).toBe(1)
})

test("an approver sees the command with its folder, variables and what holds it, and nothing hidden in it", async () => {
  const { processes } = await house()
  const { preview } = runCommand(processes)
  const shown = await preview?.({
    command: "ls\u0007 \u202ex\u200b",
    cwd: "sub",
    env: { A: "b\u001b" },
    background: true,
    stdin: "abc",
    timeoutMs: 5,
  })
  expect(shown).toBe(
    [
      "Folder: sub",
      "Variable: A=b\\u{1b}",
      "Input: 3 characters",
      "In the background, until it ends or is stopped",
      "Time limit: 5 ms",
      "Sandbox: none, because tools.shell.sandbox is off. It has your own rights, and reaches the network.",
      "",
      "ls\\u{7} \\u{202e}x\\u{200b}",
    ].join("\n"),
  )
  const held = (network: boolean) => ({ layer: () => ({ kind: "bubblewrap", network }) }) as unknown as Processes
  expect(await runCommand(held(false)).preview?.({ command: "ls" })).toContain("Network: none\n\nls")
  expect(await runCommand(held(true)).preview?.({ command: "ls", network: true })).toContain(
    "Network: all of it. Rules about hosts do not reach inside.",
  )
  const missing = { layer: () => { throw new Error("There is none.") } } as unknown as Processes // prettier-ignore
  expect(await runCommand(missing).preview?.({ command: "ls" })).toContain("There is none.")
})

test("what run_command touches is the whole command with its folder, variables and network", () => {
  const tool = runCommand({} as Processes)
  expect(tool.touches?.({ command: "a && b", cwd: "x", env: { A: "1" }, network: true })).toEqual([
    { kind: "command", what: "a && b", cwd: "x", environment: { A: "1" }, network: true },
  ])
  expect(tool.touches?.({ command: "a" })).toEqual([
    { kind: "command", what: "a", cwd: undefined, environment: undefined, network: false },
  ])
})

test("a command whose time is over is ended, and the model reads what it had printed [S0-62] [S3-59]", async () => {
  const printed = /still running after \d+ ms and was ended.*\nIt had printed:\nbegun\n\nOn stderr:\noh\n$/s
  for (const isUsual of [true, false]) {
    const run = async (timeoutMs: number) => {
      const { call } = await house(isUsual ? { timeoutMs } : {})
      const input = { command: "echo begun; echo oh >&2; sleep 60", ...(isUsual ? {} : { timeoutMs }) }
      const result = await call("run_command", input)
      expect(result).toMatchObject({
        code: "tool_failed",
        metadata: { toolCode: "command_timeout", timedOut: true, timeoutMs },
      })
      return result
    }
    expect(modelText(await withMoreTime(run, (result) => printed.test(modelText(result))))).toMatch(printed)
  }
})

test("a command that uses too much is ended as the configuration says, and the model reads why", async () => {
  const approvals = callbackAdapter({ onExecution: () => true })
  const shell = { sandbox: "off", limits: { processes: 20 } } as const
  const system = await open({ org, tools: { shell } }, { approvals, workspace: temporaryFolder() })
  const command = "echo begun; for i in {1..60}; do sleep 60 & done; wait"
  const result = await system.call({ agentId: "dev", tool: "run_command", input: { command } })
  expect(result).toMatchObject({
    code: "tool_failed",
    metadata: { toolCode: "command_limit", limit: "processes", most: 20, sandbox: { kind: "none" } },
  })
  expect(modelText(result)).toMatch(/had more than 20 processes at once and was ended.*tools\.shell\.limits\.processes\.\nIt had printed:\nbegun\n$/s) // prettier-ignore
})

test("what a command prints is told while it runs", async () => {
  const { system, call } = await house()
  const heard: unknown[] = []
  system.on("TOOL_CALL_OUTPUT", ({ chunk }) => void heard.push(chunk))
  await call("run_command", { command: "echo one; echo two >&2" })
  expect(heard).toContainEqual({ stream: "stdout", text: "one\n" })
  expect(heard).toContainEqual({ stream: "stderr", text: "two\n" })
})

test("of very long output the beginning and the end come back, and all of it is an artifact [S3-60]", async () => {
  const { system, call } = await house()
  const result = await call("run_command", {
    command: "echo first; yes 0123456789 | head -c 22000000; echo; echo last",
  })
  const { stdout, dropped, artifactRef } = result.result as { stdout: string; dropped: number; artifactRef: string }
  expect(stdout.startsWith("first\n0123456789\n")).toBe(true)
  expect(stdout.endsWith("\nlast\n")).toBe(true)
  expect(dropped).toBeGreaterThan(1_000_000)
  const kept = await system.call({ agentId: "dev", tool: "get_artifact", input: { ref: artifactRef } })
  expect((kept.result as { content: string }).content.length).toBe(22_000_012)
})

test("the result names what a command made that no tool may write, and so does that of a background command", async () => {
  const { call } = await house()
  const made = { success: true, result: { sealed: ["sub/.npmrc"], stdout: "done\n", exitCode: 0 } }
  const command = "mkdir -p sub; name=npmrc; echo x > sub/.$name; echo done"
  expect(await call("run_command", { command })).toMatchObject(made)
  const plain = await call("run_command", { command: "true" })
  expect(plain.success && plain.result).not.toHaveProperty("sealed")
  expect(await call("run_command", { command, background: true })).toMatchObject({ result: { id: "command-1" } })
  let last: unknown
  await until(async () => {
    const { result } = (await call("command_output", { id: "command-1" })) as { result: { status: string } }
    last = result
    return result.status === "completed"
  }, "it ended")
  expect(last).toMatchObject({ sealed: ["sub/.npmrc"] })
})

test("a background command is started, read and stopped by its agent, and by nobody else", async () => {
  const { call } = await house()
  const started = await call("run_command", { command: "echo up; sleep 60", background: true })
  const { id } = started.result as { id: string }
  expect(started.result).toMatchObject({ id, status: "running", stdout: "", exitCode: null })
  let seen = ""
  await until(async () => {
    const { result } = await call("command_output", { id })
    return (seen += (result as { stdout: string }).stdout) === "up\n"
  }, "its output was read")
  for (const tool of ["command_output", "command_stop"]) {
    expect(await call(tool, { id }, { agentId: "eve" })).toMatchObject({ metadata: { toolCode: "command_not_found" } })
  }
  expect(await call("command_stop", { id })).toMatchObject({ result: { id, status: "killed" } })
  expect(await call("command_output", { id })).toMatchObject({ result: { status: "killed", stdout: "" } })
  expect(await call("command_output", { id: "command-99" })).toMatchObject({
    error: `There is no command 'command-99' here. There are: ${id}.`,
  })
})

test.each(["here", "in another process"])(
  "a freeze that is said %s ends what runs in the background",
  async (where) => {
    const workspace = temporaryFolder()
    const approvals = callbackAdapter({ onExecution: () => true })
    const system = await open({ org, workspace }, { approvals, workspace })
    const other = where === "here" ? system : await open({ org, workspace, data: { dir: system.dir } }, { workspace })
    const seconds = someSeconds()
    const start = (agentId: string) =>
      system.call({ agentId, tool: "run_command", input: { command: `sleep ${seconds}`, background: true } })
    expect(await start("dev")).toMatchObject({ success: true })
    await other.freeze({ agentId: "eve", by: "me" })
    await until(() => countProcesses(seconds) > 0, "it ran")
    await other.freeze({ agentId: "dev", by: "me" })
    await until(() => countProcesses(seconds) === 0, "it was ended")
  },
)

test("run_javascript computes with its input and asks nobody [S0-63] [S4-101]", async () => {
  const { call, asked } = await house()
  const good = await call("run_javascript", { code: "console.log('hi'); return input.n * 2", input: { n: 21 } })
  expect(good).toMatchObject({ success: true, result: { result: 42, logs: ["hi"] } })
  expect(await call("run_javascript", { code: "throw new Error('no')" })).toMatchObject({
    code: "tool_failed",
    error: "The code failed: Error: no (line 1).",
    metadata: { toolCode: "js_execution_failed" },
  })
  expect(await call("run_javascript", { code: "x".repeat(20_001) })).toMatchObject({ code: "invalid_arguments" })
  expect(asked()).toBe(0)
})

test("the tools say what is wrong with their input", async () => {
  const { call } = await house()
  const bad: [string, unknown][] = [
    ["run_command", {}],
    ["run_command", { command: "" }],
    ["run_command", { command: 1 }],
    ["run_command", { command: "x", timeoutMs: 0 }],
    ["run_command", { command: "x", timeoutMs: 600_001 }],
    ["run_command", { command: "x", env: { A: 1 } }],
    ["run_command", { command: "x", background: "yes" }],
    ["command_output", {}],
    ["command_stop", { id: "" }],
    ["run_javascript", { code: "" }],
  ]
  for (const [tool, input] of bad) expect(await call(tool, input)).toMatchObject({ code: "invalid_arguments" })
})

test("the group has its four tools in order [S0-46]", () => {
  const names = commandTools({} as Processes, {} as JavaScript).map(({ name, group }) => [group, name])
  expect(names).toEqual(
    ["run_command", "command_output", "command_stop", "run_javascript"].map((name) => ["command", name]),
  )
})
