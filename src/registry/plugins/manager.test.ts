import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createHash } from "node:crypto"
import { createRequire } from "node:module"
import { describe, expect, it, onTestFinished } from "vitest"
import { z } from "zod"
import { silentLogger, type Logger } from "../../core/logger.ts"
import type { LoadingPlugin } from "./plugin.ts"
import type { Tool, ToolContext } from "../../core/tool.ts"
import { deferred, openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"
import { BaseTool } from "../base-tool.ts"
import { ToolGroupManager } from "../groups.ts"
import { ToolRegistry } from "../registry.ts"
import type { Import } from "./import-file.ts"
import { PluginManager, type PluginOptions } from "./manager.ts"

const context = {} as ToolContext

/** Vitest puts its own import in the place of the runtime's, and that one knows no plugins. */
const nativeImport = createRequire(import.meta.url)("./testing/native-import.cjs") as Import

function place(options: PluginOptions = {}) {
  const base = temporaryFolder()
  const registry = new ToolRegistry({ groups: new ToolGroupManager() })
  const lines: string[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (line) => lines.push(line),
    error: (line) => lines.push(line),
    info: (line) => lines.push(line),
  }
  const manager = new PluginManager(registry, { base, logger, import: nativeImport, ...options })
  onTestFinished(() => manager.close())
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), text)
    return join(base, name)
  }
  /** As an editor replaces a file. */
  const replace = (name: string, text: string) => renameSync(write(`${name}.new`, text), join(base, name))
  const run = async (name: string, input: unknown = {}) => registry.require(name).execute(input, context)
  return { base, registry, manager, write, replace, run, lines }
}

/** A whole plugin of S3, as source; `returns` is an expression. */
const plugin = (name: string, returns = "1", tool = `${name}_tool`) => `{
  name: ${JSON.stringify(name)}, version: "1.2.3",
  tools: [{ name: "${tool}", description: "A tool.", effect: "none", parameters: [],
            async execute(args) { return { success: true, data: ${returns} } } }],
}`

const module_ = (name: string, rest = "") => `{
  name: ${JSON.stringify(name)},
  getToolDefinitions() { return [{ type: "function", function: { name: "${name}_do", description: "Does.", parameters: { type: "object", properties: {} } } }] },
  executeToolCall(ctx, toolName, args) { return { did: toolName, role: ctx?.agent?.roleId } },
  ${rest}
}`

