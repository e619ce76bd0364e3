import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Config } from "../../config/schema.ts"
import { modelText } from "../../core/model-text.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { classicDialect } from "./classic.ts"
import { claudeDialect } from "./claude.ts"

const dialects = { claude: claudeDialect(), classic: classicDialect() }
type Dialect = keyof typeof dialects

/** Tools that agents of a dialect know by another name only. */
const foreignTo = (dialect: Dialect) => dialects[dialect].flatMap(({ tool, name }) => (tool === name ? [] : [tool]))

function foreignIn(text: string, dialect: Dialect): string[] {
  return foreignTo(dialect).filter((name) => new RegExp(`\\b${name}\\b`).test(text))
}

const described = /(?:description:|describe\()\s*(?:"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g

/** Sentences of ours that models read; descriptions of parameters are shown beside the names that they use. */
function sentencesThatNameTools(): string[] {
  const src = join(import.meta.dirname, "../..")
  const names = new RegExp(`\\b(?:${[...new Set([...foreignTo("claude"), ...foreignTo("classic")])].join("|")})\\b`)
  return ["call", "tools", "platform"].flatMap((part) =>
    readdirSync(join(src, part), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts") && !/test|contract/.test(path))
      .map((path) => readFileSync(join(src, part, path), "utf8").replaceAll(described, ""))
      .flatMap((text) => text.split("\n").filter((line) => !/^\s*(?:\/\/|\*|\/\*\*)/.test(line)))
      .flatMap((line) => line.match(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [])
      .map((literal) => literal.slice(1, -1).replaceAll(/\$\{toolRef\([^)]*\)\}|\$\{ifParameter\([^)]*\)\}/g, ""))
      .filter((text) => text.includes(" ") && names.test(text)),
  )
}

test("no sentence for models has a tool's name in its text: it is put in by name()", () => {
  expect(sentencesThatNameTools()).toEqual([])
})

const png = Buffer.from("89504e470d0a1a0a", "hex")

/** An app with one agent per dialect, and a workspace with something that fails for each tool. */
async function openApp(config: Config = {}) {
  const workspace = temporaryFolder()
  writeFileSync(join(workspace, "broken.ipynb"), "{")
  writeFileSync(join(workspace, "there.txt"), "text")
  writeFileSync(join(workspace, "gbk.txt"), Buffer.from("c4e3bac3cac0bde7c4e3bac3cac0bde7c4e3bac3", "hex"))
  writeFileSync(join(workspace, "image.bin"), Buffer.concat([png, Buffer.alloc(100)]))
  writeFileSync(join(workspace, "large.txt"), "line\n".repeat(500))
  const roles = ["claude", "classic"].map((name) => ({ name, dialect: name as Dialect }))
  const org = { roles, agents: roles.map(({ name }) => ({ id: name, role: name })) }
  const system = await openTestApp({ workspace, org, ...config }, { sweepMs: 0 })
  return { system, workspace }
}

const free: Config = { rules: [{ allow: "*", because: "It is a test." }], tools: { maxFileSize: 2000 } }

const edit = { oldText: "你好世界你好世界你好", newText: "🦆" }
const claudeEdit = { old_string: edit.oldText, new_string: edit.newText }

/** A caller, its call, and the sentence that the model reads about it. */
type Case = [dialect: Dialect, name: string, input: object, told: RegExp]

/** The reason given by the person who wrote a rule. */
const because = "Use edit_file, or ask_user; see 'docs/read_file'."

async function tell(system: Quartermaster, cases: readonly Case[]): Promise<void> {
  for (const [dialect, name, input, told] of cases) {
    const text = modelText(await system.call({ agentId: dialect, tool: name, input }))
    const of = `${dialect} ${name}`
    expect(text, of).toMatch(told)
    expect(foreignIn(text.replaceAll(because, ""), dialect), of).toEqual([])
    expect(text, of).not.toMatch(/oldText|newText|timeoutMs|maxResults|allowedDomains|\btail\b/)
  }
}

test("that a rule denies or hides a tool is told in the agent's names, and what the rule says as it is written", async () => {
  const { system } = await openApp({
    rules: [
      { deny: "write_file", args: { "/path": "a" }, because },
      { deny: "run_command", because: "Nobody runs anything." },
      { deny: "read_notebook", because },
    ],
  })
  await tell(system, [
    ["claude", "Write", { file_path: "a", content: "" }, /^NOT EXECUTED\. A rule .* Use edit_file, or ask_user/],
    ["classic", "file_write", { path: "a", content: "" }, /^NOT EXECUTED\. A rule .* Use edit_file, or ask_user/],
    ["claude", "Bash", { command: "ls" }, /Tool Bash is not available/],
    ["classic", "shell_exec", { command: "ls" }, /Tool shell_exec is not available/],
    ["claude", "NotebookRead", { file_path: "x.ipynb" }, /Tool NotebookRead is .* Use edit_file, or ask_user/],
    ["claude", "Reed", {}, /Did you mean "Read"\?/],
    ["claude", "Wrote", {}, /Did you mean "Write"\?/],
    ["classic", "file_raed", {}, /Did you mean "file_read"\?/],
    ["claude", "Bahs", {}, /Tool "Bahs" not found\. List the tools/],
  ])
  const request = { agentId: "claude", tool: "Write", input: { file_path: "a", content: "" } }
  const { callId } = await system.call(request)
  await system.settle()
  const [entry] = await system.audit.show(callId)
  expect(entry).toMatchObject({ tool: "write_file", error: expect.stringContaining("Use edit_file, or ask_user") })
}) // prettier-ignore

test("that nobody agreed is told in the agent's words", async () => {
  const { system } = await openApp({ approvals: { unattended: "reject" } })
  await tell(system, [
    ["claude", "Bash", { command: "make" }, /the call of Bash:/],
    ["classic", "shell_exec", { command: "make" }, /the call of shell_exec:/],
    ["claude", "Write", { file_path: "a", content: "" }, /the call of Write:/],
  ])
})

test("what a guard found is told in the agent's words, and what it quotes is not", async () => {
  const { system } = await openApp({ tools: { shell: { mode: "allowlist", deny: ["cat"] } } })
  const command = "cat read_file list_files"
  await tell(system, [
    ["claude", "Bash", { command: "make" }, /^NOT EXECUTED\. (?!.*was not executed)/],
    ["classic", "shell_exec", { command: "make" }, /^NOT EXECUTED\. (?!.*was not executed)/],
    ["claude", "Read", { file_path: "/etc/passwd" }, /^NOT EXECUTED\. (?!.*was not executed)/],
    ["claude", "Write", { file_path: ".git/config", content: "" }, /^NOT EXECUTED\. (?!.*was not executed)/],
  ])
  for (const [agentId, name] of [["claude", "Bash"], ["classic", "shell_exec"]] as const) {
    const { error } = await system.call({ agentId, tool: name, input: { command } })
    expect(error).toMatch(new RegExp(`^${name} was not executed: .*'${command}'`))
  }
}) // prettier-ignore

test("what tools say, with another name and without one, is told in the agent's words", async () => {
  const { system } = await openApp(free)
  await tell(system, [
    ["claude", "Read", { file_path: "zzzz.q" }, /Call LS or Glob to see/],
    ["claude", "Read", { file_path: "broken.ipynb" }, /It is shown as text\. broken\.ipynb is not a notebook: /],
    ["classic", "read_notebook", { path: "broken.ipynb" }, /Read it with file_read to see what is wrong\./],
    ["classic", "edit_file", { path: "gbk.txt", ...edit }, /does not exist in gbk\. Leave it out\.$/],
    ["claude", "Edit", { file_path: "gbk.txt", ...claudeEdit }, /does not exist in gbk\. Leave it out\.$/],
    ["claude", "Edit", { file_path: "there.txt", old_string: "", new_string: "x" }, /empty old_string only creates new files\. .* or use Write\.$/],
    ["claude", "Read", { file_path: "large.txt" }, /Use Grep, or read a part of it with offset and limit\.$/],
    ["classic", "file_read", { path: "large.txt" }, /Use search_files\.$/],
    ["claude", "Read", { file_path: "image.bin", encoding: "base64", limit: 1 }, /leave offset and limit out\. Correct the input of Read\.$/],
    ["claude", "WebSearch", { query: "x", max_results: 50, allowed_domains: ["a b"] }, /'max_results' .*'allowed_domains\[0\]' is no domain/],
    ["claude", "WebSearch", { query: "x", allowed_domains: ["a.b"], blocked_domains: ["c.d"] }, /'blocked_domains' cannot stand together with allowed_domains/],
    ["claude", "TodoWrite", { todos: [{ content: " ", status: "pending" }] }, /'todos\[0\]\.content'/],
    ["claude", "KillBash", { shell_id: "command-7" }, /There is no command 'command-7' here/],
  ])
}) // prettier-ignore

test("an unknown parameter is told as it was written", async () => {
  const { system } = await openApp(free)
  const input = { file_path: "there.txt", oldText: "a", new_string: "b" }
  const { error } = await system.call({ agentId: "claude", tool: "Edit", input })
  expect(error).toContain("Unknown parameter 'oldText'. It takes: file_path, old_string")
})

test("in plan mode the tool that must wait has the name it was called by", async () => {
  const { system } = await openApp(free)
  await system.setMode({ agentId: "claude", mode: "plan", by: "ann" })
  const call = { agentId: "claude", tool: "Write", input: { file_path: "a", content: "" }, sessionId: "s" }
  expect((await system.call(call)).error).toContain("Write was not executed: The agent is in plan mode")
})

test("what somebody else's tool says is in its own words", async () => {
  const { system } = await openApp(free)
  const theirs = tool({ name: "theirs", execute: () => ({ notice: "Call read_file next." }) })
  const failing = tool({ name: "failing", execute: () => Promise.reject(new Error("read_file is not known here.")) })
  for (const each of [theirs, failing]) system.registry.register(each)
  const call = (name: string) => system.call({ agentId: "claude", tool: name, input: {} })
  expect((await call("theirs")).result).toEqual({ notice: "Call read_file next." })
  expect((await call("failing")).error).toContain("read_file is not known here.")
})

test("a failure that people held, and one that is told again, is in the agent's names; people read ours", async () => {
  const { system } = await openApp({ rules: [{ ask: "read_file", release: "on-error", because: "It is a test." }] })
  const read = { agentId: "claude", tool: "Read", input: { file_path: "zzzz.q" } }
  const { callId } = await system.call(read, { waitMs: 0 })
  const [item] = await system.approvals.list()
  expect(item?.result).toMatchObject({ error: expect.stringContaining("Call list_files or find_files") })
  expect(item?.result).not.toHaveProperty("said")
  await system.approvals.answer(callId, { kind: "release" }, "ann")
  for (const told of [await system.resume(callId), await system.resume(callId)]) {
    expect(told).toMatchObject({ error: expect.stringContaining("Call LS or Glob") })
    expect(told).not.toHaveProperty("said")
  }
  await system.settle()
  const entries = await system.audit.show(callId)
  expect(JSON.stringify(entries)).toContain("Call list_files or find_files")
  expect(JSON.stringify(entries)).not.toContain("LS or Glob")
})

test("a tool that was called by its own name speaks in own names, also to an agent that knows it by another", async () => {
  const { system } = await openApp(free)
  const call = (input: object) => system.call({ agentId: "claude", tool: "read_file", input })
  const hint = expect.stringContaining("Call list_files or find_files")
  expect((await call({ path: "zzzz.q" })).error).toEqual(hint)
  expect((await call({ paths: ["zzzz.q"] })).result).toMatchObject({ files: [{ error: hint }] })
})

test("what a tool called is told in the tools' own words", async () => {
  const { system } = await openApp(free)
  let heard = ""
  const outer = tool({
    name: "outer",
    kind: "composite",
    async execute(_input: never, context) {
      heard = (await context.call("read_file", { path: "zzzz.q" })).error ?? ""
      return heard
    },
  })
  system.registry.register(outer)
  await system.call({ agentId: "claude", tool: "outer", input: {} })
  expect(heard).toContain("Call list_files or find_files")
})

test.each(["claude", "classic"] as const)("no tool that agents of %s are shown speaks of another by its own name", async (dialect) => {
  const { system } = await openApp()
  for (const shown of system.toolsFor(dialect, { format: "mcp" })) {
    expect(foreignIn(JSON.stringify(shown), dialect), shown.name).toEqual([])
  }
}) // prettier-ignore
