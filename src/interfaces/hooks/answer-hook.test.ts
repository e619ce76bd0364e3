import { realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Config } from "../../config/schema.ts"
import { openTestApp, temporaryFolder } from "../../testing/test-app.ts"
import { answerHook, type HookRequest } from "./answer-hook.ts"
import type { HookClientName } from "./hook-clients.ts"

const org: Config["org"] = {
  roles: [{ name: "coder", toolGroups: ["workspace", "command", "network", "clients"] }],
  agents: [{ id: "dev", role: "coder" }],
}

const readsFreely = { allow: "run_command", touching: ["command:cat *", "command:cat"], because: "Reading." }
const noDeletes = { deny: "run_command", touching: ["command:rm *"], because: "Nothing is deleted here." }

async function open(config: Config = {}) {
  const workspace = realpathSync(temporaryFolder())
  writeFileSync(join(workspace, "a.txt"), "hello\n")
  const app = await openTestApp({ org, rules: [readsFreely, noDeletes], ...config }, { workspace })
  const answer = async (client: HookClientName, payload: unknown, more: Partial<HookRequest> = {}) => {
    const text = typeof payload === "string" ? payload : JSON.stringify(payload)
    const reply = await answerHook(app, { client, agentId: "dev", text, waitMs: 0, ...more })
    return reply.stdout === "" ? undefined : (JSON.parse(reply.stdout) as Record<string, never>)
  }
  const ended = async () => {
    await app.settle()
    const items = await app.audit.list({})
    return items.map(({ tool, code, agentId }) => [agentId, tool, code ?? ""])
  }
  const files = (text: string) => text.replaceAll("$", workspace)
  return { app, workspace, answer, ended, files }
}

/** Payloads that the programs themselves sent, cut to their differences. `$` is the workspace. */
const shapes: Record<
  HookClientName,
  {
    before(tool: string, input: object, id?: string): object
    after(tool: string, input: object, output: unknown, id?: string): object
    command: string
    event?: [before: string, after: string, end: string]
    end: object
  }
> = {
  claude: {
    command: "Bash",
    before: (tool_name, tool_input, tool_use_id) => ({ session_id: "s", transcript_path: "/t.jsonl", cwd: "$", prompt_id: "p", permission_mode: "default", effort: { level: "medium" }, hook_event_name: "PreToolUse", tool_name, tool_input, tool_use_id }),
    after: (tool_name, tool_input, tool_response, tool_use_id) => ({ session_id: "s", cwd: "$", permission_mode: "default", hook_event_name: "PostToolUse", tool_name, tool_input, tool_response, tool_use_id, duration_ms: 6 }),
    end: { session_id: "s", cwd: "$", hook_event_name: "SessionEnd", reason: "other" },
  },
  codex: {
    command: "Bash",
    before: (tool_name, tool_input, tool_use_id) => ({ session_id: "s", turn_id: "t", transcript_path: null, cwd: "$", hook_event_name: "PreToolUse", model: "m", permission_mode: "bypassPermissions", tool_name, tool_input, tool_use_id }),
    after: (tool_name, tool_input, tool_response, tool_use_id) => ({ session_id: "s", turn_id: "t", cwd: "$", hook_event_name: "PostToolUse", model: "m", tool_name, tool_input, tool_response, tool_use_id }),
    end: { session_id: "s", turn_id: "t", cwd: "$", hook_event_name: "Stop", model: "m", stop_hook_active: false },
  },
  gemini: {
    command: "run_shell_command",
    before: (tool_name, tool_input) => ({ session_id: "s", cwd: "$", hook_event_name: "BeforeTool", timestamp: "2026-11-19T21:56:26.305Z", tool_name, tool_input }),
    after: (tool_name, tool_input, tool_response) => ({ session_id: "s", cwd: "$", hook_event_name: "AfterTool", timestamp: "2026-11-19T21:56:26.587Z", tool_name, tool_input, tool_response }),
    end: { session_id: "s", cwd: "$", hook_event_name: "SessionEnd", reason: "exit" },
  },
  qwen: {
    command: "run_shell_command",
    before: (tool_name, tool_input, tool_use_id) => ({ session_id: "s", cwd: "$", hook_event_name: "PreToolUse", permission_mode: "yolo", tool_name, tool_input, tool_use_id }),
    after: (tool_name, tool_input, tool_response, tool_use_id) => ({ session_id: "s", cwd: "$", hook_event_name: "PostToolUse", tool_name, tool_input, tool_response, tool_use_id }),
    end: { session_id: "s", cwd: "$", hook_event_name: "SessionEnd", reason: "exit" },
  },
  cursor: {
    command: "Shell",
    before: (tool_name, tool_input, tool_use_id) => ({ conversation_id: "s", generation_id: "g", hook_event_name: "preToolUse", workspace_roots: ["$"], cwd: "$", tool_name, tool_input, tool_use_id }),
    after: (tool_name, tool_input, tool_output, tool_use_id) => ({ conversation_id: "s", hook_event_name: "postToolUse", workspace_roots: ["$"], tool_name, tool_input, tool_output, tool_use_id }),
    end: { conversation_id: "s", session_id: "s", hook_event_name: "sessionEnd", reason: "completed" },
  },
  vscode: {
    command: "run_in_terminal",
    before: (tool_name, tool_input, tool_use_id) => ({ sessionId: "s", cwd: "$", hookEventName: "PreToolUse", tool_name, tool_input, tool_use_id }),
    after: (tool_name, tool_input, tool_response, tool_use_id) => ({ sessionId: "s", cwd: "$", hookEventName: "PostToolUse", tool_name, tool_input, tool_response, tool_use_id }),
    end: { sessionId: "s", cwd: "$", hookEventName: "SessionEnd" },
  },
  copilot: {
    command: "bash",
    event: ["preToolUse", "postToolUse", "sessionEnd"],
    before: (toolName, toolArgs) => ({ sessionId: "s", timestamp: 1, cwd: "$", toolName, toolArgs: JSON.stringify(toolArgs) }),
    after: (toolName, toolArgs, text) => ({ sessionId: "s", timestamp: 1, cwd: "$", toolName, toolArgs: JSON.stringify(toolArgs), toolResult: { resultType: "success", textResultForLlm: text } }),
    end: { sessionId: "s", timestamp: 1, cwd: "$", reason: "complete" },
  },
  opencode: {
    command: "bash",
    before: (tool, args, callID) => ({ event: "before", sessionID: "s", callID, cwd: "$", tool, args }),
    after: (tool, args, output, callID) => ({ event: "after", sessionID: "s", callID, cwd: "$", tool, args, output: { output } }),
    end: { event: "end", sessionID: "s" },
  },
} // prettier-ignore