describe("a plugin of S3", () => {
  it.each([
    ["a default export", "one.mjs", `export default ${plugin("one")}`],
    [
      "named exports",
      "two.mjs",
      `const it = ${plugin("one")}; export const name = it.name, version = it.version, tools = it.tools`,
    ],
    ["module.exports", "three.cjs", `module.exports = ${plugin("one")}`],
    [
      "exports of CommonJS",
      "four.cjs",
      `const it = ${plugin("one")}; exports.name = it.name; exports.version = it.version; exports.tools = it.tools`,
    ],
    [
      "a default export that TypeScript made CommonJS",
      "five.cjs",
      `Object.defineProperty(exports, "__esModule", { value: true }); exports.default = ${plugin("one")}`,
    ],
  ])("is found in %s", async (_, file, text) => {
    const { manager, registry, write, run } = place()
    const path = write(file, text)
    const state = await manager.loadPlugin(file)
    const sha256 = createHash("sha256").update(text).digest("hex")
    expect(state).toMatchObject({
      name: "one",
      kind: "plugin",
      version: "1.2.3",
      path,
      given: file,
      layer: "system",
      state: "loaded",
      group: "one",
      tools: ["system:one_tool@1.2.3"],
      digest: { sha256, covers: "file", files: 1 },
    })
    expect(manager.list()).toEqual([state])
    expect(manager.get("one")).toEqual(state)
    expect(await run("one_tool")).toBe(1)
    expect(registry.groups.getGroup("one")).toMatchObject({ toolCount: 1, isReserved: false })
    expect(registry.require("one_tool")).toMatchObject({ type: "custom", group: "one" })
  })

  it("is kept by its name, and unloading it takes its tools and its group away", async () => {
    const { manager, registry, write } = place()
    write("one.mjs", `export default ${plugin("one")}`)
    await manager.loadPlugin("one.mjs")
    await expect(manager.loadPlugin("./one.mjs")).rejects.toThrow("There is a plugin 'one' already.")
    expect(await manager.unloadPlugin("one")).toBe(true)
    expect([registry.has("one_tool"), registry.groups.hasGroup("one"), manager.list()]).toEqual([false, false, []])
    expect(await manager.unloadPlugin("one")).toBe(false)
    await manager.loadPlugin("one.mjs")
    expect(registry.has("one_tool")).toBe(true)
  })

  it("may hold tools in the words of every design, and they are all in its group", async () => {
    class Old extends BaseTool {
      readonly name = "old"
      readonly description = "S3."
      readonly parameters = [{ name: "n", type: "number", description: "A number.", required: true }] as const
      async execute({ n }: Record<string, unknown>) {
        return { success: true, data: Number(n) * 2 }
      }
    }
    class Spec {
      name = "spec"
      description = "A definition of ours that is an instance."
      group = "workspace"
      effect = "none"
      input = z.object({ n: z.number() })
      #times = 3
      execute({ n }: { n: number }) {
        return n * this.#times
      }
    }
    const parameters = { type: "object", properties: { n: { type: "number" } } }
    const made = tool({ name: "made", group: "workspace", execute: () => 4 })
    const { manager, registry, run } = place()
    await manager.loadPlugin({
      name: "many",
      version: "2.0.0",
      tools: [
        new Old(),
        new Spec(),
        made,
        { name: "s2", description: "S2.", category: "custom", inputSchema: { n: "number" }, handler: () => "s2" },
        { definition: { type: "function", function: { name: "s1", description: "S1.", parameters } }, execute: () => "s1" }, // prettier-ignore
        { name: "s4", description: "S4.", category: "custom", parameters: z.object({}), execute: async () => ({ success: true, result: "s4" }) }, // prettier-ignore
      ],
    })
    expect(await Promise.all(["old", "spec", "made", "s2", "s1", "s4"].map((name) => run(name, { n: 2 })))).toEqual([
      4,
      6,
      4,
      "s2",
      "s1",
      "s4",
    ])
    expect(registry.list({ group: "many" })).toHaveLength(6)
    expect(registry.require("old").version).toBe("2.0.0")
    expect(registry.require("made").version).toBe("1.0.0")
    expect(registry.require("spec")).toMatchObject({ effect: "none", permission: { level: "public" } })
    expect(registry.require("old").input.check({})).toMatchObject({ problems: ["Missing required parameter: n"] })
    expect(registry.groups.toolNamesOf("workspace")).not.toContain("spec")
  })

  it("a file with a single tool is a plugin by the tool's name", async () => {
    const { manager, registry, write } = place()
    write("hello.mjs", `export default { name: "hello", description: "Greets.", parameters: [], execute: async () => ({ success: true, data: "hi" }) }`) // prettier-ignore
    expect(await manager.loadPlugin("hello.mjs")).toMatchObject({ name: "hello", kind: "tool", group: "hello" })
    expect(registry.require("hello").permission.level).toBe("sensitive")
  })

  it("a failure made by another copy of the library keeps its code, thrown, rejected or from a stream", async () => {
    class ToolFailure extends Error {
      override readonly name = "ToolFailure"
      readonly toolCode = "file_not_found"
      readonly transient = true
    }
    const spec = (name: string, execute: () => unknown): Tool => tool({ name, execute: execute as never })
    const fail = () => {
      throw new ToolFailure("It is not there.")
    }
    const system = await openTestApp()
    const manager = new PluginManager(system.registry)
    await manager.loadPlugin({
      name: "foreign",
      version: "1.0.0",
      tools: [
        spec("thrown", fail),
        spec("rejected", async () => fail()),
        // oxlint-disable-next-line require-yield -- it fails before its first chunk
        spec("streamed", async function* () {
          fail()
        }),
      ],
    })
    for (const name of ["thrown", "rejected", "streamed"]) {
      const result = await system.call({ agentId: "operator", tool: name, input: {} })
      expect(result).toMatchObject({ code: "tool_failed", error: "It is not there." })
      expect(result.metadata).toMatchObject({ toolCode: "file_not_found" })
    }
  })
})

