import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { silentLogger, type Logger } from "../model/logger.ts"
import { ToolGroupManager } from "./groups.ts"
import type { GroupChange, GroupResult, ToolDefinition, ToolGroupDefinition } from "./groups.ts"

const tool = (name: string, description = `Does ${name}.`): ToolDefinition => ({
  type: "function",
  function: { name, description, parameters: { type: "object", properties: {} } },
})
const group = (description: string, ...names: string[]): ToolGroupDefinition => ({
  description,
  tools: names.map((name) => tool(name)),
})
const empty = () => new ToolGroupManager({ registerBuiltins: false })
const nameOf = (definition: ToolDefinition) => definition.function.name

function cannot(): never {
  throw new Error("This cannot be done.")
}

function listening() {
  const warnings: string[] = []
  const errors: string[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (message, details) => warnings.push(`${message} ${JSON.stringify(details)}`),
    error: (message) => errors.push(message),
  }
  return { logger, warnings, errors }
}

describe("built-in groups", () => {
  it.each([
    ["[S0-43]", "org_management", "组织管理工具"],
    ["[S0-44]", "artifact", "工件管理工具"],
    ["[S0-45]", "workspace", "工作空间工具"],
    ["[S0-46]", "command", "命令执行工具"],
    ["[S0-47]", "network", "网络工具"],
    ["[S0-48]", "context", "上下文管理工具"],
    ["[S0-49]", "console", "控制台工具"],
    ["", "code", "代码工具"],
    ["", "data", "数据处理工具"],
    ["", "system", "系统工具"],
    ["", "interaction", "交互工具"],
    ["", "todo", "任务清单工具"],
    ["", "pipeline", "流水线工具"],
  ])("%s the group %s is there from the start as %s", (_, id, description) => {
    const manager = new ToolGroupManager()
    expect(manager.getGroup(id)).toMatchObject({ id, description, tools: [], toolCount: 0, isReserved: true })
  })

  it("[S0R-2.1] [S0R-2.2] the built-in groups register themselves and nothing else is there", () => {
    const manager = new ToolGroupManager()
    const seven = "org_management artifact workspace command network context console"
    expect(manager.getAllGroupIds().slice(0, 7).join(" ")).toBe(seven)
    expect(manager.getGroupCount()).toBe(13)
    expect(manager.listGroups().every((row) => row.isReserved)).toBe(true)
    expect(manager.getAllToolNames()).toEqual([])
  })

  it("[S0-08] options may be left out, a logger may be given, and the built-ins may be declined", () => {
    expect(new ToolGroupManager().getGroupCount()).toBe(13)
    expect(new ToolGroupManager({ registerBuiltins: true }).getGroupCount()).toBe(13)
    const { logger, warnings } = listening()
    const manager = new ToolGroupManager({ logger, registerBuiltins: false })
    expect(manager.getGroupCount()).toBe(0)
    expect(manager.getToolDefinitions(["workspace"])).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('{"groupId":"workspace"}')])
    expect(() => empty().getToolDefinitions(["workspace"])).not.toThrow()
  })

  it("[S0-11] [S0R-2.3] reserved ids cannot be taken or removed, but their tools can be filled in", () => {
    const manager = new ToolGroupManager()
    expect(manager.isReservedGroup("workspace")).toBe(true)
    expect(manager.registerGroup("workspace", group("mine"))).toEqual({ ok: false, error: "reserved_group_id" })
    expect(manager.unregisterGroup("workspace")).toEqual({ ok: false, error: "cannot_unregister_reserved" })
    expect(manager.updateGroupTools("workspace", [tool("read_file")])).toEqual({ ok: true })
    expect(manager.getGroup("workspace")).toMatchObject({ description: "工作空间工具", toolCount: 1, isReserved: true })
  })

  it("[S0-78] a group registered as reserved is refused to everyone after it", () => {
    const manager = empty()
    expect(manager.registerGroup("chrome", group("Chrome"), true)).toEqual({ ok: true })
    expect(manager.isReservedGroup("chrome")).toBe(true)
    for (const isReserved of [false, true]) {
      const result = manager.registerGroup("chrome", group("Other"), isReserved)
      expect(result).toEqual({ ok: false, error: "reserved_group_id" })
    }
    expect(manager.getGroup("chrome")?.description).toBe("Chrome")
    expect(manager.isReservedGroup("nothing")).toBe(false)
  })
})

