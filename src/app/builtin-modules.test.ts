import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { once } from "node:events"
import { createServer, type AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { failure } from "../core/ending.ts"
import type { ModuleRuntime } from "../platform/module-runtime.ts"
import type { ToolContext } from "../core/tool.ts"
import { openTestApp, temporaryFolder } from "../testing/test-app.ts"

const rules = [{ allow: "*", because: "It is a test." }]
const definition = (name: string) => ({
  type: "function",
  function: { name, description: "A tool of a test.", parameters: { type: "object", additionalProperties: true } },
})

/** An app with a module of one tool, which does `work` with the runtime that `init` got. */
async function appWith(
  work: (runtime: ModuleRuntime, context: ToolContext, input: never) => unknown,
  { toolOptions = {}, ...config }: { toolOptions?: object } & Record<string, unknown> = {},
) {
  let runtime: ModuleRuntime | undefined
  const app = await openTestApp({ rules, ...config })
  await app.plugins.manager.loadPlugin({
    name: "probing",
    toolGroupDescription: { en: "Probes", zh: "探针" },
    toolOptions: { probe_runtime: { effect: "none", ...toolOptions } },
    init: (given: ModuleRuntime) => void (runtime = given),
    getToolDefinitions: () => [definition("probe_runtime")],
    executeToolCall: (context: ToolContext, _name: string, input: never) => work(runtime!, context, input),
  })
  const call = (input: unknown = {}) => app.call({ agentId: "operator", tool: "probe_runtime", input })
  return { app, call }
}

test("a module connects only where the host lists allow it", async () => {
  const server = createServer((socket) => socket.end("hello"))
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const connect = async ({ hosts }: ModuleRuntime) => {
    const socket = await hosts.connect({ host: "127.0.0.1", port })
    return String(((await once(socket, "data")) as [Buffer])[0])
  }
  const open = await appWith(connect, { tools: { hosts: { allow: [`127.0.0.1:${port}`] } } })
  expect(await open.call()).toMatchObject({ success: true, result: "hello" })
  const closed = await appWith(connect)
  expect(await closed.call()).toMatchObject({ success: false, metadata: { toolCode: "host_denied" } })
})

test("a module reads and writes files through the same fence as tools", async () => {
  const workspace = temporaryFolder()
  const write = async ({ files }: ModuleRuntime, context: ToolContext, { path }: { path: string }) => {
    await files(context).write(path, Buffer.from("x"))
    return "written"
  }
  const { call } = await appWith(write as never, { workspace })
  expect(await call({ path: "out/a.txt" })).toMatchObject({ result: "written" })
  expect(readFileSync(join(workspace, "out/a.txt"), "utf8")).toBe("x")
  expect(await call({ path: "../b.txt" })).toMatchObject({ metadata: { toolCode: "outside" } })
})

test("a module has a data folder of its own", async () => {
  const { app, call } = await appWith(({ dataFolder }) => dataFolder)
  const { result } = await call()
  expect(result).toBe(join(app.dir, "modules", "probing"))
  writeFileSync(join(result as string, "note"), "")
})

test("what a module masks is in no later record, also not in a sentence", async () => {
  const { app, call } = await appWith((runtime, _context, { text }: { text: string }) => {
    runtime.mask("correct horse")
    if (text === "fail") throw failure("It said: correct horse.")
    return `it said: ${text}`
  })
  await call({ text: "correct horse" })
  await call({ text: "correct horse" })
  await call({ text: "fail" })
  await app.settle()
  const records = JSON.stringify(
    await Promise.all((await app.audit.list({})).map(({ callId }) => app.audit.show(callId))),
  )
  const [first = ""] = records.split("correct horse").slice(1)
  expect(records.split("correct horse")).toHaveLength(2)
  expect(first).not.toContain("It said: correct")
})

test("fields that a tool calls secret for this input are in no record, and where it cannot say, nothing is", async () => {
  const secretFields = async ({ text }: { text: string }) => {
    if (text === "unsure-secret") throw new Error("It cannot say.")
    return text.startsWith("secret") ? ["text"] : []
  }
  const { app, call } = await appWith((_runtime, _context, { text }: { text: string }) => `typed ${text}`, {
    toolOptions: { secretFields },
  })
  for (const text of ["plain-text", "secret-text", "unsure-secret"]) await call({ text, field: "the-field" })
  await app.settle()
  const ids = (await app.audit.list({})).map(({ callId }) => callId)
  const records = JSON.stringify(await Promise.all(ids.map((id) => app.audit.show(id))))
  expect(records).toContain("plain-text")
  expect(records).not.toContain("secret-text")
  expect(records).not.toContain("unsure-secret")
})

test.each([
  ["en", "Chrome browser control tools"],
  ["zh", "Chrome 浏览器控制工具"],
] as const)("the chrome module is there when the configuration names it, described in %s", async (language, text) => {
  const app = await openTestApp({ language, modules: ["chrome"] })
  expect(app.listGroups().find(({ id }) => id === "chrome")).toMatchObject({ description: text, toolCount: 16 })
})

test("the eight groups of the reference architecture are there with the chrome module", async () => {
  const app = await openTestApp({ modules: ["chrome"] })
  const eight = ["org_management", "artifact", "workspace", "command", "network", "context", "console", "chrome"]
  expect(app.listGroups().map(({ id }) => id)).toEqual(expect.arrayContaining(eight))
})

test("without its name nothing of the chrome module is there", async () => {
  const app = await openTestApp()
  expect(app.listGroups().map(({ id }) => id)).not.toContain("chrome")
  const source = readFileSync(join(import.meta.dirname, "builtin-modules.ts"), "utf8")
  expect(source).not.toMatch(/^import .*modules\/chrome/m)
})

test("a built-in module comes before a package of the same name", async () => {
  const workspace = temporaryFolder()
  const folder = join(workspace, "node_modules", "chrome")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "chrome", main: "index.js" }))
  writeFileSync(join(folder, "index.js"), "throw new Error('the package was loaded')")
  const app = await openTestApp({ workspace, modules: { chrome: { maxTabs: 3 } } })
  expect(app.plugins.list()).toMatchObject([{ name: "chrome", state: "loaded" }])
})

test("wrong settings of the chrome module are all named at once", async () => {
  const app = await openTestApp({ modules: { chrome: { maxTabs: "many", headles: true } } })
  const [{ state, problem } = {}] = app.plugins.list()
  expect(state).toBe("failed")
  expect(problem).toMatch(/'maxTabs' must be a whole number; there is no setting 'headles'/)
})