/** Each agent's form of yes, no and another input. */
const says: Record<HookClientName, { yes: unknown; no: unknown; edit?: (input: object) => object }> = {
  claude: decision("permissionDecision", "updatedInput"),
  codex: { ...decision("permissionDecision", "updatedInput"), yes: undefined },
  qwen: decision("permissionDecision"),
  vscode: decision("permissionDecision"),
  gemini: {
    yes: { decision: "allow" },
    no: { decision: "deny", reason: text("NOT EXECUTED") },
    edit: (tool_input) => ({ hookSpecificOutput: { tool_input } }),
  },
  cursor: {
    yes: { permission: "allow" },
    no: { permission: "deny", agent_message: text("NOT EXECUTED") },
  },
  copilot: {
    yes: { permissionDecision: "allow" },
    no: { permissionDecision: "deny", permissionDecisionReason: text("NOT EXECUTED") },
  },
  opencode: {
    yes: { decision: "allow" },
    no: { decision: "deny", reason: text("NOT EXECUTED") },
    edit: (args) => ({ args }),
  },
}

function text(part: string): unknown {
  return expect.stringContaining(part)
}

function decision(name: string, edited?: string) {
  const specific = (output: object) => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...output } })
  return {
    yes: specific({ [name]: "allow" }),
    no: specific({ [name]: "deny", [`${name}Reason`]: text("NOT EXECUTED") }),
    ...(edited && { edit: (input: object) => specific({ [name]: "allow", [edited]: input }) }),
  }
}

const clients = Object.keys(shapes) as HookClientName[]

test.each(clients)("%s: what may run runs and is closed, what may not is refused with the reason", async (client) => {
  const { answer, ended, app, files } = await open()
  const { before, after, command, event: [pre, post] = [], end } = shapes[client]
  const send = (payload: object, event?: string) =>
    answer(client, files(JSON.stringify(payload)), event === undefined ? {} : { event })
  expect(await send(before(command, { command: "cat a.txt" }, "1"), pre)).toEqual(says[client].yes)
  expect(await send(after(command, { command: "cat a.txt" }, "hello", "1"), post)).toBeUndefined()
  expect(await send(before(command, { command: "rm a.txt" }, "2"), pre)).toMatchObject(says[client].no as object)
  expect(await send(before(command, { command: "make" }, "3"), pre)).toMatchObject(says[client].no as object)
  expect(await ended()).toEqual([
    ["dev", "run_command", "permission_denied"],
    ["dev", "run_command", ""],
  ])
  const [item] = await app.approvals.list()
  await app.approvals.answer(
    item!.callId,
    { kind: "edit", input: { ...(item!.input as object), command: "cat b" } },
    "ann",
  )
  await send(before(command, { command: "make" }, "4"), pre)
  await app.approvals.answer(item!.callId, { kind: "approve", note: "Read b." }, "ann")
  const edited = await send(before(command, { command: "make" }, "5"), pre)
  if (says[client].edit === undefined) {
    // It would run its own input: it is told to make the call with the other one.
    expect(edited).toMatchObject(says[client].no as object)
    expect(JSON.stringify(edited)).toMatch(/cannot be given that.*Make the call with that input/)
    return expect((await ended())[0]).toEqual(["dev", "run_command", "tool_failed"])
  }
  expect(edited).toMatchObject(says[client].edit({ command: "cat b" }))
  expect(await send(end, shapes[client].event?.[2])).toBeUndefined()
  expect((await ended())[0]).toEqual(["dev", "run_command", "unknown_outcome"])
})