describe("registering and unregistering", () => {
  it("[S0-83] groups come, change, answer and go", () => {
    const manager = empty()
    expect(manager.registerGroup("chrome", group("Chrome 浏览器控制工具", "open", "close"))).toEqual({ ok: true })
    expect(manager.isReservedGroup("chrome")).toBe(false)
    expect(manager.getToolDefinitions(["chrome"]).map(nameOf)).toEqual(["open", "close"])
    expect(manager.updateGroupTools("chrome", [tool("click")])).toEqual({ ok: true })
    expect(manager.getAllToolNames()).toEqual(["click"])
    expect(manager.unregisterGroup("chrome")).toEqual({ ok: true })
    expect(manager.getGroup("chrome")).toBeNull()
  })

  it("[S0-12] [S0R-1.2] a group has one id and a list of tools", () => {
    const manager = empty()
    manager.registerGroup("chrome", group("Chrome", "open"))
    expect(manager.getAllGroupIds()).toEqual(["chrome"])
    expect(manager.getGroup("chrome")?.tools.map(nameOf)).toEqual(["open"])
  })

  it("[S0R-1.4] a group can come while others are in use", () => {
    const manager = new ToolGroupManager()
    expect(manager.isToolInGroups("late", manager.getAllGroupIds())).toBe(false)
    expect(manager.registerGroup("plugin", group("Late", "late"))).toEqual({ ok: true })
    expect(manager.isToolInGroups("late", manager.getAllGroupIds())).toBe(true)
  })

  it("[S0-79] [C-01] an existing group is replaced whole, with a warning in the answer and in the log", () => {
    const { logger, warnings } = listening()
    const manager = new ToolGroupManager({ logger, registerBuiltins: false })
    manager.registerGroup("chrome", group("Old", "open", "old"))
    expect(warnings).toEqual([])
    const result = manager.registerGroup("chrome", group("New", "open", "new"))
    expect(result).toEqual({ ok: true, warning: "duplicate_group_id" })
    expect(warnings).toEqual([expect.stringContaining('{"groupId":"chrome"}')])
    expect(manager.getGroup("chrome")).toMatchObject({ description: "New", toolCount: 2 })
    expect(manager.getToolGroup("old")).toBeNull()
    expect(manager.isToolInGroups("old", ["chrome"])).toBe(false)
  })

  it.each([
    ["null", null],
    ["a word", "tools"],
    ["a function", () => ({ tools: [] })],
    ["no tools", { description: "x" }],
    ["tools that are no list", { description: "x", tools: { length: 0 } }],
    ["a description that is no text", { description: 7, tools: [] }],
    ["a list that cannot be read", Object.defineProperty({}, "tools", { get: cannot })],
  ])("[S0-80] a definition with %s is refused and changes nothing", (_, definition) => {
    const manager = empty()
    manager.registerGroup("kept", group("Kept", "tool"))
    const version = manager.version
    for (const id of ["kept", "fresh"]) {
      const result = manager.registerGroup(id, definition as ToolGroupDefinition)
      expect(result).toEqual({ ok: false, error: "invalid_group_def" })
    }
    expect(manager.version).toBe(version)
    expect(manager.getAllGroupIds()).toEqual(["kept"])
    expect(manager.isToolInGroups("tool", ["kept"])).toBe(true)
  })

  it("[S0-80] an id must be a text with something in it", () => {
    const manager = empty()
    for (const id of ["", undefined, null, 7, {}, Symbol("id")]) {
      expect(manager.registerGroup(id as string, group("x"))).toEqual({ ok: false, error: "invalid_group_def" })
      expect(manager.addTool(id as string, tool("x"))).toEqual({ ok: false, error: "invalid_group_def" })
    }
    expect(manager.getGroupCount()).toBe(0)
  })

  it("tools without a name are left out and counted in a warning", () => {
    const { logger, warnings } = listening()
    const manager = new ToolGroupManager({ logger, registerBuiltins: false })
    const nameless = [null, undefined, 3, {}, { function: {} }, { function: { name: "" } }, { function: { name: 4 } }]
    const tools = [tool("named"), ...(nameless as ToolDefinition[])]
    expect(manager.registerGroup("mixed", { description: "", tools })).toEqual({ ok: true })
    expect(manager.getGroup("mixed")?.toolCount).toBe(1)
    expect(warnings).toEqual([expect.stringContaining('"nameless":7')])
    expect(manager.addTool("mixed", {} as ToolDefinition)).toEqual({ ok: false, error: "invalid_group_def" })
  })

  it("[S0-13] only an unreserved group that exists can be unregistered", () => {
    const manager = new ToolGroupManager()
    expect(manager.unregisterGroup("nothing")).toEqual({ ok: false, error: "group_not_found" })
    expect(manager.unregisterGroup("console")).toEqual({ ok: false, error: "cannot_unregister_reserved" })
    manager.registerGroup("plugin", group("Plugin"))
    expect(manager.unregisterGroup("plugin")).toEqual({ ok: true })
    expect(manager.unregisterGroup("plugin")).toEqual({ ok: false, error: "group_not_found" })
  })

  it("updating the tools keeps the id, the description and the day, and needs a group and a list", () => {
    const manager = empty()
    manager.registerGroup("plugin", group("Plugin", "old"))
    const before = manager.getGroup("plugin")
    expect(manager.updateGroupTools("plugin", [tool("new")])).toEqual({ ok: true })
    expect(manager.getGroup("plugin")).toEqual({ ...before, tools: [tool("new")], toolCount: 1 })
    expect(manager.updateGroupTools("nothing", [])).toEqual({ ok: false, error: "group_not_found" })
    const broken = manager.updateGroupTools("plugin", null as unknown as ToolDefinition[])
    expect(broken).toEqual({ ok: false, error: "invalid_group_def" })
    expect(manager.getAllToolNames()).toEqual(["new"])
  })

  it("a list changed by its owner afterwards changes nothing here, and an answer changed by a reader neither", () => {
    const manager = empty()
    const tools = [tool("a")]
    manager.registerGroup("plugin", { description: "", tools })
    tools.push(tool("b"))
    manager.listGroups()[0]?.tools.push("c")
    manager.getToolDefinitions(["plugin"]).pop()
    manager.getAllGroupIds().pop()
    expect(manager.listGroups()).toMatchObject([{ id: "plugin", toolCount: 1, tools: ["a"] }])
  })
})

