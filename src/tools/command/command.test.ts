import { join } from "node:path"
import { mkdirSync } from "node:fs"
import { expect, test } from "vitest"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import type { JavaScript } from "../../platform/javascript/evaluator.ts"
import type { Processes } from "../../platform/processes/process-access.ts"
import { modelText } from "../../core/model-text.ts"
import { openTestApp, temporaryFolder, until } from "../../testing/test-app.ts"
import { countProcesses, uniqueSeconds, withMoreTime } from "../../platform/processes/testing.ts"
import { commandTools } from "./index.ts"
import { runCommand } from "./run-command.ts"
import { openCommandApp, org } from "./testing/command.ts"
import { previewTextOf } from "../../testing/preview-text.ts"

test("run_command returns what was printed and the exit code, also of a command that fails", async () => {
  const { call, workspace } = await openCommandApp()
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

test("run_command takes a folder, variables and an input", async () => {
  const { call, workspace } = await openCommandApp()
  mkdirSync(join(workspace, "sub"))
  const input = { command: 'pwd; echo "$GREETING"; cat', cwd: "sub", env: { GREETING: "hello" }, stdin: "input" }
  expect(await call("run_command", input)).toMatchObject({ result: { stdout: `${workspace}/sub\nhello\ninput` } })
  const outside = await call("run_command", { command: "pwd", cwd: "/etc" })
  expect(outside).toMatchObject({ success: false })
})

test("run_command is for every role with its group and always asks; the configuration may name roles", async () => {
  const { call, asked } = await openCommandApp()
  for (const agentId of ["tim", "dev"])
    expect(await call("run_command", { command: "true" }, { agentId })).toMatchObject({ success: true })
  expect(asked()).toBe(2)
  const permissions = { run_command: { allowedRoles: ["developer", "devops", "architect"] } }
  const limited = await openTestApp({ org, tools: { permissions } })
  const has = (agentId: string) => limited.isVisible(agentId, "run_command")
  expect(["dev", "tim", "operator"].map(has)).toEqual([true, false, false])
})

test("an approver sees the command with its folder, variables and what holds it, and nothing hidden in it", async () => {
  const { processes } = await openCommandApp()
  const shown = await previewTextOf(runCommand(processes), {
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
  expect(await previewTextOf(runCommand(held(false)), { command: "ls" })).toContain("Network: none\n\nls")
  const writes = async (allowedPaths?: string[]) =>
    /It can write[^.]*/.exec(
      (await previewTextOf(runCommand(held(false), { allowedPaths }), { command: "ls" })) ?? "",
    )?.[0]
  expect(await writes()).toBe("It can write only in the workspace")
  expect(await writes(["docs", "/srv/shared"])).toBe("It can write only in docs, /srv/shared")
  expect(await writes([])).toBe("It can write nowhere")
  expect(await previewTextOf(runCommand(held(true)), { command: "ls", network: true })).toContain(
    "Network: all of it. Rules about hosts do not reach inside.",
  )
  const missing = { layer: () => { throw new Error("There is none.") } } as unknown as Processes // prettier-ignore
  expect(await previewTextOf(runCommand(missing), { command: "ls" })).toContain("There is none.")
})

test("what run_command touches is the whole command with its folder, variables and network", () => {
  const tool = runCommand({} as Processes)
  expect(tool.touches?.({ command: "a && b", cwd: "x", env: { A: "1" }, network: true })).toEqual([
    { kind: "command", what: "a && b", cwd: "x", environment: { A: "1" }, network: true, sandboxed: true },
  ])
  expect(tool.touches?.({ command: "a" })).toEqual([
    { kind: "command", what: "a", cwd: undefined, environment: undefined, network: false, sandboxed: true },
  ])
})

test("a command whose time is over is ended, and the model reads what it had printed", async () => {
  const printed = /still running after \d+ ms and was ended.*\nIt had printed:\nbegun\n\nOn stderr:\noh\n$/s
  for (const isUsual of [true, false]) {
    const run = async (timeoutMs: number) => {
      const { call } = await openCommandApp(isUsual ? { timeoutMs } : {})
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
  const system = await openTestApp({ org, tools: { shell } }, { approvals, workspace: temporaryFolder() })
  const command = "echo begun; for i in {1..60}; do sleep 60 & done; wait"
  const result = await system.call({ agentId: "dev", tool: "run_command", input: { command } })
  expect(result).toMatchObject({
    code: "tool_failed",
    metadata: { toolCode: "command_limit", limit: "processes", most: 20, sandbox: { kind: "none" } },
  })
  expect(modelText(result)).toMatch(/had more than 20 processes at once, so it was ended.*tools\.shell\.limits\.processes\.\nIt had printed:\nbegun\n$/s) // prettier-ignore
})

test("what a command prints is told while it runs", async () => {
  const { system, call } = await openCommandApp()
  const heard: unknown[] = []
  system.on("TOOL_CALL_OUTPUT", ({ chunk }) => void heard.push(chunk))
  await call("run_command", { command: "echo one; echo two >&2" })
  expect(heard).toContainEqual({ stream: "stdout", text: "one\n" })
  expect(heard).toContainEqual({ stream: "stderr", text: "two\n" })
})

test("a background command is started, read and stopped by its agent, and by nobody else", async () => {
  const { call } = await openCommandApp()
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
    const system = await openTestApp({ org, workspace }, { approvals, workspace })
    const other =
      where === "here" ? system : await openTestApp({ org, workspace, data: { dir: system.dir } }, { workspace })
    const seconds = uniqueSeconds()
    const start = (agentId: string) =>
      system.call({ agentId, tool: "run_command", input: { command: `sleep ${seconds}`, background: true } })
    expect(await start("dev")).toMatchObject({ success: true })
    await other.freeze({ agentId: "eve", by: "me" })
    await until(() => countProcesses(seconds) > 0, "it ran")
    await other.freeze({ agentId: "dev", by: "me" })
    await until(() => countProcesses(seconds) === 0, "it was ended")
  },
)

test("run_javascript computes with its input and asks nobody", async () => {
  const { call, asked } = await openCommandApp()
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
  const { call } = await openCommandApp()
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

test("the group has its four tools in order", () => {
  const names = commandTools({} as Processes, {} as JavaScript).map(({ name, group }) => [group, name])
  expect(names).toEqual(
    ["run_command", "command_output", "command_stop", "run_javascript"].map((name) => ["command", name]),
  )
})
