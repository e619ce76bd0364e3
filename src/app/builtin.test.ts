import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Config } from "../config/schema.ts"
import type { AppOptions } from "./app-options.ts"
import { openTestApp, temporaryFolder, until } from "../testing/test-app.ts"

async function openApp(tools: Config["tools"] = {}, options: AppOptions = {}) {
  const workspace = temporaryFolder()
  writeFileSync(join(workspace, "a.md"), "0123456789")
  writeFileSync(join(workspace, "b.txt"), "b")
  const app = await openTestApp(
    { workspace, tools, rules: [{ allow: "*", because: "It is a test." }] },
    { sweepMs: 0, ...options },
  )
  const call = (tool: string, input: unknown) => app.call({ agentId: "operator", tool, input })
  return { app, call }
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
])("the configuration key %s takes effect", async (_key, tools, tool, input, result) => {
  const { call } = await openApp(tools)
  expect(await call(tool, input)).toMatchObject(result)
})

test("no tool reads or writes private paths, and none writes read-only paths", async () => {
  const outside = temporaryFolder()
  const paths = { token: join(outside, "own/token.txt"), config: join(outside, "mine.yml"), other: join(outside, "x") }
  mkdirSync(join(outside, "own"))
  for (const path of Object.values(paths)) writeFileSync(path, "content")
  const options: AppOptions = { privatePaths: [join(outside, "own")], readOnlyPaths: [paths.config] }
  const { call } = await openApp({ allowedPaths: [outside] }, options)
  const codes = async (path: string) => {
    const [read, written] = [await call("read_file", { path }), await call("write_file", { path, content: "changed" })]
    return [read.code, written.code]
  }
  expect(await codes(paths.token)).toEqual(["permission_denied", "permission_denied"])
  expect(await codes(paths.config)).toEqual([undefined, "permission_denied"])
  expect(await codes(paths.other)).toEqual([undefined, undefined])
})

test("no tool connects to Quartermaster's own addresses, even when they are allowed", async () => {
  const { app, call } = await openApp({ hosts: { allow: ["127.0.0.1:7999", "127.0.0.1:7420"] } })
  app.addOwnAddress("http://127.0.0.1:7999/")
  for (const port of [7999, 7420]) {
    expect(await call("http_get", { url: `http://127.0.0.1:${port}/mcp` })).toMatchObject({ code: "host_denied" })
  }
})

test("a process that ends after its call starts no background command", async () => {
  const { call } = await openApp({ shell: { sandbox: "off", allow: ["sleep"] } }, { writes: "direct" })
  const ended = await call("run_command", { command: "sleep 1", background: true })
  expect(ended).toMatchObject({ metadata: { toolCode: "no_background" } })
})

test.each([
  ["that has ended", true],
  ["that still runs", false],
])("a file read in a process %s counts as read in every other process", async (_which, ends) => {
  const workspace = temporaryFolder()
  const dir = temporaryFolder()
  const path = join(workspace, "a.txt")
  writeFileSync(path, "one")
  const rules = [{ allow: "*", because: "It is a test." } as const]
  const open = () => openTestApp({ workspace, rules, data: { dir } }, { sweepMs: 0 })
  const [reading, editing] = [await open(), await open()]
  const call = (app: typeof reading, tool: string, input: object) =>
    app.call({ agentId: "operator", tool, input: { path: "a.txt", ...input } })
  const edit = (app: typeof reading, oldText: string, newText: string) => call(app, "edit_file", { oldText, newText })

  expect(await call(reading, "read_file", {})).toMatchObject({ success: true })
  if (ends) await reading.close()
  else await until(() => existsSync(join(dir, "read-marks")), "the read mark is written")
  writeFileSync(path, "two, by somebody else")
  expect(await edit(editing, "two", "2")).toMatchObject({ metadata: { toolCode: "file_changed" } })
  expect(await call(editing, "write_file", { content: "2" })).toMatchObject({ metadata: { toolCode: "file_changed" } })
  expect(await call(editing, "read_file", {})).toMatchObject({ success: true })
  expect(await edit(editing, "two", "2")).toMatchObject({ success: true })
  await editing.close()
  if (!ends) expect(await edit(reading, "2", "two")).toMatchObject({ success: true })
})
