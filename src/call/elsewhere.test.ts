import { writeFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { Config } from "../config/schema.ts"
import type { Quartermaster } from "../app/quartermaster.ts"
import type { CallRequest } from "../core/call.ts"
import { isTicket } from "../core/result.ts"
import { silentLogger } from "../core/logger.ts"
import { openStore } from "../store/sqlite/store.ts"
import { ListRecorder, portsOver } from "../testing/ports.ts"
import { dataFolder, openTestApp, temporaryFolder } from "../testing/test-app.ts"
import { callTool } from "./call.ts"
import { approvePending, changeRow, expectTicket, showPending } from "./testing.ts"

const org: Config["org"] = {
  roles: [
    { name: "coder", toolGroups: ["workspace", "command", "network", "clients"] },
    { name: "reader", toolGroups: ["workspace"] },
  ],
  agents: [
    { id: "dev", role: "coder" },
    { id: "reader", role: "reader" },
  ],
}

type Rules = readonly Record<string, unknown>[]

async function open({ rules = [], ...config }: Omit<Config, "rules"> & { rules?: Rules } = {}) {
  const workspace = realpathSync(temporaryFolder())
  writeFileSync(join(workspace, "a.txt"), "hello\n")
  const app = await openTestApp(
    { org, rules: rules.map((rule) => ({ because: "Test.", ...rule })), ...config },
    { workspace },
  )
  const ask = (tool: string, input: object, more: Partial<CallRequest> & { client?: string; id?: string } = {}) => {
    const { client = "claude", id, ...rest } = more
    const elsewhere = { client, cwd: workspace, limitMs: 60_000, ...(id === undefined ? {} : { callId: id }) }
    const request = { agentId: "dev", tool, input, sessionId: "s1", anySession: true, elsewhere, ...rest }
    return app.call(request, { waitMs: 0 })
  }
  return { app, workspace, ask }
}

async function entriesOf(app: Quartermaster, callId: string) {
  await app.settle()
  return app.audit.show(callId)
}

test("a call that its caller runs is started before the caller is told, and ends with what it reports", async () => {
  const { app, workspace, ask } = await open()
  const ticket = expectTicket(await ask("Read", { file_path: join(workspace, "a.txt") }, { id: "t1" }))
  expect(ticket).toMatchObject({ state: "started", run: { edited: false } })
  expect(await entriesOf(app, ticket.callId)).toMatchObject([{ kind: "start", tool: "read_file", sessionId: "s1" }])
  expect(await app.elsewhere.list({ sessionId: "s1" })).toMatchObject([
    { callId: ticket.callId, calledAs: "Read", id: "t1" },
  ])
  const ended = await app.elsewhere.report(ticket.callId, { value: { file: "hello" } })
  expect(ended).toMatchObject({ success: true, result: { file: "hello" } })
  expect((await entriesOf(app, ticket.callId)).map(({ kind }) => kind)).toEqual(["start", "end"])
  expect(await app.elsewhere.list({ sessionId: "s1" })).toEqual([])
  expect(await app.elsewhere.report(ticket.callId, { failed: "again" })).toMatchObject({ success: true })
})

test("a failure that the caller reports is recorded as the tool's", async () => {
  const { app, ask } = await open({ rules: [{ allow: "run_command" }] })
  const { callId } = expectTicket(await ask("Bash", { command: "ls nowhere" }))
  expect(await app.elsewhere.report(callId, { failed: "exit code 2" })).toMatchObject({ code: "tool_failed" })
  expect((await entriesOf(app, callId)).at(-1)).toMatchObject({ kind: "end", code: "tool_failed", ran: true })
})

test.each([
  [
    "Bash",
    { command: "rm -rf build" },
    "permission_denied",
    { rules: [{ deny: "run_command", touching: ["command:rm *"] }] },
  ],
  ["Bash", { command: "cat .env" }, "permission_denied", { rules: [{ deny: "*", touching: ["read:.env"] }] }],
  ["Write", { file_path: "/etc/passwd", content: "x" }, "path_outside_workspace", {}],
  [
    "Edit",
    { file_path: "src/a.ts", old_string: "a", new_string: "b" },
    "permission_denied",
    { rules: [{ deny: "edit_file", touching: ["write:src/**"] }] },
  ],
  ["WebFetch", { url: "http://169.254.169.254/", prompt: "x" }, "host_denied", {}],
  ["Write", { file_path: "a.txt" }, "invalid_arguments", {}],
  ["mcp__github__delete_repo", { name: "x" }, "tool_not_available", { rules: [{ deny: "mcp:github:delete_repo" }] }],
  ["Skill", { name: "x" }, "tool_not_available", { rules: [{ deny: "claude:*" }] }],
] as [string, object, string, { rules?: Rules }][])(
  "the rules of our tools hold for %s %j: %s",
  async (tool, input, code, config) => {
    const { ask } = await open(config)
    expect(await ask(tool, input)).toMatchObject({ success: false, code })
  },
)

test.each([
  [
    "codex",
    "apply_patch",
    { command: "*** Begin Patch\n*** Update File: a.txt\n*** Move to: ../b.txt\n*** End Patch" },
  ],
  [
    "codex",
    "apply_patch",
    { command: "*** Begin Patch\n*** Add File: ok.txt\n+x\n *** Delete File: /etc/passwd\n*** End Patch" },
  ],
  ["opencode", "write", { filePath: "/etc/x", content: "" }],
  ["gemini", "replace", { file_path: "/etc/x", old_string: "a", new_string: "b" }],
  ["copilot", "create", { path: "/etc/x", file_text: "" }],
  ["cursor", "Delete", { path: "/etc/x" }],
  ["vscode", "create_file", { filePath: "/etc/x", content: "" }],
  ["qwen", "run_shell_command", { command: "touch /etc/x" }],
] as const)("%s: %s cannot leave the workspace", async (client, tool, input) => {
  const { ask } = await open({
    rules: [{ allow: "edit_file" }, { allow: "write_file" }, { allow: "delete_file" }, { allow: "run_command" }],
  })
  expect(await ask(tool, input, { client })).toMatchObject({ success: false, code: "path_outside_workspace" })
})

test.each([
  ["a tool that is not known", "Frobnicate", {}],
  ["a tool of a server that is not connected", "mcp__github__create_issue", { title: "x" }],
  ["a field that is not known", "Read", { file_path: "a.txt", followLinksTo: "/etc" }],
  [
    "a patch with a line that is not known",
    "apply_patch",
    { command: "*** Begin Patch\n*** Frobnicate: x\n*** Add File: a\n+x" },
  ],
  ["a command", "Bash", { command: "make" }],
])("%s asks a person", async (_, tool, input) => {
  const { app, ask } = await open()
  const ticket = expectTicket(await ask(tool, input, tool === "apply_patch" ? { client: "codex" } : {}))
  expect(ticket.state).toBe("waiting")
  expect(await showPending(app, ticket.callId)).toMatchObject({ kind: "call" })
})

test("an agent whose role lacks the group of our tool does not have the one that is like it", async () => {
  const { ask } = await open()
  expect(await ask("Bash", { command: "ls" }, { agentId: "reader" })).toMatchObject({ code: "tool_not_available" })
  expect(await ask("Skill", {}, { agentId: "reader" })).toMatchObject({ code: "tool_not_available" })
})

test("in shell mode sandbox a command that the caller runs still asks: our sandbox does not hold it", async () => {
  const { app, ask } = await open({ tools: { shell: { mode: "sandbox" } } })
  const ticket = expectTicket(await ask("Bash", { command: "make all" }))
  expect(ticket.state).toBe("waiting")
  const { previewData } = await showPending(app, ticket.callId)
  expect(previewData).toMatchObject({ details: [{ code: "detail_runs_elsewhere", params: { client: "claude" } }] })
})

test("a later yes is redeemed by the same call, also in the next session, and once", async () => {
  const { app, ask } = await open()
  const asked = expectTicket(await ask("Bash", { command: "make", description: "Build" }, { id: "t1" }))
  await approvePending(app, asked.callId)
  // Only the program that runs it goes on with it.
  expect(await app.resume(asked.callId, { waitMs: 0 })).toMatchObject({ state: "ready" })
  const again = { command: "make", description: "Build it" }
  const second = expectTicket(await ask("Bash", again, { id: "t2", sessionId: "s2" }))
  expect(second).toMatchObject({ callId: asked.callId, state: "started" })
  expect(await app.elsewhere.list({ sessionId: "s2" })).toMatchObject([{ id: "t2", callId: asked.callId }])
  const third = expectTicket(await ask("Bash", again, { id: "t3", sessionId: "s2" }))
  expect(third).toMatchObject({ state: "waiting" })
  expect(third.callId).not.toBe(asked.callId)
})

test("an approval of a call that its caller runs does not count for the same call here, and the other way round", async () => {
  const { app, ask } = await open()
  const theirs = expectTicket(await ask("Bash", { command: "make" }))
  const cwd = (await showPending(app, theirs.callId)).input as { cwd: string }
  const ours = {
    agentId: "dev",
    tool: "run_command",
    input: { command: "make", ...cwd },
    sessionId: "s1",
    anySession: true,
  }
  const here = expectTicket(await app.call(ours, { waitMs: 0 }))
  expect(here.callId).not.toBe(theirs.callId)
  await approvePending(app, here.callId)
  expect(expectTicket(await ask("Bash", { command: "make" }))).toMatchObject({
    state: "waiting",
    callId: theirs.callId,
  })
})

test("what a person changes is handed back", async () => {
  const { app, ask, workspace } = await open()
  const { callId } = expectTicket(await ask("Bash", { command: "make" }))
  await app.approvals.answer(callId, { kind: "edit", input: { command: "make test", cwd: workspace } }, "ann")
  expect(expectTicket(await ask("Bash", { command: "make" }))).toMatchObject({ state: "waiting" })
  await approvePending(app, callId)
  const ticket = expectTicket(await ask("Bash", { command: "make" }))
  expect(ticket).toMatchObject({ callId, run: { edited: true, input: { command: "make test" } } })
})

test("a person's no is the end of the call", async () => {
  const { app, ask } = await open()
  const { callId } = expectTicket(await ask("Bash", { command: "make" }))
  await app.approvals.answer(callId, { kind: "reject", reason: "Not today." }, "ann")
  expect(await app.resume(callId, { waitMs: 0 })).toMatchObject({
    code: "approval_rejected",
    rejectReason: "Not today.",
  })
})

test("a result that a person must release is held, and the same call gets it without a second run", async () => {
  const { app, workspace, ask } = await open({ rules: [{ ask: "read_file", release: "always" }] })
  const read = () => ask("Read", { file_path: join(workspace, "a.txt") })
  const ticket = expectTicket(await read())
  expect(ticket.state).toBe("started")
  const held = expectTicket(await app.elsewhere.report(ticket.callId, { value: "secret" }, { waitMs: 0 }))
  expect(held).toMatchObject({ callId: ticket.callId, state: "held" })
  await app.approvals.answer(ticket.callId, { kind: "release", replace: "public" }, "ann")
  expect(await read()).toMatchObject({ success: true, result: "public" })
})

test("without a report the call ends with its session or its time as unknown, and nobody is asked about it", async () => {
  const { app, ask } = await open({ rules: [{ allow: "run_command" }] })
  const first = expectTicket(await ask("Bash", { command: "sleep 1" }))
  await app.sweep()
  expect(await app.elsewhere.list({ sessionId: "s1" })).toHaveLength(1)
  expect(await app.elsewhere.endSession({ sessionId: "s1" }, "The session ended.")).toBe(1)
  expect((await entriesOf(app, first.callId)).at(-1)).toMatchObject({ code: "unknown_outcome", ran: true })
  const second = expectTicket(await ask("Bash", { command: "sleep 2" }))
  await changeRow(app.dir, second.callId, () => ({ deadline: Date.now() - 1 }))
  await app.sweep()
  expect((await entriesOf(app, second.callId)).at(-1)).toMatchObject({ code: "unknown_outcome" })
  expect(await app.approvals.list()).toEqual([])
})

test.each([
  ["a command of medium risk", { command: "make" }, {}, true, true],
  ["where it may not", { command: "make" }, {}, false, false],
  ["a command of high risk", { command: "rm -r src" }, {}, true, false],
  [
    "a command that two people approve",
    { command: "make" },
    { rules: [{ ask: "run_command", approvers: { count: 2 } }] },
    true,
    false,
  ],
] as const)("the caller's own dialog is let ask about %s: %j", async (_, input, config, mayAsk, asks) => {
  const { app, workspace, ask } = await open(config)
  const elsewhere = { client: "claude", cwd: workspace, limitMs: 60_000, mayAsk }
  const ticket = expectTicket(await ask("Bash", input, { elsewhere }))
  expect(ticket.run?.ask ?? false).toBe(asks)
  if (!asks) return expect(ticket.state).toBe("waiting")
  const entries = await entriesOf(app, ticket.callId)
  expect(entries.map(({ kind }) => kind)).toEqual(["note", "start"])
  expect(entries[0]).toMatchObject({ text: expect.stringContaining("allowed in the client, not verified") })
  expect(await app.approvals.grants()).toEqual([])
})

test("a call whose start cannot be recorded is not let through", async () => {
  const store = await openStore({ dataDir: await dataFolder(), owner: "test", logger: silentLogger, writes: "direct" })
  onTestFinished(() => store.close())
  const recorder = new ListRecorder()
  const ports = await portsOver(store, { recorder })
  const ask = () => {
    const elsewhere = { client: "claude", limitMs: 60_000 }
    return callTool({ agentId: "operator", tool: "TodoWrite", input: {}, sessionId: "s1", elsewhere }, ports)
  }
  recorder.fails = () => true
  expect(await ask()).toMatchObject({ code: "record_unavailable", metadata: { ran: false } })
  recorder.fails = () => false
  const ticket = expectTicket(await ask())
  expect(recorder.entries).toMatchObject([{ kind: "start", callId: ticket.callId }])
})

test("two at once are two calls", async () => {
  const { app, workspace, ask } = await open()
  const read = (id: string) => ask("Read", { file_path: join(workspace, "a.txt") }, { id })
  const tickets = await Promise.all([read("t1"), read("t2")])
  expect(tickets.every(isTicket)).toBe(true)
  expect(new Set(tickets.map(({ callId }) => callId)).size).toBe(2)
  expect(await app.elsewhere.list({ sessionId: "s1" })).toHaveLength(2)
})
