import { writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { ToolContext } from "../../core/tool.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { ToolGroupManager } from "../groups.ts"
import { ToolRegistry } from "../registry.ts"
import type { Import } from "./import-file.ts"
import { PluginManager } from "./manager.ts"
import { pluginAtFault } from "../../lib/plugin-code.ts"

/** Vitest puts its own import in the place of the runtime's, and that one knows no plugins. */
const nativeImport = createRequire(import.meta.url)("./testing/native-import.cjs") as Import

function newManager() {
  const base = temporaryFolder()
  const registry = new ToolRegistry({ groups: new ToolGroupManager() })
  const manager = new PluginManager(registry, { base, import: nativeImport })
  onTestFinished(() => manager.close())
  return { base, registry, manager }
}

const later: Record<string, (run: () => void) => void> = {
  "a timer": (run) => void setTimeout(run, 1),
  "a promise that nobody awaits": (run) => void new Promise((resolve) => setImmediate(resolve)).then(run),
  "the next tick": (run) => process.nextTick(run),
}

test.each(Object.entries(later))("an error in %s of a call is that of its plugin and tool", async (_, start) => {
  const { manager, registry } = newManager()
  const blamed = new Promise((resolve) => {
    const execute = async () => {
      await Promise.resolve()
      start(() => resolve(pluginAtFault(new Error("late"))))
      return { success: true, data: 1 }
    }
    const tool = { name: "later", description: "Throws later.", effect: "none", parameters: [], execute }
    void manager
      .loadPlugin({ name: "late", version: "1.0.0", tools: [tool] })
      .then(() => registry.require("later").execute({}, {} as ToolContext))
  })
  expect(await blamed).toEqual({ plugin: "late", tool: "later" })
  expect(pluginAtFault(new Error("not a plugin's"))).toBeUndefined()
})

test("so is an error in what a stream, init and shutdown started", async () => {
  const { manager, registry } = newManager()
  const blamed: unknown[] = []
  const waits: Promise<void>[] = []
  const throwLater = () => {
    waits.push(
      new Promise((resolve) => {
        setImmediate(() => {
          blamed.push(pluginAtFault(new Error("late")))
          resolve()
        })
      }),
    )
  }
  const tool = {
    name: "counting",
    description: "Streams.",
    effect: "none",
    input: { type: "object" },
    async *execute() {
      yield 1
      throwLater()
      yield 2
      return 3
    },
  }
  const plugin = { name: "late", version: "1.0.0", tools: [tool], init: throwLater, shutdown: throwLater }
  await manager.loadPlugin(plugin)
  const stream = registry.require("counting").execute({}, {} as ToolContext) as AsyncGenerator<unknown, unknown>
  const chunks: unknown[] = []
  for (let step = await stream.next(); ; step = await stream.next()) {
    chunks.push(step.value)
    if (step.done === true) break
  }
  await manager.unloadPlugin("late")
  await Promise.all(waits)
  expect(chunks).toEqual([1, 2, 3])
  expect(blamed).toEqual([{ plugin: "late" }, { plugin: "late", tool: "counting" }, { plugin: "late" }])
})

test("an error without a context is known by the plugin's file in its stack, not by the path in its message", async () => {
  const { base, registry, manager } = newManager()
  writeFileSync(
    join(base, "late.mjs"),
    `export default { name: "late", version: "1.0.0", tools: [{ name: "make", description: "Makes an error.",
       effect: "none", parameters: [], async execute() { return { success: true, data: new Error("late") } } }] }`,
  )
  await manager.loadPlugin("late.mjs")
  const made = await registry.require("make").execute({}, {} as ToolContext)
  expect(pluginAtFault(made)).toEqual({ plugin: "late" })
  expect(pluginAtFault(new Error(`Cannot read ${join(base, "late.mjs")}`))).toBeUndefined()
  expect(pluginAtFault("no error")).toBeUndefined()
})
