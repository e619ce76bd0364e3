import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { until } from "../../../../testing/test-app.ts"
import { makeCli, waitForOutput } from "../../testing.ts"

const rules = `org:
  roles: [{ name: coder, toolGroups: [workspace, command, network, clients] }]
  agents: [{ id: dev, role: coder }]
rules:
  - { allow: run_command, touching: ["command:cat *"], because: "Reading." }
  - { deny: run_command, touching: ["command:rm *"], because: "Nothing is deleted here." }
`

/** A project with an agent and rules, and its hook as Claude Code starts it. */
async function project() {
  const cli = makeCli()
  cli.write("quartermaster.yml", rules)
  cli.write("a.txt", "hello\n")
  await cli.run("trust", "--yes")
  const payload = (command: string, id: string, more: object = {}) => ({
    session_id: "s",
    cwd: cli.cwd,
    permission_mode: "default",
    hook_event_name: "PreToolUse",
    tool_name: "Bash",
    tool_input: { command },
    tool_use_id: id,
    ...more,
  })
  const hook = (stdin: string, ...words: string[]) => cli.runWith(stdin, "hook", "claude", "--agent", "dev", ...words)
  const ask = async (command: string, id: string, ...words: string[]) => {
    const { stdout, code } = await hook(JSON.stringify(payload(command, id)), ...words)
    const { hookSpecificOutput: said } = JSON.parse(stdout) as { hookSpecificOutput: Record<string, string> }
    return { verdict: said["permissionDecision"], reason: said["permissionDecisionReason"] ?? "", code }
  }
  const ended = (id: string) =>
    hook(
      JSON.stringify(payload("cat a.txt", id, { hook_event_name: "PostToolUse", tool_response: { stdout: "hello" } })),
    )
  const log = async () => {
    const { stdout } = await cli.run("audit", "list", "--json")
    return (JSON.parse(stdout) as { tool: string; code?: string }[]).map(({ tool, code }) => `${tool} ${code ?? "ok"}`)
  }
  /** Approves what waits, once something does. */
  const approve = async () => {
    let id = ""
    await until(async () => {
      const items = JSON.parse((await cli.run("approvals", "--json")).stdout) as { callId: string }[]
      id = items[0]?.callId ?? ""
      return id !== ""
    }, "a call waits")
    expect(await cli.run("approvals", "approve", id)).toMatchObject({ code: 0 })
  }
  return { cli, hook, ask, ended, log, payload, approve }
}

test("without a server the hook decides itself, on the same store", async () => {
  const { ask, ended, log } = await project()
  expect(await ask("cat a.txt", "1")).toMatchObject({ verdict: "allow", code: 0 })
  expect(await ended("1")).toMatchObject({ code: 0, stdout: "" })
  expect(await ask("rm a.txt", "2")).toMatchObject({
    verdict: "deny",
    reason: expect.stringContaining("Nothing is deleted"),
  })
  expect(await log()).toEqual(["run_command permission_denied", "run_command ok"])
})

test("the server decides while one runs; killed between start and end, the next hook goes on without it", async () => {
  const { cli, ask, ended, log } = await project()
  const server = cli.start("serve", "--port", "0")
  await waitForOutput(server, "Press Ctrl-C to stop.")
  expect(await ask("cat a.txt", "1")).toMatchObject({ verdict: "allow" })
  const exited = once(server, "exit")
  server.kill("SIGKILL")
  await exited
  expect(await ended("1")).toMatchObject({ code: 0 })
  expect(await ask("rm b", "2")).toMatchObject({ verdict: "deny" })
  expect(await log()).toEqual(["run_command permission_denied", "run_command ok"])
})

test("a person answers elsewhere while the hook waits, and before its time is up the model is told to come back", async () => {
  const { ask, approve } = await project()
  const waiting = ask("make", "1", "--timeout", "60")
  await approve()
  expect(await waiting).toMatchObject({ verdict: "allow" })
  const late = await ask("make it", "2", "--timeout", "2")
  expect(late).toMatchObject({ verdict: "deny", reason: expect.stringMatching(/^NOT EXECUTED YET.*again/) })
  await approve()
  expect(await ask("make it", "3", "--timeout", "5")).toMatchObject({ verdict: "allow" })
})

test.each([
  ["garbage", "garbage"],
  ["nothing", ""],
  ["a megabyte of prompt", JSON.stringify({ hook_event_name: "PreToolUse", prompt: "x".repeat(6_000_000) })],
])("%s on stdin is refused with a sentence and recorded", async (_, stdin) => {
  const { hook, log } = await project()
  const { stdout, code } = await hook(stdin)
  expect(code).toBe(0)
  expect(stdout).toMatch(/"permissionDecision":"deny".*cannot be read/)
  expect(await log()).toEqual(["claude:unreadable unknown_tool"])
})

test.each([
  ["the configuration is broken", (cwd: string) => writeFileSync(join(cwd, "quartermaster.yml"), "rules: [")],
  [
    "the data folder cannot be used",
    (cwd: string) => {
      chmodSync(join(cwd, ".quartermaster", "record.key"), 0o600)
      writeFileSync(join(cwd, ".quartermaster", "record.key"), "broken")
    },
  ],
  [
    "the database is none",
    (cwd: string) => writeFileSync(join(cwd, ".quartermaster", "quartermaster.db"), "x".repeat(5000)),
  ],
] as const)("where %s nothing runs, unless --fail-open was asked for", async (_, breakIt) => {
  const { cli, hook, ask, payload } = await project()
  await ask("cat a.txt", "0")
  breakIt(cli.cwd)
  const call = JSON.stringify(payload("cat a.txt", "1"))
  const closed = await hook(call)
  expect(closed.code).toBe(2)
  expect(closed.stdout).toContain('"permissionDecision":"deny"')
  expect(closed.stderr).toMatch(/^NOT EXECUTED\..*qm doctor/s)
  const open = await hook(call, "--fail-open")
  expect(open).toMatchObject({ code: 0, stdout: "" })
})

test("a project that the agent makes itself below its own does not decide", async () => {
  const { cli, payload } = await project()
  const below = join(cli.cwd, "below")
  mkdirSync(join(below, ".quartermaster"), { recursive: true, mode: 0o700 })
  const stdin = JSON.stringify({ ...payload("rm a.txt", "1"), cwd: below })
  const { stdout } = await cli.shell(
    `cd below; printf %s '${stdin}' | CLAUDE_PROJECT_DIR='${cli.cwd}' qm hook claude --agent dev`,
  )
  expect(stdout).toContain("Nothing is deleted here.")
})

test("a server file that somebody else could have put into the project is not asked", async () => {
  const { cli, ask } = await project()
  await ask("cat a.txt", "0")
  const file = join(cli.dataDir, "server.1.json")
  const yes = { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow" } }
  const theirs = createServer((_, response) =>
    response.end(JSON.stringify({ stdout: JSON.stringify(yes), stderr: "", code: 0 })),
  )
  onTestFinished(() => void theirs.close())
  await once(theirs.listen(0, "127.0.0.1"), "listening")
  const listens = `http://127.0.0.1:${(theirs.address() as AddressInfo).port}`
  writeFileSync(file, JSON.stringify({ listens, url: listens, pid: process.pid, startedAt: 1, localKey: "x" }))
  chmodSync(file, 0o644)
  expect(await ask("rm a", "1")).toMatchObject({
    verdict: "deny",
    reason: expect.stringContaining("Nothing is deleted"),
  })
})