describe("asking", () => {
  it("[S0-09] [S0-41] a group carries its id, description, definitions, standing and the day it came", () => {
    const manager = empty()
    const definition = tool("open")
    manager.registerGroup("chrome", { description: "Chrome", tools: [definition] }, true)
    const { registeredAt, ...rest } = manager.getGroup("chrome") ?? expect.fail("no group")
    expect(rest).toEqual({ id: "chrome", description: "Chrome", tools: [definition], toolCount: 1, isReserved: true })
    expect(new Date(registeredAt).toISOString()).toBe(registeredAt)
  })

  it("[S0-42] definitions are handed on as they are, and parameters are not read before someone asks", () => {
    let reads = 0
    const lazy = Object.defineProperty({ name: "lazy", description: "Is lazy.", parameters: {} }, "parameters", {
      get: () => ({ reads: ++reads }),
    })
    const definition: ToolDefinition = { type: "function", function: lazy }
    const manager = empty()
    manager.registerGroup("a", { description: "", tools: [definition] })
    manager.updateGroupTools("a", [definition])
    manager.addTool("a", definition)
    expect(manager.getToolDefinitions(["a"])[0]).toBe(definition)
    expect(manager.getGroup("a")?.tools[0]).toBe(definition)
    expect(reads).toBe(0)
  })

  it("[S0-14] [S0R-4.2] several groups are merged, the first definition wins and an unknown group is skipped", () => {
    const { logger, warnings } = listening()
    const manager = new ToolGroupManager({ logger, registerBuiltins: false })
    const [first, second] = [tool("shared", "first"), tool("shared", "second")]
    manager.registerGroup("a", { description: "", tools: [tool("only_a"), first, tool("shared", "again")] })
    manager.registerGroup("b", { description: "", tools: [second, tool("only_b")] })
    expect(manager.getToolDefinitions(["a", "gone", "b", "a"]).map(nameOf)).toEqual(["only_a", "shared", "only_b"])
    expect(manager.getToolDefinitions(["a", "b"])[1]).toBe(first)
    expect(manager.getToolDefinitions(["b", "a"])[0]).toBe(second)
    expect(manager.getToolDefinitions([])).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('{"groupId":"gone"}')])
  })

  it("[S0-15] [S0R-5.1] [S0R-5.4] the list has a row for each group, in the order they came", () => {
    const manager = empty()
    manager.registerGroup("b", group("Bees", "buzz", "sting"))
    manager.registerGroup("a", group("Ants"), true)
    manager.registerGroup("b", group("Bees again", "buzz"))
    expect(manager.listGroups()).toEqual([
      { id: "b", description: "Bees again", toolCount: 1, tools: ["buzz"], isReserved: false },
      { id: "a", description: "Ants", toolCount: 0, tools: [], isReserved: true },
    ])
  })

  it("[S0-16] [S0R-5.3] a tool leads to its group, an unknown tool to null", () => {
    const manager = empty()
    manager.registerGroup("chrome", group("Chrome", "open"))
    expect(manager.getToolGroup("open")).toBe("chrome")
    expect(manager.getToolGroup("Open")).toBeNull()
    expect(manager.getToolGroup("chrome")).toBeNull()
  })

  it("[S0-17] a tool is in the groups when any of them has it", () => {
    const manager = empty()
    manager.registerGroup("a", group("", "one"))
    manager.registerGroup("b", group("", "two"))
    expect(manager.isToolInGroups("one", ["b", "gone", "a"])).toBe(true)
    expect(manager.isToolInGroups("one", ["b", "gone"])).toBe(false)
    expect(manager.isToolInGroups("one", [])).toBe(false)
    expect(manager.isToolInGroups("three", ["a", "b"])).toBe(false)
  })

  it("[S0-18] [S0R-5.2] all ids, the count, all tool names and the tools of one group can be asked for", () => {
    const manager = empty()
    manager.registerGroup("b", group("", "x", "y"))
    manager.registerGroup("a", group("", "y", "z"))
    expect(manager.getAllGroupIds()).toEqual(["b", "a"])
    expect(manager.getGroupCount()).toBe(2)
    expect(manager.hasGroup("a")).toBe(true)
    expect(manager.hasGroup("c")).toBe(false)
    expect(manager.getAllToolNames()).toEqual(["x", "y", "z"])
    expect(manager.getGroup("a")?.tools.map(nameOf)).toEqual(["y", "z"])
    expect(manager.getGroup("c")).toBeNull()
  })

  it("[C-45] [S0-10] a tool of two groups belongs to the later one and falls back to the earlier", () => {
    const manager = empty()
    for (const id of ["a", "b", "c"]) manager.registerGroup(id, group("", "shared"))
    expect(manager.getToolGroup("shared")).toBe("c")
    expect(["a", "b", "c"].every((id) => manager.isToolInGroups("shared", [id]))).toBe(true)
    manager.unregisterGroup("b")
    expect(manager.getToolGroup("shared")).toBe("c")
    manager.unregisterGroup("c")
    expect(manager.getToolGroup("shared")).toBe("a")
    expect(manager.isToolInGroups("shared", ["b", "c"])).toBe(false)
    manager.unregisterGroup("a")
    expect(manager.getToolGroup("shared")).toBeNull()
    expect(manager.getAllToolNames()).toEqual([])
  })
})