describe("a module of S0", () => {
  it("brings its tools in a group by its name, and is told who calls", async () => {
    const { manager, registry, write } = place({ language: "zh" })
    write("garden.mjs", `export default ${module_("garden")}`)
    expect(await manager.loadPlugin("garden.mjs")).toMatchObject({ kind: "module", group: "garden" })
    expect(registry.groups.getGroup("garden")).toMatchObject({ description: "garden 模块提供的工具", toolCount: 1 })
    const asked = { agent: { id: "a", role: "dev" } } as ToolContext
    expect(await registry.require("garden_do").execute({}, asked)).toEqual({ did: "garden_do", role: "dev" })
  })

  it("names its group and describes it itself, and says what its tools do to the world", async () => {
    const { manager, registry } = place()
    const definitions = [{ type: "function", function: { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } } }] // prettier-ignore
    await manager.loadPlugin({
      name: "eyes",
      version: "3.0.0",
      toolGroupId: "sight",
      toolGroupDescription: "What can be seen.",
      toolOptions: { look: { effect: "read" } },
      getToolDefinitions: () => definitions,
      executeToolCall: () => ({ error: "dark", message: "It is too dark to see. Wait for the day." }),
    })
    expect(registry.groups.getGroup("sight")).toMatchObject({ description: "What can be seen." })
    expect(registry.require("look")).toMatchObject({ effect: "read", version: "3.0.0", group: "sight" })
    await expect(registry.require("look").execute({}, context)).rejects.toMatchObject({ toolCode: "dark" })
    await manager.unloadPlugin("eyes")
    expect(registry.groups.hasGroup("sight")).toBe(false)
  })

  it("is started with the runtime and its configuration, before its definitions are read, and shut down", async () => {
    const story: unknown[] = []
    const { manager, registry } = place()
    const given = {
      name: "diary",
      init(runtime: unknown, config: unknown) {
        story.push(["init", Object.keys(runtime as object), config])
      },
      getToolDefinitions() {
        story.push("definitions")
        return [{ type: "function", function: { name: "note", description: "Notes.", parameters: { type: "object", properties: {} } } }] // prettier-ignore
      },
      executeToolCall: () => 1,
      async shutdown() {
        story.push(["shutdown", registry.has("note")])
      },
    }
    await manager.loadPlugin(given, { config: { pages: 3 } })
    await manager.unloadPlugin("diary")
    expect(story).toEqual([["init", ["toolGroupManager", "log"], { pages: 3 }], "definitions", ["shutdown", false]])
  })

  it.each([
    ["a list of paths", (one: string, two: string) => [one, { path: two, config: { n: 2 } }]],
    ["an object of paths with what each is given", (one: string, two: string) => ({ [one]: {}, [two]: { n: 2 } })],
  ])("modules are loaded from %s", async (_, modules) => {
    const { manager, registry, write } = place()
    const one = write("one.mjs", `export default ${module_("one")}`)
    const two = write("two.mjs", `let n; export default ${module_("two", "init(_, config) { n = config.n }, executeToolCall() { return n },")}`) // prettier-ignore
    expect((await manager.loadModules(modules(one, two))).map(({ state }) => state)).toEqual(["loaded", "loaded"])
    expect(await registry.require("two_do").execute({}, context)).toBe(2)
  })

  it("one that is known by its name alone needs no file", async () => {
    const chrome = { name: "chrome", getToolDefinitions: () => [{ type: "function", function: { name: "go", description: "Goes.", parameters: { type: "object", properties: {} } } }], executeToolCall: () => 1 } // prettier-ignore
    const { manager } = place({ known: { chrome: async () => ({ default: chrome }) } })
    expect(await manager.loadModules(["chrome"])).toMatchObject([{ name: "chrome", state: "loaded" }])
  })
})