test.each(clients)("%s: what cannot be read is refused and recorded", async (client) => {
  const { answer, ended, files } = await open()
  const { before, event: [pre] = [] } = shapes[client]
  const { tool_name: _name, toolName: _tool, tool: _own, ...nameless } = before("x", {}) as Record<string, unknown>
  const broken = ["garbage", "[]", "null", "", files(JSON.stringify(nameless))]
  for (const each of broken) {
    const reply = await answer(client, each, pre === undefined ? {} : { event: pre })
    expect(JSON.stringify(reply)).toMatch(/"deny".*cannot be read/)
  }
  expect(await ended()).toEqual(broken.map(() => ["dev", `${client}:unreadable`, "unknown_tool"]))
})

test("an unknown tool and fields of a newer version wait for a person, and nothing is let through", async () => {
  const { answer, app, files } = await open({ rules: [{ allow: "*", because: "All." }] })
  const { before } = shapes.claude
  const payload = { ...before("Read", { file_path: "$/a.txt", asRoot: true }, "1"), schema_version: 9 }
  expect(await answer("claude", files(JSON.stringify(payload)))).toMatchObject(says.claude.no as object)
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({ tool: "read_file", input: { otherFields: { asRoot: true } } })
})

test("a hook that is called twice for one call answers the same, and one call is recorded", async () => {
  const { answer, app, files } = await open()
  const { before, after } = shapes.claude
  const send = (input: object) => answer("claude", files(JSON.stringify(before("Bash", input, "1"))))
  expect(await send({ command: "cat a.txt" })).toEqual(says.claude.yes)
  expect(await send({ command: "cat a.txt" })).toEqual(says.claude.yes)
  expect(await send({ command: "cat .env" })).toMatchObject(says.claude.no as object)
  expect(await app.elsewhere.list({ sessionId: "claude:s" })).toHaveLength(1)
  await answer("claude", after("Bash", {}, { stdout: "" }, "1"))
  expect(await answer("claude", after("Bash", {}, { stdout: "" }, "1"))).toBeUndefined()
})

test("parallel calls of two agents in one project are told apart", async () => {
  const { answer, app, files, ended } = await open()
  const ask = (client: HookClientName, id: string) => {
    const { before, command } = shapes[client]
    return answer(client, files(JSON.stringify(before(command, { command: "cat a.txt" }, id))))
  }
  await Promise.all([ask("claude", "1"), ask("claude", "2"), ask("gemini", ""), ask("gemini", "")])
  expect(await app.elsewhere.list({ sessionId: "claude:s" })).toHaveLength(2)
  expect(await app.elsewhere.list({ sessionId: "gemini:s" })).toHaveLength(2)
  await answer("gemini", files(JSON.stringify(shapes.gemini.after("run_shell_command", { command: "cat a.txt" }, {}))))
  expect(await app.elsewhere.list({ sessionId: "gemini:s" })).toHaveLength(1)
  expect(await app.elsewhere.list({ sessionId: "claude:s" })).toHaveLength(2)
  expect(await ended()).toHaveLength(1)
})

test("calls of our own MCP server are decided on when they reach it", async () => {
  const { answer, ended } = await open()
  const call = shapes.claude.before("mcp__quartermaster__run_command", { command: "rm -r /" }, "1")
  expect(await answer("claude", call)).toBeUndefined()
  const ours = shapes.opencode.before("quartermaster_run_command", { command: "rm -r /" }, "2")
  expect(await answer("opencode", ours)).toBeUndefined()
  const theirs = shapes.opencode.before("quartermaster_frobnicate", {}, "3")
  expect(await answer("opencode", theirs)).toMatchObject(says.opencode.no as object)
  expect(await answer("claude", call, { serverName: "qm" })).toMatchObject(says.claude.no as object)
  expect(await ended()).toEqual([])
})

test("a sub-agent is an agent below the session's, and has no more than it", async () => {
  const { answer, app, ended, files } = await open()
  const call = { ...shapes.claude.before("Bash", { command: "rm x" }, "1"), agent_id: "a1", agent_type: "Explore" }
  expect(await answer("claude", files(JSON.stringify(call)))).toMatchObject(says.claude.no as object)
  expect(app.org.findAgent("dev-explore")).toMatchObject({ parentId: "dev", status: "active" })
  expect(await ended()).toEqual([["dev-explore", "run_command", "permission_denied"]])
})