describe("single tools and changes", () => {
  it("a tool added to a missing group makes the group, and one of its name is replaced", () => {
    const manager = empty()
    const [old, fresh] = [tool("open", "old"), tool("open", "fresh")]
    expect(manager.addTool("chrome", old)).toEqual({ ok: true })
    expect(manager.addTool("other", tool("open"))).toEqual({ ok: true })
    expect(manager.addTool("chrome", fresh)).toEqual({ ok: true })
    expect(manager.getGroup("chrome")).toMatchObject({ description: "", isReserved: false, toolCount: 1 })
    expect(manager.getGroup("chrome")?.tools[0]).toBe(fresh)
    expect(manager.getToolGroup("open")).toBe("chrome")
    expect(manager.removeTool("chrome", "open")).toEqual({ ok: true })
    expect(manager.getToolGroup("open")).toBe("other")
    expect(manager.removeTool("chrome", "open")).toEqual({ ok: false, error: "tool_not_found" })
    expect(manager.removeTool("gone", "open")).toEqual({ ok: false, error: "group_not_found" })
    expect(manager.hasGroup("chrome")).toBe(true)
  })

  it("the version grows and the listener hears of each change once, after it, and of nothing else", () => {
    const heard: [string, GroupChange, boolean][] = []
    const manager: ToolGroupManager = new ToolGroupManager({
      onChange: (id, change) => heard.push([id, change, manager.hasGroup(id)]),
    })
    const versions = [manager.version]
    const steps = [
      () => manager.registerGroup("a", group("", "x")),
      () => manager.registerGroup("a", group("", "y")),
      () => manager.updateGroupTools("a", []),
      () => manager.addTool("a", tool("z")),
      () => manager.removeTool("a", "z"),
      () => manager.addTool("b", tool("z")),
      () => manager.unregisterGroup("a"),
    ]
    for (const step of steps) expect([step().ok, versions.push(manager.version)]).toEqual([true, expect.anything()])
    expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other))
    manager.registerGroup("workspace", group(""))
    manager.unregisterGroup("gone")
    manager.removeTool("b", "gone")
    expect(manager.version).toBe(versions.at(-1))
    expect(heard).toEqual([
      ["a", "registered", true],
      ["a", "registered", true],
      ["a", "updated", true],
      ["a", "updated", true],
      ["a", "updated", true],
      ["b", "registered", true],
      ["a", "unregistered", false],
    ])
  })

  it("a listener that fails is reported and the change stands", () => {
    const { logger, errors } = listening()
    const manager = new ToolGroupManager({ logger, onChange: cannot })
    expect(manager.registerGroup("a", group("", "x"))).toEqual({ ok: true })
    expect(manager.getToolGroup("x")).toBe("a")
    expect(errors).toHaveLength(1)
  })

  it("a hundred thousand tools are added one by one and looked up in linear time", () => {
    let reads = 0
    const manager = empty()
    const count = 100_000
    const before = process.cpuUsage()
    const inTime = (index: number) =>
      index % 1000 > 0 || process.cpuUsage(before).user < 15_000_000 || expect.fail("This takes more than linear time.")
    for (let index = 0; index < count && inTime(index); index++) {
      const definition = tool("")
      Object.defineProperty(definition.function, "name", { get: () => (reads++, `tool_${index}`) })
      manager.addTool("big", definition)
    }
    expect(reads).toBe(count)
    let found = 0
    for (let index = 0; index < 2 * count && inTime(index); index++) {
      if (manager.isToolInGroups(`tool_${index}`, ["none", "big"]) && manager.getToolGroup(`tool_${index}`)) found++
    }
    expect(found).toBe(count)
    expect(reads).toBe(count)
  })
})