describe("what is wrong is said at once", () => {
  it.each([
    ["an empty file", "", "Invalid plugin format: 'name' must be a text, and is missing; 'version' must be a text, and is missing; 'tools' must be a list, and is missing."], // prettier-ignore
    ["a plugin without version and with no list", `export default { name: "x", tools: {} }`, "Invalid plugin format: 'version' must be a text, and is missing; 'tools' must be a list, and is an object."], // prettier-ignore
    ["a module that lacks things", `export default { executeToolCall: 1, init: "yes", toolGroupId: 7 }`, "Invalid module format: 'name' must be a text, and is missing; 'getToolDefinitions' must be a function, and is missing; 'executeToolCall' must be a function, and is a number; 'toolGroupId' must be a text, and is a number; 'init' must be a function, and is a text."], // prettier-ignore
    ["tools that are none", `export default { name: "x", version: "1", tools: [1, {}, { execute() {} , name: "y" }] }`, "Invalid plugin format: tools[0]: it must be a tool, and is a number. tools[1]: it needs a name, a description, an execute function or a handler and a schema in 'input' or 'parameters' (an empty one means no input). tools[2]: it needs a description and a schema in 'input' or 'parameters' (an empty one means no input)."], // prettier-ignore
    ["a tool with a bad name", `export default { name: "x", version: "1", tools: [{ name: "a b", description: "d", parameters: [], execute() {} }] }`, 'tools[0]: The tool "a b" cannot be defined: its name must start with a letter'], // prettier-ignore
    ["a version that is none", `export default ${plugin("x").replace("1.2.3", "new!")}`, "its version must be made of"],
    ["no tool at all", `export default { name: "x", version: "1", tools: [] }`, "The plugin x has no tools."],
    ["definitions that are no list", `export default { name: "x", executeToolCall() {}, getToolDefinitions: () => 5 }`, "Invalid module format: getToolDefinitions must return a list, and returned a number."], // prettier-ignore
    ["definitions without names", `export default { name: "x", executeToolCall() {}, getToolDefinitions: () => [{}, null] }`, "getToolDefinitions()[0]: it needs a function with a name. getToolDefinitions()[1]: it needs a function with a name."], // prettier-ignore
    ["a built-in group", `export default ${plugin("workspace")}`, "'workspace' is the name of a built-in group. Give the plugin another name."], // prettier-ignore
    ["a name that is no group's", `export default ${plugin("a,b")}`, "'a,b' cannot be the name of a group"],
    ["a syntax error", "export default {", "cannot be imported: Unexpected"],
    [
      "a syntax error in the middle",
      'export default {\n  name: "a"\n  version: 1,\n}\n',
      "cannot be imported: Unexpected identifier 'version' (line 3: version: 1,)",
    ],
    [
      "a bracket that is not closed",
      'export default {\n  name: "a",\n  tools: [\n',
      "cannot be imported: Unexpected end of input (line 4: the file ends before everything is closed)",
    ],
    [
      "a bare list of tools",
      "export default [{ name: 'a', execute() {} }]",
      'export default { name: "my-tools", version',
    ],
    ["JSON that cannot be read", "JSON.parse('{')", "cannot be imported: "],
    ["a throw while it is imported", `throw new Error("No licence.")`, "cannot be imported: No licence."],
    ["an init that fails", `export default ${module_("x", 'init() { throw new Error("No browser.") },')}`, "x could not start: No browser."], // prettier-ignore
  ])("%s", async (_, text, sentence) => {
    const { manager, registry, write } = place()
    const before = registry.version
    write("x.mjs", text)
    await expect(manager.loadPlugin("x.mjs")).rejects.toThrow(sentence)
    expect([registry.version, manager.list()]).toEqual([before, []])
  })

  it.each([
    ["nothing there", "nothing.mjs", "There is no plugin at"],
    ["a package nobody installed", "left-pad", "or install the package of that name."],
    ["a folder without an entry", "empty", "has no index.js"],
    ["a package.json that leads outside", "sly", "which is outside"],
    ["a package.json that is none", "torn", "is not valid JSON"],
    ["TypeScript", "typed.ts", process.version.startsWith("v20") ? "compile the file first" : "format"],
  ])("%s", async (_, path, sentence) => {
    const { base, manager, write } = place()
    mkdirSync(join(base, "empty"))
    write("sly/package.json", `{ "main": "../x.mjs" }`)
    write("torn/package.json", `{`)
    write("typed.ts", "const n: number = 1; export default {}")
    await expect(manager.loadPlugin(path)).rejects.toThrow(sentence)
  })
})

