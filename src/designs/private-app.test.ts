import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { callbackAdapter } from "../approvals/ask/callback.ts"
import { openTestApp, dataFolder, temporaryFolder, tool } from "../testing/test-app.ts"
import { callStandalone, FencedApps } from "./fenced-apps.ts"
import { PrivateApp, type PrivateAppSettings, type PrivateTool } from "./private-app.ts"
import { workingFolder } from "./testing.ts"

const s4 = { design: "s4", language: "en" } as const

async function openPrivate(settings: Partial<PrivateAppSettings> = {}): Promise<PrivateApp> {
  const app = new PrivateApp({ ...s4, config: { data: { dir: await dataFolder() } }, ...settings })
  onTestFinished(() => app.close())
  return app
}

test("a standalone call is a call like any other: it is decided on, and recorded in the working folder", async () => {
  const folder = await workingFolder()
  writeFileSync(join(folder, "a.txt"), "hello")
  expect(await callStandalone(s4, "read_file", { path: "a.txt" }, { taskId: "t1" })).toMatchObject({
    result: { content: "hello" },
  })
  const { audit } = await openTestApp({ data: { dir: join(folder, ".quartermaster") } })
  expect(await audit.list()).toMatchObject([{ tool: "read_file", agentId: "s4", status: "success" }])
})

test("a call that would ask is refused, unless the context brings somebody to ask", async () => {
  await workingFolder()
  const write = (context = {}) => callStandalone(s4, "write_file", { path: "a.txt", content: "x" }, context)
  expect(await write()).toMatchObject({
    code: "approval_rejected",
    error: expect.stringContaining("Pass 'approve'") as string,
  })
  expect(await write({ approve: () => false })).toMatchObject({ code: "approval_rejected" })
  expect(await write({ approve: () => true })).toMatchObject({ success: true })
  expect(await write({ approvals: callbackAdapter({ onExecution: () => true }) })).toMatchObject({ success: true })
})

test("a question is answered by the context, and fails without it", async () => {
  await workingFolder()
  const ask = (context = {}) => callStandalone(s4, "ask_user", { question: "Which?" }, context)
  expect(await ask({ ask: () => Promise.resolve("this") })).toMatchObject({ result: { answer: "this" } })
  expect(await ask()).toMatchObject({ error: expect.stringContaining("Failed to get user input") as string })
})

test("the fence is the working folder, or exactly the allowed paths", async () => {
  const folder = await workingFolder()
  const other = temporaryFolder()
  for (const place of [folder, other]) writeFileSync(join(place, "a.txt"), place)
  const read = async (path: string, allowedPaths?: string[]) => {
    const { result, code } = await callStandalone(s4, "read_file", { path }, { allowedPaths })
    return code ?? (result as { content: string }).content
  }
  expect(await read(join(folder, "a.txt"))).toBe(folder)
  expect(await read(join(other, "a.txt"))).toBe("path_outside_workspace")
  expect(await read(join(other, "a.txt"), [other])).toBe(other)
  expect(await read(join(folder, "a.txt"), [other])).toBe("path_outside_workspace")
})

test("more fences than may be open at once all answer", async () => {
  const folder = await workingFolder()
  const apps = new FencedApps(s4)
  onTestFinished(() => apps.close())
  writeFileSync(join(folder, "a.txt"), "x")
  for (let place = 0; place < 12; place++) {
    const allowedPaths = [folder, join(folder, String(place))]
    expect((await apps.call("read_file", { path: "a.txt" }, { allowedPaths })).success).toBe(true)
  }
})

test("the tools are exactly those that are listed, also under names that mean other tools elsewhere", async () => {
  const listed: PrivateTool[] = ["current_time", { tool: tool({ name: "Read", execute: () => "mine" }) }]
  const app = await openPrivate({ tools: () => listed })
  const ended = async (name: string, input = {}) => {
    const { code, success } = await app.call(name, input)
    return code ?? success
  }
  expect(await ended("current_time")).toBe(true)
  expect(await app.call("Read", {})).toMatchObject({ result: "mine" })
  expect(await ended("sleep", { duration: 0 })).toBe("unknown_tool")
  listed.push("sleep")
  listed[1] = { tool: tool({ name: "Read", execute: () => "another" }) }
  // A tool that was removed may come back.
  expect(await ended("sleep", { duration: 0 })).toBe(true)
  expect(await app.call("Read", {})).toMatchObject({ result: "another" })
  listed.length = 1
  expect(await ended("Read")).toBe("unknown_tool")
})

test("a dialect's name for a listed tool is known, its native name is not", async () => {
  const app = await openPrivate({ dialect: "classic", tools: () => ["file_list"] })
  expect(await app.call("file_list", {})).toMatchObject({ success: true })
  expect(await app.call("list_files", { path: "." })).toMatchObject({ code: "unknown_tool" })
})

test("it speaks the design's language, whatever the configuration says", async () => {
  const dir = await dataFolder()
  const app = await openPrivate({ language: "zh", dialect: "classic", config: { language: "en", data: { dir } } })
  const { registry, org } = await app.open()
  const shown = registry.inDialectOf(org.view("s4"), registry.require("read_file"))
  expect(shown.description).toBe("读取文件内容")
})

test("listeners hear the calls of an app that is opened later, and after it was opened again", async () => {
  const app = await openPrivate({ tools: () => [{ tool: tool({ execute: () => 1 }) }] })
  const heard: string[] = []
  app.on("TOOL_CALL_COMPLETED", ({ toolName }) => heard.push(toolName))
  await app.call("probe", {})
  await app.close()
  await app.call("probe", {})
  expect(heard).toEqual(["probe", "probe"])
})

test("an app that could not be opened is tried again by the next call", async () => {
  const config = { data: { dir: join(temporaryFolder(), "file") } }
  writeFileSync(config.data.dir, "")
  const app = new PrivateApp({ ...s4, config })
  await expect(app.call("current_time", {})).rejects.toThrow()
  config.data.dir = await dataFolder()
  onTestFinished(() => app.close())
  expect(await app.call("current_time", {})).toMatchObject({ success: true })
})