/** Small pools, so that ids meet, tools are shared and prototype names are common. */
const ids = fc.constantFrom("a", "b", "ab", "a_", "__proto__", "constructor", "toString", "hasOwnProperty")
const toolNames = fc.constantFrom("a", "read", "read_", "Read", "write", "__proto__", "constructor", "toString")
const tools = fc.array(fc.tuple(toolNames, fc.string()), { maxLength: 6 }).map((all) => all.map((one) => tool(...one)))
const definitions = fc.record({ description: fc.string(), tools })
const registrations = fc.array(fc.tuple(ids, definitions), { minLength: 1, maxLength: 8 })

function law<T>(title: string, arbitrary: fc.Arbitrary<T>, holds: (value: T) => void): void {
  it(title, () => {
    let runs = 0
    const property = fc.property(arbitrary, (value) => {
      runs++
      holds(value)
    })
    fc.assert(property, { numRuns: 200 })
    expect(runs).toBeGreaterThanOrEqual(100)
  })
}

function registered(all: [string, ToolGroupDefinition][]) {
  const manager = empty()
  for (const [id, definition] of all) manager.registerGroup(id, definition)
  return { manager, last: new Map(all) }
}
const namesIn = (definition: ToolGroupDefinition | undefined) => new Set(definition?.tools.map(nameOf))