describe("all tools or none", () => {
  const two = (second: Tool) => ({ name: "two", version: "1.0.0", tools: [tool({ name: "first", execute: () => 1 }), second] }) // prettier-ignore

  it.each([
    ["one is there already", tool({ name: "taken", execute: () => 1 }), "Tool 'taken' already registered"],
    ["two are the same", tool({ name: "first", execute: () => 2 }), "Tool 'first' already registered"],
    [
      "their dependencies form a cycle",
      tool({ name: "loop", dependsOn: ["taken"], execute: () => 1 }),
      "its dependencies form a cycle, loop → taken → loop",
    ],
  ])("no tool of a plugin is there when %s", async (_, second, sentence) => {
    const { manager, registry } = place()
    registry.register(tool({ name: "taken", dependsOn: ["loop"], execute: () => 0 }))
    await expect(manager.loadPlugin(two(second))).rejects.toThrow(sentence)
    expect(registry.list().map(({ name }) => name)).toEqual(["taken"])
    expect(registry.groups.hasGroup("two")).toBe(false)
  })

  it("what started and cannot be registered is shut down again", async () => {
    const story: string[] = []
    const { manager } = place({ onLoading: () => Promise.reject(new Error("Nothing can be written down now.")) })
    const given = { ...two(tool({ name: "second", execute: () => 1 })), init: () => story.push("init"), shutdown: () => story.push("shutdown") } // prettier-ignore
    await expect(manager.loadPlugin(given)).rejects.toThrow("Nothing can be written down now.")
    expect(story).toEqual(["init", "shutdown"])
  })

  it.each(["workspace", "there"])("one whose name is taken, '%s', is not even started", async (name) => {
    const story: string[] = []
    const { manager } = place()
    await manager.loadPlugin({ ...two(tool({ name: "second", execute: () => 1 })), name: "there" })
    const given = { name, version: "1.0.0", tools: [tool({ name: "third", execute: () => 1 })], init: () => story.push("init") } // prettier-ignore
    await expect(manager.loadPlugin(given)).rejects.toThrow(name)
    expect(story).toEqual([])
  })

  it("what is about to be loaded is told with its hash before its tools are there", async () => {
    const told: [LoadingPlugin, boolean][] = []
    const { manager, registry, write } = place({ onLoading: (one) => told.push([one, registry.has("one_tool")]) })
    write("one.mjs", `export default ${plugin("one")}`)
    const { digest } = await manager.loadPlugin("one.mjs", { layer: "department:sales" })
    const expected = { name: "one", version: "1.2.3", layer: "department:sales", tools: ["department:sales:one_tool@1.2.3"] } // prettier-ignore
    expect(told).toMatchObject([[{ ...expected, digest }, false]])
  })

  it("one that fails stops no other, and is shown with its sentence", async () => {
    const { manager, write, lines } = place()
    write("good.mjs", `export default ${plugin("good")}`)
    write("bad.mjs", "throw new Error('I am broken.')")
    write("last.mjs", `export default ${plugin("last")}`)
    const states = await manager.loadAll(["bad.mjs", "good.mjs", "gone.mjs", "last.mjs"].map((path) => ({ path })))
    expect(states.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "bad.mjs failed",
      "good loaded",
      "gone.mjs failed",
      "last loaded",
    ])
    expect(manager.list().map(({ name }) => name)).toEqual(["good", "last", "bad.mjs", "gone.mjs"])
    expect(manager.get("bad.mjs")?.problem).toContain("I am broken.")
    expect(lines.filter((line) => line.includes("was not loaded"))).toHaveLength(2)
    write("bad.mjs", `export default ${plugin("mended")}`)
    await manager.loadPlugin("bad.mjs")
    expect(manager.list().map(({ name }) => name)).toEqual(["good", "last", "mended", "gone.mjs"])
  })

  it("of two that claim one name the first in the list is loaded, however long it takes to start", async () => {
    const { manager, write } = place()
    write("slow.mjs", `await new Promise((done) => setTimeout(done, 60)); export default ${plugin("same", "'slow'")}`)
    write("quick.mjs", `export default ${plugin("same", "'quick'")}`)
    const states = await manager.loadAll([{ path: "slow.mjs" }, { path: "quick.mjs" }])
    expect(states.map(({ given, state }) => `${given} ${state}`)).toEqual(["slow.mjs loaded", "quick.mjs failed"])
  })

  it("a tool that somebody replaced stays when the plugin goes", async () => {
    const { manager, registry } = place()
    await manager.loadPlugin(two(tool({ name: "second", execute: () => 1 })))
    const mine = registry.register(tool({ name: "second", group: "mine", execute: () => 2 }), { replace: true })
    await manager.unloadPlugin("two")
    expect(registry.list()).toEqual([mine])
  })
})

