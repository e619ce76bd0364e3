import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { builtinGroups } from "./builtin-groups.ts"
import { silentLogger, type Logger } from "../core/logger.ts"
import { ToolGroupManager } from "./groups.ts"
import type { GroupChange, ToolDefinition, ToolGroupDefinition } from "./groups.ts"
import {
  toolDefinition,
  emptyGroups,
  nameOf,
  someGroupId,
  someToolName,
  someGroupDefinition,
} from "./testing/groups.ts"

const group = (description: string, ...names: string[]): ToolGroupDefinition => ({
  description,
  tools: names.map((name) => toolDefinition(name)),
})

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
    ["org_management", "组织管理工具"],
    ["artifact", "工件管理工具"],
    ["workspace", "工作空间工具"],
    ["command", "命令执行工具"],
    ["network", "网络工具"],
    ["context", "上下文管理工具"],
    ["console", "控制台工具"],
    ["code", "代码工具"],
    ["databases", "数据库工具"],
    ["data", "数据处理工具"],
    ["system", "系统工具"],
    ["interaction", "交互工具"],
    ["todo", "任务清单工具"],
    ["pipeline", "流水线工具"],
  ])("the group %s is there from the start, in Chinese as %s", (id, description) => {
    const manager = new ToolGroupManager({ language: "zh" })
    expect(manager.getGroup(id)).toMatchObject({ id, description, tools: [], toolCount: 0, isReserved: true })
  })

  it("describes the groups in English unless another language is given", () => {
    const described = new ToolGroupManager().listGroups().map(({ description }) => description)
    for (const description of described) expect(description).toMatch(/^[\x20-\x7e]+$/)
    expect(new Set(described).size).toBe(builtinGroups.length)
  })

  it("the built-in groups register themselves and nothing else is there", () => {
    const manager = new ToolGroupManager()
    const seven = "org_management artifact workspace command network context console"
    expect(manager.getAllGroupIds().slice(0, 7).join(" ")).toBe(seven)
    expect(manager.getGroupCount()).toBe(builtinGroups.length)
    expect(manager.listGroups().every((row) => row.isReserved)).toBe(true)
    expect(manager.getAllToolNames()).toEqual([])
  })

  it("options may be left out, a logger may be given, and the built-ins may be declined", () => {
    expect(new ToolGroupManager().getGroupCount()).toBe(builtinGroups.length)
    expect(new ToolGroupManager({ registerBuiltins: true }).getGroupCount()).toBe(builtinGroups.length)
    const { logger, warnings } = listening()
    const manager = new ToolGroupManager({ logger, registerBuiltins: false })
    expect(manager.getGroupCount()).toBe(0)
    expect(manager.getToolDefinitions(["workspace"])).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('{"groupId":"workspace"}')])
    expect(() => emptyGroups().getToolDefinitions(["workspace"])).not.toThrow()
  })

  it("reserved ids cannot be taken or removed, but their tools can be filled in", () => {
    const manager = new ToolGroupManager()
    expect(manager.isReservedGroup("workspace")).toBe(true)
    expect(manager.registerGroup("workspace", group("mine"))).toEqual({ ok: false, error: "reserved_group_id" })
    expect(manager.unregisterGroup("workspace")).toEqual({ ok: false, error: "cannot_unregister_reserved" })
    expect(manager.updateGroupTools("workspace", [toolDefinition("read_file")])).toEqual({ ok: true })
    expect(manager.getGroup("workspace")).toMatchObject({
      description: "Files in the workspace",
      toolCount: 1,
      isReserved: true,
    })
  })

  it("a group registered as reserved is refused to everyone after it", () => {
    const manager = emptyGroups()
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
  it("groups come, change, answer and go", () => {
    const manager = emptyGroups()
    expect(manager.registerGroup("chrome", group("Chrome 浏览器控制工具", "open", "close"))).toEqual({ ok: true })
    expect(manager.isReservedGroup("chrome")).toBe(false)
    expect(manager.getToolDefinitions(["chrome"]).map(nameOf)).toEqual(["open", "close"])
    expect(manager.updateGroupTools("chrome", [toolDefinition("click")])).toEqual({ ok: true })
    expect(manager.getAllToolNames()).toEqual(["click"])
    expect(manager.unregisterGroup("chrome")).toEqual({ ok: true })
    expect(manager.getGroup("chrome")).toBeNull()
  })

  it("a group has one id and a list of tools", () => {
    const manager = emptyGroups()
    manager.registerGroup("chrome", group("Chrome", "open"))
    expect(manager.getAllGroupIds()).toEqual(["chrome"])
    expect(manager.getGroup("chrome")?.tools.map(nameOf)).toEqual(["open"])
  })

  it("a group can come while others are in use", () => {
    const manager = new ToolGroupManager()
    expect(manager.isToolInGroups("late", manager.getAllGroupIds())).toBe(false)
    expect(manager.registerGroup("plugin", group("Late", "late"))).toEqual({ ok: true })
    expect(manager.isToolInGroups("late", manager.getAllGroupIds())).toBe(true)
  })

  it("an existing group is replaced whole, with a warning in the answer and in the log", () => {
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
  ])("a definition with %s is refused and changes nothing", (_, definition) => {
    const manager = emptyGroups()
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

  it("an id must be a text with something in it", () => {
    const manager = emptyGroups()
    for (const id of ["", undefined, null, 7, {}, Symbol("id")]) {
      expect(manager.registerGroup(id as string, group("x"))).toEqual({ ok: false, error: "invalid_group_def" })
      expect(manager.addTool(id as string, toolDefinition("x"))).toEqual({ ok: false, error: "invalid_group_def" })
    }
    expect(manager.getGroupCount()).toBe(0)
  })

  it("tools without a name are left out and counted in a warning", () => {
    const { logger, warnings } = listening()
    const manager = new ToolGroupManager({ logger, registerBuiltins: false })
    const nameless = [null, undefined, 3, {}, { function: {} }, { function: { name: "" } }, { function: { name: 4 } }]
    const tools = [toolDefinition("named"), ...(nameless as ToolDefinition[])]
    expect(manager.registerGroup("mixed", { description: "", tools })).toEqual({ ok: true })
    expect(manager.getGroup("mixed")?.toolCount).toBe(1)
    expect(warnings).toEqual([expect.stringContaining('"nameless":7')])
    expect(manager.addTool("mixed", {} as ToolDefinition)).toEqual({ ok: false, error: "invalid_group_def" })
  })

  it("only an unreserved group that exists can be unregistered", () => {
    const manager = new ToolGroupManager()
    expect(manager.unregisterGroup("nothing")).toEqual({ ok: false, error: "group_not_found" })
    expect(manager.unregisterGroup("console")).toEqual({ ok: false, error: "cannot_unregister_reserved" })
    manager.registerGroup("plugin", group("Plugin"))
    expect(manager.unregisterGroup("plugin")).toEqual({ ok: true })
    expect(manager.unregisterGroup("plugin")).toEqual({ ok: false, error: "group_not_found" })
  })

  it("updating the tools keeps the id, the description and the day, and needs a group and a list", () => {
    const manager = emptyGroups()
    manager.registerGroup("plugin", group("Plugin", "old"))
    const before = manager.getGroup("plugin")
    expect(manager.updateGroupTools("plugin", [toolDefinition("new")])).toEqual({ ok: true })
    expect(manager.getGroup("plugin")).toEqual({ ...before, tools: [toolDefinition("new")], toolCount: 1 })
    expect(manager.updateGroupTools("nothing", [])).toEqual({ ok: false, error: "group_not_found" })
    const broken = manager.updateGroupTools("plugin", null as unknown as ToolDefinition[])
    expect(broken).toEqual({ ok: false, error: "invalid_group_def" })
    expect(manager.getAllToolNames()).toEqual(["new"])
  })

  it("a list changed by its owner afterwards changes nothing here, and an answer changed by a reader neither", () => {
    const manager = emptyGroups()
    const tools = [toolDefinition("a")]
    manager.registerGroup("plugin", { description: "", tools })
    tools.push(toolDefinition("b"))
    manager.listGroups()[0]?.tools.push("c")
    manager.getToolDefinitions(["plugin"]).pop()
    manager.getAllGroupIds().pop()
    expect(manager.listGroups()).toMatchObject([{ id: "plugin", toolCount: 1, tools: ["a"] }])
  })
})

describe("asking", () => {
  it("a group carries its id, description, definitions, standing and the day it came", () => {
    const manager = emptyGroups()
    const definition = toolDefinition("open")
    manager.registerGroup("chrome", { description: "Chrome", tools: [definition] }, true)
    const { registeredAt, ...rest } = manager.getGroup("chrome") ?? expect.fail("no group")
    expect(rest).toEqual({ id: "chrome", description: "Chrome", tools: [definition], toolCount: 1, isReserved: true })
    expect(new Date(registeredAt).toISOString()).toBe(registeredAt)
  })

  it("definitions are handed on as they are, and parameters are not read before someone asks", () => {
    let reads = 0
    const lazy = Object.defineProperty({ name: "lazy", description: "Is lazy.", parameters: {} }, "parameters", {
      get: () => ({ reads: ++reads }),
    })
    const definition: ToolDefinition = { type: "function", function: lazy }
    const manager = emptyGroups()
    manager.registerGroup("a", { description: "", tools: [definition] })
    manager.updateGroupTools("a", [definition])
    manager.addTool("a", definition)
    expect(manager.getToolDefinitions(["a"])[0]).toBe(definition)
    expect(manager.getGroup("a")?.tools[0]).toBe(definition)
    expect(reads).toBe(0)
  })

  it("several groups are merged, the first definition wins and an unknown group is skipped", () => {
    const { logger, warnings } = listening()
    const manager = new ToolGroupManager({ logger, registerBuiltins: false })
    const [first, second] = [toolDefinition("shared", "first"), toolDefinition("shared", "second")]
    manager.registerGroup("a", {
      description: "",
      tools: [toolDefinition("only_a"), first, toolDefinition("shared", "again")],
    })
    manager.registerGroup("b", { description: "", tools: [second, toolDefinition("only_b")] })
    expect(manager.getToolDefinitions(["a", "gone", "b", "a"]).map(nameOf)).toEqual(["only_a", "shared", "only_b"])
    expect(manager.getToolDefinitions(["a", "b"])[1]).toBe(first)
    expect(manager.getToolDefinitions(["b", "a"])[0]).toBe(second)
    expect(manager.getToolDefinitions([])).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('{"groupId":"gone"}')])
  })

  it("the list has a row for each group, in the order they came", () => {
    const manager = emptyGroups()
    manager.registerGroup("b", group("Bees", "buzz", "sting"))
    manager.registerGroup("a", group("Ants"), true)
    manager.registerGroup("b", group("Bees again", "buzz"))
    expect(manager.listGroups()).toEqual([
      { id: "b", description: "Bees again", toolCount: 1, tools: ["buzz"], isReserved: false },
      { id: "a", description: "Ants", toolCount: 0, tools: [], isReserved: true },
    ])
  })

  it("a tool leads to its group, an unknown tool to null", () => {
    const manager = emptyGroups()
    manager.registerGroup("chrome", group("Chrome", "open"))
    expect(manager.getToolGroup("open")).toBe("chrome")
    expect(manager.getToolGroup("Open")).toBeNull()
    expect(manager.getToolGroup("chrome")).toBeNull()
  })

  it("a tool is in the groups when any of them has it", () => {
    const manager = emptyGroups()
    manager.registerGroup("a", group("", "one"))
    manager.registerGroup("b", group("", "two"))
    expect(manager.isToolInGroups("one", ["b", "gone", "a"])).toBe(true)
    expect(manager.isToolInGroups("one", ["b", "gone"])).toBe(false)
    expect(manager.isToolInGroups("one", [])).toBe(false)
    expect(manager.isToolInGroups("three", ["a", "b"])).toBe(false)
  })

  it("all ids, the count, all tool names and the tools of one group can be asked for", () => {
    const manager = emptyGroups()
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

  it("a tool of two groups belongs to the later one and falls back to the earlier", () => {
    const manager = emptyGroups()
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
    const manager = emptyGroups()
    const [old, fresh] = [toolDefinition("open", "old"), toolDefinition("open", "fresh")]
    expect(manager.addTool("chrome", old)).toEqual({ ok: true })
    expect(manager.addTool("other", toolDefinition("open"))).toEqual({ ok: true })
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
      () => manager.addTool("a", toolDefinition("z")),
      () => manager.removeTool("a", "z"),
      () => manager.addTool("b", toolDefinition("z")),
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
})
const registrations = fc.array(fc.tuple(someGroupId, someGroupDefinition), { minLength: 1, maxLength: 8 })

function registered(all: [string, ToolGroupDefinition][]) {
  const manager = emptyGroups()
  for (const [id, definition] of all) manager.registerGroup(id, definition)
  return { manager, last: new Map(all) }
}
const namesIn = (definition: ToolGroupDefinition | undefined) => new Set(definition?.tools.map(nameOf))

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

describe("laws", () => {
  law("a registered group is there and each of its tools leads to it", registrations, (all) => {
    const manager = emptyGroups()
    for (const [id, definition] of all) {
      expect(manager.registerGroup(id, definition).ok).toBe(true)
      expect(manager.hasGroup(id)).toBe(true)
      for (const name of namesIn(definition)) {
        expect(manager.getToolGroup(name)).toBe(id)
        expect(manager.isToolInGroups(name, [id])).toBe(true)
      }
    }
  })

  law("an unregistered group is gone and none of its tools leads to it", registrations, (all) => {
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
    "whatever is registered under a reserved id is refused and changes nothing",
    fc.tuple(reservedIds, fc.oneof(someGroupDefinition, fc.anything()), fc.boolean()),
    ([id, definition, isReserved]) => {
      const manager = new ToolGroupManager()
      const before = manager.listGroups()
      const result = manager.registerGroup(id, definition as ToolGroupDefinition, isReserved)
      expect(result).toEqual({ ok: false, error: "reserved_group_id" })
      expect(manager.listGroups()).toEqual(before)
    },
  )

  const asked = fc.tuple(registrations, fc.array(someGroupId))
  law("the definitions of groups are all of their tools and no others", asked, ([all, some]) => {
    const { manager, last } = registered(all)
    const expected = new Set(some.flatMap((id) => [...namesIn(last.get(id))]))
    expect(new Set(manager.getToolDefinitions(some).map(nameOf))).toEqual(expected)
  })

  law("no name comes twice in the definitions of any groups", asked, ([all, some]) => {
    const names = registered(all).manager.getToolDefinitions(some).map(nameOf)
    expect(names).toEqual([...new Set(names)])
  })

  law("a tool outside the groups is never said to be in them", fc.tuple(asked, someToolName), ([[all, some], name]) => {
    const { manager, last } = registered(all)
    const inside = some.some((id) => namesIn(last.get(id)).has(name))
    expect(manager.isToolInGroups(name, some)).toBe(inside)
  })

  law("every row and every group has its id, its description and the right count", registrations, (all) => {
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
    "whatever is given, registering answers and does not throw",
    fc.tuple(someGroupId, fc.anything()),
    ([id, any]) => {
      const manager = emptyGroups()
      const wild = [any, { tools: [any] }, { description: any, tools: [{ function: any }] }] as ToolGroupDefinition[]
      for (const definition of wild) {
        const { ok, error } = manager.registerGroup(id, definition)
        expect(error).toBe(ok ? undefined : "invalid_group_def")
      }
    },
  )
})