describe("laws", () => {
  law("[S0-68] [S0-86] [S0-85] a registered group is there and each of its tools leads to it", registrations, (all) => {
    const manager = empty()
    for (const [id, definition] of all) {
      expect(manager.registerGroup(id, definition).ok).toBe(true)
      expect(manager.hasGroup(id)).toBe(true)
      for (const name of namesIn(definition)) {
        expect(manager.getToolGroup(name)).toBe(id)
        expect(manager.isToolInGroups(name, [id])).toBe(true)
      }
    }
  })

  law("[S0-69] an unregistered group is gone and none of its tools leads to it", registrations, (all) => {
    const { manager, last } = registered(all)
    for (const [id, definition] of last) {
      expect(manager.unregisterGroup(id)).toEqual({ ok: true })
      expect(manager.hasGroup(id)).toBe(false)
      for (const name of namesIn(definition)) {
        const others = manager.getAllGroupIds().filter((other) => namesIn(last.get(other)).has(name))
        const owner = manager.getToolGroup(name)
        expect(owner === null ? others : others.includes(owner)).toEqual(owner === null ? [] : true)
      }
    }
    expect(manager.getAllToolNames()).toEqual([])
  })

  const reservedIds = fc.constantFrom(...new ToolGroupManager().getAllGroupIds())
  law(
    "[S0-70] whatever is registered under a reserved id is refused and changes nothing",
    fc.tuple(reservedIds, fc.oneof(definitions, fc.anything()), fc.boolean()),
    ([id, definition, isReserved]) => {
      const manager = new ToolGroupManager()
      const before = manager.listGroups()
      const result = manager.registerGroup(id, definition as ToolGroupDefinition, isReserved)
      expect(result).toEqual({ ok: false, error: "reserved_group_id" })
      expect(manager.listGroups()).toEqual(before)
    },
  )

  const asked = fc.tuple(registrations, fc.array(ids))
  law(
    "[S0-71] [S0-73] [S0-87] the definitions of groups are all of their tools and no others",
    asked,
    ([all, some]) => {
      const { manager, last } = registered(all)
      const expected = new Set(some.flatMap((id) => [...namesIn(last.get(id))]))
      expect(new Set(manager.getToolDefinitions(some).map(nameOf))).toEqual(expected)
    },
  )

  law("[S0-72] no name comes twice in the definitions of any groups", asked, ([all, some]) => {
    const names = registered(all).manager.getToolDefinitions(some).map(nameOf)
    expect(names).toEqual([...new Set(names)])
  })

  law("a tool outside the groups is never said to be in them", fc.tuple(asked, toolNames), ([[all, some], name]) => {
    const { manager, last } = registered(all)
    const inside = some.some((id) => namesIn(last.get(id)).has(name))
    expect(manager.isToolInGroups(name, some)).toBe(inside)
  })

  law("[S0-75] every row and every group has its id, its description and the right count", registrations, (all) => {
    const { manager, last } = registered(all)
    expect(manager.listGroups().map((row) => row.id)).toEqual([...last.keys()])
    for (const row of manager.listGroups()) {
      const names = [...namesIn(last.get(row.id))]
      const { id, description } = { id: row.id, description: last.get(row.id)?.description }
      expect(row).toEqual({ id, description, tools: names, toolCount: names.length, isReserved: false })
      expect(manager.getGroup(id)).toMatchObject({ id, description, toolCount: names.length })
    }
  })

  law(
    "[S0-12] whatever is given, registering answers and does not throw",
    fc.tuple(ids, fc.anything()),
    ([id, any]) => {
      const manager = empty()
      const wild = [any, { tools: [any] }, { description: any, tools: [{ function: any }] }] as ToolGroupDefinition[]
      for (const definition of wild) {
        const { ok, error } = manager.registerGroup(id, definition)
        expect(error).toBe(ok ? undefined : "invalid_group_def")
      }
    },
  )
})

type Changes = Pick<
  ToolGroupManager,
  "registerGroup" | "unregisterGroup" | "updateGroupTools" | "addTool" | "removeTool"
>

/** The manager as one would write it without a thought for speed: one list of who defined what, and when. */
class NaiveGroups implements Changes {
  groups: { id: string; description: string; isReserved: boolean }[] = []
  entries: { id: string; name: string; definition: ToolDefinition; stamp: number }[] = []
  stamp = 0