describe("time", () => {
  it("an import that never ends is given up", async () => {
    const { manager, write } = place({ startMs: 50 })
    write("x.mjs", "await new Promise((done) => setTimeout(done, 100_000))")
    await expect(manager.loadPlugin("x.mjs")).rejects.toThrow("was not imported within 0.05 s.")
  })

  it("an init that never ends is given up", async () => {
    const { manager } = place({ startMs: 50 })
    const given = { name: "x", version: "1.0.0", tools: [], init: () => new Promise<void>(() => {}) }
    await expect(manager.loadPlugin(given)).rejects.toThrow("init of x was not done within 0.05 s.")
  })

  it("what starts too late is shut down when it has", async () => {
    const starting = deferred()
    const stopped = deferred()
    const { manager } = place({ startMs: 20 })
    const given = { name: "late", version: "1.0.0", tools: [], init: () => starting.promise, shutdown: () => stopped.resolve() } // prettier-ignore
    await expect(manager.loadPlugin(given)).rejects.toThrow("late could not start")
    starting.resolve()
    await stopped.promise
  })

  it("a shutdown that never ends, or fails, keeps nobody waiting", async () => {
    const { manager, lines } = place({ stopMs: 20 })
    const one = (name: string, shutdown: () => unknown) => ({ name, version: "1.0.0", tools: [tool({ name: `${name}_tool`, execute: () => 1 })], shutdown }) // prettier-ignore
    await manager.loadPlugin(one("slow", () => new Promise(() => {})))
    await manager.loadPlugin(
      one("angry", () => {
        throw new Error("I will not.")
      }),
    )
    await manager.close()
    expect(manager.list()).toEqual([])
    expect(lines.join("\n")).toContain("angry did not shut down well: I will not.")
    expect(lines.join("\n")).toContain("shutdown of slow was not done within 0.02 s.")
  })

  it("a plugin is shut down when the calls inside it are out, and takes no new ones meanwhile", async () => {
    const story: string[] = []
    const inside = deferred<string>()
    const { manager, registry } = place()
    const slow = tool({ name: "slow", execute: () => inside.promise.then((word) => story.push(word)) })
    await manager.loadPlugin({ name: "busy", version: "1.0.0", tools: [slow], shutdown: () => story.push("shutdown") })
    const calling = Promise.resolve(registry.require("slow").execute({}, context))
    const unloading = manager.unloadPlugin("busy")
    await until(() => !registry.has("slow"), "the tool went away")
    inside.resolve("call")
    await Promise.all([calling, unloading])
    expect(story).toEqual(["call", "shutdown"])
  })
})

