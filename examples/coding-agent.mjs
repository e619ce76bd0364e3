// A governed coding agent: it reads, searches and edits in its folder and runs harmless commands, but nothing else.
// Run it with: node examples/coding-agent.mjs
import assert from "node:assert/strict"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { callbackAdapter, createQuartermaster, modelText } from "quartermaster"

const workspace = mkdtempSync(join(tmpdir(), "quartermaster-example-"))
writeFileSync(join(workspace, "greet.ts"), "export function greet(name: string) {\n  return `Hello ${name}`\n}\n")

/** A person who approves changes to greet.ts and nothing else. */
const asked = []
const approvals = callbackAdapter({
  onExecution: ({ tool, args }) => {
    asked.push(`${tool} ${JSON.stringify(args)}`)
    return tool === "edit_file" && args.path === "greet.ts"
  },
})

const quartermaster = await createQuartermaster(
  {
    data: { dir: join(workspace, ".quartermaster") },
    org: {
      roles: [{ name: "developer", dialect: "claude", toolGroups: ["workspace", "command", "code"] }],
      agents: [{ id: "dev", role: "developer" }],
    },
    tools: { shell: { allow: ["ls", "cat", "wc"], deny: ["rm"] } },
  },
  { workspace, approvals },
)
const call = (tool, input) => quartermaster.call({ agentId: "dev", tool, input })

// The tools have the names that its model is used to.
const names = quartermaster.toolsFor("dev", { format: "anthropic" }).map(({ name }) => name)
assert.ok(["Read", "Edit", "Bash", "Grep", "code_query"].every((name) => names.includes(name)))
assert.ok(!names.includes("web_fetch"))

console.log(modelText(await call("Read", { file_path: "greet.ts", limit: 1 })))
const found = await call("code_query", { query: "greet", type: "function" })
assert.equal(found.result.matches[0].path, "greet.ts")

// A person sees an edit as a diff before it is made.
const edit = { file_path: "greet.ts", old_string: "Hello", new_string: "Good morning" }
assert.equal((await call("Edit", { ...edit, preview: true })).result.changed, false)
assert.equal((await call("Edit", edit)).success, true)
assert.match(readFileSync(join(workspace, "greet.ts"), "utf8"), /Good morning/)

// Commands on the allow list run, denied ones are found inside other commands, and all others ask.
assert.equal((await call("Bash", { command: "cat greet.ts | wc -l" })).result.stdout.trim(), "3")
const denied = await call("Bash", { command: "echo $(rm -rf .)" })
assert.equal(denied.code, "command_denied")
console.log(modelText(denied))
assert.equal((await call("Bash", { command: "node -e 1" })).code, "approval_rejected")

// Nothing outside the workspace can be read, however the path is written.
for (const file_path of ["../../etc/passwd", "/etc/passwd", "~/.ssh/id_rsa"]) {
  assert.ok(["path_outside_workspace", "permission_denied"].includes((await call("Read", { file_path })).code))
}

assert.deepEqual(
  asked.map((line) => line.split(" ")[0]),
  ["edit_file", "run_command"],
)
console.log(
  `A person was asked ${asked.length} times; ${(await quartermaster.audit.verify()).records} audit entries are verified.`,
)
await quartermaster.close()
rmSync(workspace, { recursive: true, force: true })