  registerGroup(id: string, { description, tools: listed }: ToolGroupDefinition, isReserved = false): GroupResult {
    const known = this.groups.find((one) => one.id === id)
    if (known?.isReserved) return { ok: false, error: "reserved_group_id" }
    if (known === undefined) this.groups.push({ id, description, isReserved })
    else Object.assign(known, { description, isReserved })
    this.updateGroupTools(id, listed)
    return known === undefined ? { ok: true } : { ok: true, warning: "duplicate_group_id" }
  }
  unregisterGroup(id: string): GroupResult {
    const known = this.groups.find((one) => one.id === id)
    if (known === undefined) return { ok: false, error: "group_not_found" }
    if (known.isReserved) return { ok: false, error: "cannot_unregister_reserved" }
    this.groups = this.groups.filter((one) => one !== known)
    this.entries = this.entries.filter((one) => one.id !== id)
    return { ok: true }
  }
  updateGroupTools(id: string, listed: readonly ToolDefinition[]): GroupResult {
    if (!this.groups.some((one) => one.id === id)) return { ok: false, error: "group_not_found" }
    this.entries = this.entries.filter((one) => one.id !== id)
    for (const definition of listed) if (this.at(id, nameOf(definition)) === undefined) this.addTool(id, definition)
    return { ok: true }
  }
  addTool(id: string, definition: ToolDefinition): GroupResult {
    if (!this.groups.some((one) => one.id === id)) this.groups.push({ id, description: "", isReserved: false })
    const entry = { id, name: nameOf(definition), definition, stamp: this.stamp++ }
    const known = this.at(id, entry.name)
    if (known === undefined) this.entries.push(entry)
    else Object.assign(known, entry)
    return { ok: true }
  }
  removeTool(id: string, name: string): GroupResult {
    if (!this.groups.some((one) => one.id === id)) return { ok: false, error: "group_not_found" }
    const known = this.at(id, name)
    this.entries = this.entries.filter((one) => one !== known)
    return known === undefined ? { ok: false, error: "tool_not_found" } : { ok: true }
  }
  at(id: string, name: string) {
    return this.entries.find((one) => one.id === id && one.name === name)
  }
  owner(name: string): string | null {
    const owners = this.entries.filter((one) => one.name === name)
    return owners.toSorted((one, other) => one.stamp - other.stamp).at(-1)?.id ?? null
  }
  definitions(id: string): ToolDefinition[] {
    return this.entries.filter((one) => one.id === id).map((one) => one.definition)
  }
}

type Command = { text: string; run: (groups: Changes) => GroupResult }
const command = (text: string, run: Command["run"]): Command => ({ text, run })
const rarely = fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0)
const commands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .tuple(ids, definitions, rarely)
    .map(([id, ...rest]) => command(`register ${id}`, (groups) => groups.registerGroup(id, ...rest))),
  ids.map((id) => command(`unregister ${id}`, (groups) => groups.unregisterGroup(id))),
  fc.tuple(ids, tools).map(([id, all]) => command(`update ${id}`, (groups) => groups.updateGroupTools(id, all))),
  fc.tuple(ids, toolNames, fc.string()).map(([id, name, description]) => {
    const definition = tool(name, description)
    return command(`add ${name} to ${id}`, (groups) => groups.addTool(id, definition))
  }),
  fc
    .tuple(ids, toolNames)
    .map(([id, name]) => command(`remove ${name} from ${id}`, (groups) => groups.removeTool(id, name))),
)

describe("any history", () => {
  const histories = fc.array(commands, { maxLength: 30 })
  law("[C-45] after any history the manager says what a naive one says", histories, (history) => {
    const manager = empty()
    const model = new NaiveGroups()
    for (const { text, run } of history) {
      const before = manager.version
      const result = run(manager)
      expect(result, text).toEqual(run(model))
      expect(manager.version - before, text).toBe(result.ok ? 1 : 0)
      expect(manager.getAllGroupIds()).toEqual(model.groups.map((one) => one.id))
      for (const { id, description, isReserved } of model.groups) {
        const kept = model.definitions(id)
        expect(manager.getGroup(id)).toMatchObject({ id, description, isReserved, toolCount: kept.length })
        expect(manager.getToolDefinitions([id])).toEqual(kept)
      }
      const names = new Set(model.entries.map((entry) => entry.name))
      expect(new Set(manager.getAllToolNames())).toEqual(names)
      for (const name of [...names, "missing"]) {
        expect(manager.getToolGroup(name), name).toBe(model.owner(name))
        const owners = model.groups.filter(({ id }) => manager.isToolInGroups(name, [id]))
        expect(owners).toEqual(model.groups.filter(({ id }) => model.at(id, name) !== undefined))
      }
    }
  })
})