describe("a folder, a package, a link", () => {
  it("of a folder everything counts in its hash, and a change of any file makes another one", async () => {
    const { base, manager, write, run } = place()
    write("pack/package.json", `{ "exports": { ".": { "import": "./main.mjs", "require": "./no.cjs" } } }`)
    write("pack/main.mjs", `import { n } from "./lib/n.mjs"; export default ${plugin("pack", "n")}`)
    const helper = write("pack/lib/n.mjs", "export const n = 7")
    write("pack/node_modules/other/index.js", "1")
    const state = await manager.loadPlugin("pack")
    expect(state).toMatchObject({ path: join(base, "pack"), digest: { covers: "folder", files: 3 } })
    expect(await run("pack_tool")).toBe(7)
    await manager.unloadPlugin("pack")
    writeFileSync(helper, "export const n = 8")
    const again = await manager.loadPlugin("pack")
    expect(again.digest?.sha256).not.toBe(state.digest?.sha256)
    expect(await run("pack_tool")).toBe(8)
  })

  it("an installed package is found by its name from the folder upwards", async () => {
    const { base, write } = place()
    write("node_modules/@scope/tools/package.json", `{ "main": "tools.cjs" }`)
    write("node_modules/@scope/tools/tools.cjs", `module.exports = ${plugin("scoped")}`)
    const below = join(base, "deep/er")
    mkdirSync(below, { recursive: true })
    const manager = new PluginManager(new ToolRegistry(), { base: below, import: nativeImport })
    expect(await manager.loadPlugin("@scope/tools")).toMatchObject({ name: "scoped", digest: { covers: "folder" } })
  })

  it("a link is followed to its file, and a link inside a folder is not followed into another", async () => {
    const { base, manager, write } = place()
    write("real.mjs", `export default ${plugin("linked")}`)
    symlinkSync(join(base, "real.mjs"), join(base, "link.mjs"))
    expect(await manager.loadPlugin("link.mjs")).toMatchObject({ name: "linked", path: join(base, "link.mjs") })
    write("around/index.mjs", `export default ${plugin("around")}`)
    symlinkSync(base, join(base, "around/up"))
    expect((await manager.loadPlugin("around")).digest).toMatchObject({ files: 1 })
  })
})

describe("layers", () => {
  it("a plugin of an agent or a department is theirs alone", async () => {
    const system = await openTestApp({ org: { departments: [{ id: "sales" }], roles: [{ name: "dev" }], agents: [{ id: "ann", role: "dev" }, { id: "bob", role: "dev", department: "sales" }] } }) // prettier-ignore
    const manager = new PluginManager(system.registry)
    const one = (name: string) => ({ name, version: "1.0.0", tools: [tool({ name: `${name}_tool`, execute: () => name })] }) // prettier-ignore
    await manager.loadPlugin(one("hers"), { layer: "agent:ann" })
    await manager.loadPlugin(one("theirs"), { layer: "department:sales" })
    const has = (agentId: string) => system.visibleTools(agentId).flatMap(({ name, layer }) => (layer === "system" ? [] : [name])) // prettier-ignore
    expect([has("ann"), has("bob"), has("operator")]).toEqual([["hers_tool"], ["theirs_tool"], []])
    expect(await system.call({ agentId: "ann", tool: "hers_tool", input: {} })).toMatchObject({ result: "hers" })
    expect(await system.call({ agentId: "bob", tool: "hers_tool", input: {} })).toMatchObject({ code: "unknown_tool" })
    await manager.close()
    expect([has("ann"), has("bob")]).toEqual([[], []])
  })
})

