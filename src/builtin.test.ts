import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Config } from "./config/schema.ts"
import { open, temporaryFolder, until } from "./testing/open.ts"

async function house(tools: Config["tools"] = {}, more: { writes?: "direct" } = {}) {
  const workspace = temporaryFolder()
  writeFileSync(join(workspace, "a.md"), "0123456789")
  writeFileSync(join(workspace, "b.txt"), "b")
  const system = await open(
    { workspace, tools, rules: [{ allow: "*", because: "It is a test." }] },
    { sweepMs: 0, ...more },
  )
  const call = (tool: string, input: unknown) => system.call({ agentId: "operator", tool, input })
  return { system, call }
}

test.each<[string, Config["tools"], string, unknown, object]>([
  ["workspace", {}, "read_file", { path: "b.txt" }, { success: true, result: { content: "b" } }],
  ["maxFileSize", { maxFileSize: 5 }, "read_file", { path: "a.md" }, { metadata: { toolCode: "too_large" } }],
  [
    "allowedExtensions",
    { allowedExtensions: ["md"] },
    "read_file",
    { path: "b.txt" },
    { metadata: { toolCode: "extension_denied" } },
  ],
  [
    "protectedPaths",
    { protectedPaths: ["*.md"] },
    "write_file",
    { path: "a.md", content: "" },
    { code: "permission_denied" },
  ],
  ["shell.deny", { shell: { deny: ["ls"] } }, "run_command", { command: "ls" }, { code: "command_denied" }],
  ["shell.mode", { shell: { mode: "allowlist" } }, "run_command", { command: "ls" }, { code: "command_denied" }],
  [
    "hosts.deny",
    { hosts: { deny: ["x.example"] } },
    "http_get",
    { url: "https://x.example/" },
    { code: "host_denied" },
  ],
])("%s of the configuration changes what happens", async (_key, tools, tool, input, ending) => {
  const { call } = await house(tools)
  expect(await call(tool, input)).toMatchObject(ending)
})

test("no tool goes where this house itself is reached, whatever is allowed", async () => {
  const { system, call } = await house({ hosts: { allow: ["127.0.0.1:7999", "127.0.0.1:7420"] } })
  system.listensAt("http://127.0.0.1:7999/")
  for (const port of [7999, 7420]) {
    expect(await call("http_get", { url: `http://127.0.0.1:${port}/mcp` })).toMatchObject({ code: "host_denied" })
  }
})

test("a process that ends after its call starts nothing in the background", async () => {
  const { call } = await house({ shell: { sandbox: "off", allow: ["sleep"] } }, { writes: "direct" })
  const ended = await call("run_command", { command: "sleep 1", background: true })
  expect(ended).toMatchObject({ metadata: { toolCode: "no_background" } })
})

test.each([
  ["that has ended", true],
  ["that goes on", false],
])("what an agent read in a process %s counts in every other one", async (_how, ends) => {
  const workspace = temporaryFolder()
  const dir = temporaryFolder()
  const path = join(workspace, "a.txt")
  writeFileSync(path, "one")
  const rules = [{ allow: "*", because: "It is a test." } as const]
  const opened = () => open({ workspace, rules, data: { dir } }, { sweepMs: 0 })
  const [reading, editing] = [await opened(), await opened()]
  const call = (system: typeof reading, tool: string, input: object) =>
    system.call({ agentId: "operator", tool, input: { path: "a.txt", ...input } })
  const edit = (system: typeof reading, oldText: string, newText: string) =>
    call(system, "edit_file", { oldText, newText })

  expect(await call(reading, "read_file", {})).toMatchObject({ success: true })
  if (ends) await reading.close()
  else await until(() => existsSync(join(dir, "read-marks")), "the mark was written")
  writeFileSync(path, "two, by somebody else")
  expect(await edit(editing, "two", "2")).toMatchObject({ metadata: { toolCode: "file_changed" } })
  expect(await call(editing, "write_file", { content: "2" })).toMatchObject({ metadata: { toolCode: "file_changed" } })
  expect(await call(editing, "read_file", {})).toMatchObject({ success: true })
  expect(await edit(editing, "two", "2")).toMatchObject({ success: true })
  await editing.close()
  if (!ends) expect(await edit(reading, "2", "two")).toMatchObject({ success: true })
})