test.each([
  [
    "claude",
    "Bash",
    { stdout: "secret", stderr: "", interrupted: false },
    {
      hookSpecificOutput: {
        hookEventName: "PostToolUse",
        updatedToolOutput: { stdout: text("held back"), stderr: "", interrupted: false },
      },
    },
  ],
  [
    "claude",
    "Read",
    { type: "text", file: { filePath: "a", content: "secret" } },
    {
      hookSpecificOutput: { updatedToolOutput: { type: "text", file: { filePath: "a", content: text("held back") } } },
    },
  ],
  ["codex", "Bash", "secret", { decision: "block", reason: text("held back") }],
  ["gemini", "run_shell_command", { llmContent: "secret" }, { decision: "deny", reason: text("held back") }],
  ["copilot", "bash", "secret", { modifiedResult: { resultType: "success", textResultForLlm: text("held back") } }],
  ["opencode", "bash", "secret", { output: text("held back") }],
] as [HookClientName, string, unknown, object][])(
  "%s: the model does not see a result of %s that a person must release",
  async (client, tool, output, reply) => {
    const { answer, files } = await open({ rules: [{ ask: "*", release: "always", because: "Secret." }, readsFreely] })
    const { before, after, event: [pre, post] = [] } = shapes[client]
    const input = tool === "Read" ? { file_path: "$/a.txt" } : { command: "cat a.txt" }
    await answer(client, files(JSON.stringify(before(tool, input, "1"))), pre === undefined ? {} : { event: pre })
    const answered = await answer(
      client,
      files(JSON.stringify(after(tool, input, output, "1"))),
      post === undefined ? {} : { event: post },
    )
    expect(answered).toMatchObject(reply)
    expect(JSON.stringify(answered)).not.toContain("secret")
  },
)

test.each([
  ["default", true, "ask"],
  ["acceptEdits", true, "ask"],
  ["bypassPermissions", true, "deny"],
  ["dontAsk", true, "deny"],
  [undefined, true, "deny"],
  ["default", false, "deny"],
] as const)(
  "Claude's own dialog is left the question in mode %s with askInClient %s: %s",
  async (permission_mode, askInClient, verdict) => {
    const { answer } = await open()
    const call = { ...shapes.claude.before("Bash", { command: "make" }, "1"), cwd: undefined, permission_mode }
    expect(await answer("claude", call, { askInClient })).toMatchObject({
      hookSpecificOutput: { permissionDecision: verdict },
    })
  },
)

test("no other agent is ever answered with a question, because some of them then run the call", async () => {
  for (const client of clients.filter((each) => each !== "claude")) {
    const { answer, files } = await open()
    const { before, command, event: [pre] = [] } = shapes[client]
    const call = { ...before(command, { command: "make" }, "1"), permission_mode: "default" }
    const reply = await answer(client, files(JSON.stringify(call)), { askInClient: true, ...(pre && { event: pre }) })
    expect(reply, client).toMatchObject(says[client].no as object)
  }
})

/** The fields that Codex publishes for the output of its hooks; it refuses others (codex-rs/hooks/schema/generated). */
const codexFields = {
  PreToolUse: [["continue", "decision", "hookSpecificOutput", "reason", "stopReason", "suppressOutput", "systemMessage"], ["additionalContext", "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput"]],
  PostToolUse: [["continue", "decision", "hookSpecificOutput", "reason", "stopReason", "suppressOutput", "systemMessage"], ["additionalContext", "hookEventName", "updatedMCPToolOutput", "updatedToolOutput"]],
} // prettier-ignore

test("Codex gets only fields that its published schemas have", async () => {
  const { answer, files } = await open({ rules: [{ ask: "*", release: "always", because: "Secret." }, readsFreely] })
  const { before, after } = shapes.codex
  const check = (reply: object | undefined, [outer, inner]: string[][]) => {
    const specific = (reply as { hookSpecificOutput?: object } | undefined)?.hookSpecificOutput ?? {}
    expect(outer).toEqual(expect.arrayContaining(Object.keys(reply ?? {})))
    expect(inner).toEqual(expect.arrayContaining(Object.keys(specific)))
  }
  check(
    await answer("codex", files(JSON.stringify(before("Bash", { command: "cat a.txt" }, "1")))),
    codexFields.PreToolUse,
  )
  check(await answer("codex", files(JSON.stringify(before("Bash", { command: "make" }, "2")))), codexFields.PreToolUse)
  check(await answer("codex", after("Bash", {}, "secret", "1")), codexFields.PostToolUse)
})