describe("reload on change", () => {
  it.each(["mjs", "cjs"])(
    "a changed .%s file is loaded in the place of the old one, which is shut down",
    async (kind) => {
      const { manager, registry, replace, run, lines } = place({ watch: true })
      const text = (n: number) => `${kind === "cjs" ? "module.exports =" : "export default"} { ...${plugin("live", String(n))}, shutdown() { globalThis.stopped = ${n} } }` // prettier-ignore
      replace(`live.${kind}`, text(1))
      const first = await manager.loadPlugin(`live.${kind}`)
      for (const n of [2, 3]) {
        replace(`live.${kind}`, text(n))
        await until(async () => (await run("live_tool")) === n, `version ${n} was loaded`)
        await until(() => (globalThis as { stopped?: number }).stopped === n - 1, "the one before was shut down")
      }
      expect(manager.get("live")?.digest?.sha256).not.toBe(first.digest?.sha256)
      expect(registry.groups.getGroup("live")?.toolCount).toBe(1)
      expect(lines.filter((line) => line.includes("was reloaded"))).toHaveLength(2)
    },
  )

  it("a broken change leaves the old one running and says why; the next good one is loaded", async () => {
    const { manager, replace, run } = place({ watch: true })
    replace("live.mjs", `export default ${plugin("live", "1")}`)
    await manager.loadPlugin("live.mjs")
    for (const [text, sentence] of [
      ["export default {", "cannot be imported"],
      [`export default ${plugin("renamed")}`, "another name now"],
      [`export default ${plugin("live", "2").replace("[{", "[5, {")}`, "tools[0]: it must be a tool"],
    ] as const) {
      replace("live.mjs", text)
      await until(() => manager.get("live")?.problem?.includes(sentence) === true, `it said ${sentence}`)
      expect(await run("live_tool")).toBe(1)
    }
    replace("live.mjs", `export default ${plugin("live", "3")}`)
    await until(async () => (await run("live_tool")) === 3, "the good one was loaded")
    expect(manager.get("live")?.problem).toBeUndefined()
  })

  it("a change that takes the name of somebody else's tool leaves the old one in place", async () => {
    const { manager, registry, replace, run } = place({ watch: true })
    registry.register(tool({ name: "taken", version: "1.2.3", execute: () => 0 }))
    replace("live.mjs", `export default ${plugin("live", "1")}`)
    await manager.loadPlugin("live.mjs")
    replace("live.mjs", `export default ${plugin("live", "2", "taken")}`)
    await until(() => manager.get("live")?.problem?.includes("already registered") === true, "it was refused")
    expect(await run("live_tool")).toBe(1)
    expect(await run("taken")).toBe(0)
    expect(registry.groups.getGroup("live")?.toolCount).toBe(1)
  })

  it("what the folder's other files say is new as well", async () => {
    const { manager, write, run } = place({ watch: true })
    write("pack/index.mjs", `import { n } from "./lib/n.mjs"; export default ${plugin("pack", "n")}`)
    write("pack/lib/n.mjs", "export { n } from './deeper.mjs'")
    write("pack/lib/deeper.mjs", "export const n = 1")
    await manager.loadPlugin("pack")
    write("pack/lib/deeper.mjs", "export const n = 2")
    await until(async () => (await run("pack_tool")) === 2, "the new helper was imported")
  })

  it("an unloaded plugin is watched no more, nor is one whose file is gone loaded again", async () => {
    const { base, manager, registry, replace } = place({ watch: true })
    replace("live.mjs", `export default ${plugin("live", "1")}`)
    await manager.loadPlugin("live.mjs")
    rmSync(join(base, "live.mjs"))
    await until(() => manager.get("live")?.problem !== undefined, "it was noticed")
    expect(registry.has("live_tool")).toBe(true)
    await manager.unloadPlugin("live")
    replace("live.mjs", `export default ${plugin("live", "2")}`)
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(manager.list()).toEqual([])
  })
})

describe("the samples", () => {
  const samples = fileURLToPath(new URL("../../../plugins/", import.meta.url))

  it("work unchanged in calls", async () => {
    const system = await openTestApp()
    const manager = new PluginManager(system.registry, { base: samples, import: nativeImport })
    await manager.loadPlugin("word-count.cjs")
    await manager.loadPlugin("world-clock", { config: { home: "Asia/Shanghai" } })
    const call = (name: string, input: unknown) => system.call({ agentId: "operator", tool: name, input })
    expect(await call("count_words", { text: "你好 world\nagain" })).toMatchObject({ result: { words: 3, lines: 2 } })
    expect(await call("frequent_words", { text: "a b a", most: 1 })).toMatchObject({
      result: [{ word: "a", count: 2 }],
    })
    expect(await call("count_words", { text: "", language: "!" })).toMatchObject({ code: "tool_failed" })
    expect(await call("hours_between", { from: "UTC" })).toMatchObject({ result: { hours: 8 } })
    expect(await call("time_in", {})).toMatchObject({ result: { time: expect.stringMatching(/\+08:00$/) } })
    expect(await call("time_in", { zone: "Mars" })).toMatchObject({ metadata: { toolCode: "unknown_zone" } })
    await expect(new PluginManager(new ToolRegistry(), { base: samples, import: nativeImport }).loadPlugin("world-clock", { config: { home: "Mars" } })).rejects.toThrow("'Mars' is no time zone.") // prettier-ignore
  })
})
