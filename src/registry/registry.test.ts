import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { defineTool } from "../schema/define-tool.ts"
import { ToolNotFoundError } from "../core/errors.ts"
import { silentLogger, type Logger } from "../core/logger.ts"
import type { AgentView } from "../core/organisation.ts"
import type { Effect, LevelOrder, Permission, ToolPermission } from "../core/permission.ts"
import { ToolCategory, type Layer, type RegisteredTool, type ToolSpec } from "../core/tool.ts"
import type { ToolFilter } from "./tool-filter.ts"
import { ToolRegistry, type RegistryOptions } from "./registry.ts"
import { makeTool, emptyRegistry, listNames, agent } from "./testing/registry.ts"

describe("registration", () => {
  it("a registered tool has its place: id, type, layer, and it is switched on", () => {
    const tool = emptyRegistry().register(makeTool("read_file", { version: "2.1.0" }))
    expect(tool).toMatchObject({
      id: "system:read_file@2.1.0",
      name: "read_file",
      type: "custom",
      layer: "system",
      enabled: true,
    })
    const other = emptyRegistry().register(makeTool("read_file"), { layer: "department:sales", type: "builtin" })
    expect(other).toMatchObject({ id: "department:sales:read_file@1.0.0", type: "builtin", layer: "department:sales" })
  })

  it("a second tool of the same name, version and layer is an error that says what to do", () => {
    const registry = emptyRegistry()
    const first = registry.register(makeTool("read_file", { description: "The first." }))
    expect(() => registry.register(makeTool("read_file"))).toThrow(
      "Tool 'read_file' already registered (version 1.0.0, layer system). Pass replace: true, or give it another version.",
    )
    expect(registry.get("read_file")).toBe(first)
    expect(registry.list()).toHaveLength(1)
  })

  it("a replaced tool is gone, also from the group it was in", () => {
    const registry = emptyRegistry()
    registry.register(makeTool("read_file", { group: "old" }))
    const second = registry.register(makeTool("read_file", { group: "new" }), { replace: true })
    expect(registry.list()).toEqual([second])
    expect(registry.inGroups(second, ["old"])).toBe(false)
    expect(registry.inGroups(second, ["new"])).toBe(true)
    expect([...registry.groups.toolNamesOf("old")]).toEqual([])
  })

  it("saying replace when there is nothing to replace is no error", () => {
    expect(emptyRegistry().register(makeTool("a"), { replace: true }).name).toBe("a")
  })

  it("is told to the log", () => {
    const lines: string[] = []
    const logger: Logger = { ...silentLogger, info: (message) => lines.push(message) }
    emptyRegistry({ logger }).register(makeTool("read_file"))
    expect(lines).toEqual(["Tool registered: read_file"])
    const many = emptyRegistry({ logger })
    many.registerMany([makeTool("a"), makeTool("b"), makeTool("c")])
    expect(lines.slice(1)).toEqual(["3 tools registered."])
  })

  it("tools come and go while others run, and everyone is told", () => {
    const told: string[] = []
    const registry = emptyRegistry({ onChange: (tool, change) => told.push(`${change} ${tool.id}`) })
    const versions = [registry.version]
    const step = (act: () => unknown) => {
      act()
      versions.push(registry.version)
    }
    step(() => registry.register(makeTool("a")))
    step(() => registry.register(makeTool("a"), { layer: "agent:ada" }))
    step(() => registry.register(makeTool("a"), { replace: true }))
    step(() => registry.unregister("a"))
    step(() => registry.groups.registerGroup("other", { description: "", tools: [] }))
    expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other))
    expect(told).toEqual([
      "registered system:a@1.0.0",
      "registered agent:ada:a@1.0.0",
      "registered system:a@1.0.0",
      "unregistered system:a@1.0.0",
    ])
  })

  it("a listener that fails does not undo the change", () => {
    const errors: string[] = []
    const logger: Logger = { ...silentLogger, error: (message) => errors.push(message) }
    const onChange = () => {
      throw new Error("No.")
    }
    const registry = emptyRegistry({ logger, onChange })
    expect(listNames(registry.registerMany([makeTool("a"), makeTool("b")]))).toEqual(["a", "b"])
    expect(registry.unregister("a")).toBe(true)
    expect(listNames(registry.list())).toEqual(["b"])
    expect(errors).toHaveLength(3)
  })
})

describe("registration of many", () => {
  it("registers all of them, in their order", () => {
    const registry = emptyRegistry()
    const options = { type: "builtin", layer: "agent:ada" } as const
    const done = registry.registerMany([makeTool("b"), makeTool("a"), makeTool("a", { version: "2.0.0" })], options)
    expect(done.map((tool) => tool.id)).toEqual(["agent:ada:b@1.0.0", "agent:ada:a@1.0.0", "agent:ada:a@2.0.0"])
    expect(done.every((tool) => tool.type === "builtin")).toBe(true)
    expect(registry.registerMany([])).toEqual([])
  })

  it.each([
    ["one is there already", ["a", "known", "b"]],
    ["two are the same", ["a", "b", "a"]],
  ])("registers none when %s", (_, wanted) => {
    const told: string[] = []
    const registry = emptyRegistry({ onChange: (tool) => told.push(tool.name) })
    const known = registry.register(makeTool("known", { group: "own" }))
    const before = registry.version
    expect(() => registry.registerMany(wanted.map((name) => makeTool(name)))).toThrow("already registered")
    expect(registry.list()).toEqual([known])
    expect(registry.groups.listGroups().map((group) => group.id)).toEqual(["own"])
    expect([told, registry.version]).toEqual([["known"], before])
  })

  it("replaces many, and a list with a hole replaces none", () => {
    const registry = emptyRegistry()
    const first = registry.registerMany([makeTool("a"), makeTool("b")])
    expect(() => registry.registerMany([makeTool("a"), undefined as never], { replace: true })).toThrow(TypeError)
    expect(registry.list()).toEqual(first)
    const second = registry.registerMany([makeTool("a"), makeTool("b")], { replace: true })
    expect(registry.list()).toEqual(second)
    expect(registry.list()[0]).not.toBe(first[0])
  })
})

describe("taking away", () => {
  it("says whether there was anything, and leaves nothing behind", () => {
    const registry = emptyRegistry()
    registry.register(makeTool("a"))
    expect(registry.unregister("b")).toBe(false)
    expect(registry.unregister("a", { layer: "agent:ada" })).toBe(false)
    expect(registry.unregister("a", { version: "9.9.9" })).toBe(false)
    expect(registry.unregister("a")).toBe(true)
    expect(registry.has("a")).toBe(false)
    expect([...registry.names()]).toEqual([])
    expect(registry.groups.getToolGroup("a")).toBeNull()
    expect(registry.unregister("a")).toBe(false)
  })

  it("takes one version or all of a layer, and other layers stay", () => {
    const registry = emptyRegistry()
    for (const version of ["1.0.0", "2.0.0", "3.0.0"]) registry.register(makeTool("a", { version }))
    registry.register(makeTool("a"), { layer: "agent:ada" })
    registry.unregister("a", { version: "3.0.0" })
    expect(registry.get("a")?.version).toBe("2.0.0")
    registry.unregister("a")
    expect(registry.list().map((tool) => tool.id)).toEqual(["agent:ada:a@1.0.0"])
    expect(registry.resolve("a", agent())?.layer).toBe("agent:ada")
    registry.unregister("a", { layer: "agent:ada" })
    expect(registry.list()).toEqual([])
  })

  it("uncovers what was hidden, as it was", () => {
    const registry = emptyRegistry()
    const system = registry.register(makeTool("a"))
    registry.register(makeTool("a"), { layer: "agent:ada" })
    expect(registry.resolve("a", agent())).not.toBe(system)
    registry.unregister("a", { layer: "agent:ada" })
    expect(registry.resolve("a", agent())).toBe(system)
  })
})

describe("looking up", () => {
  const registry = emptyRegistry()
  const tool = registry.register(makeTool("read_file"))

  it("get and getTool know nothing of a missing tool, and say so with undefined", () => {
    expect(registry.get("read_file")).toBe(tool)
    expect(registry.getTool("read_file")).toBe(tool)
    expect(registry.get("file_read")).toBeUndefined()
    expect(registry.getTool("file_read")).toBeUndefined()
  })

  it("require throws ToolNotFoundError", () => {
    expect(registry.require("read_file")).toBe(tool)
    expect(() => registry.require("file_read")).toThrow(ToolNotFoundError)
    expect(() => registry.require("file_read")).toThrow('Tool "file_read" not found')
    expect(() => registry.require("file_read")).toThrow(expect.objectContaining({ code: "unknown_tool" }))
  })

  it("there is one ToolRegistry, and it understands the words of S2 and of S4", () => {
    const [s2, s4] = [registry.getTool("read_file"), registry.get("read_file")]
    expect(s2).toBe(s4)
    expect(registry.getToolDescriptions()).toEqual(registry.toLLMTools({ format: "flat" }))
  })

  it("has says yes or no", () => {
    expect([registry.has("read_file"), registry.has("file_read")]).toEqual([true, false])
  })

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])(
    "%s is a name like any other",
    (name) => {
      const registry = emptyRegistry({ permissions: {}, enabled: undefined })
      registry.register(makeTool("a"))
      expect(registry.get(name)).toBeUndefined()
      expect(registry.resolve(name, agent())).toBeUndefined()
      expect(() => registry.require(name)).toThrow(ToolNotFoundError)
      expect(registry.unregister(name)).toBe(false)
      registry.register(makeTool(name))
      expect(registry.resolve(name, agent({ pins: {} }))?.name).toBe(name)
      expect(registry.resolve(name, agent({ department: name }))?.permission.level).toBe("sensitive")
      registry.register(makeTool(name), { layer: "agent:ada" })
      expect(registry.resolve(name, agent())?.layer).toBe("agent:ada")
      registry.count(registry.require(name), 5, undefined)
      expect(Object.keys(registry.getStats().callStats)).toEqual([name])
      expect(registry.unregister(name)).toBe(true)
    },
  )

  it.each(["", "@", "read_file@", "@1.0.0", "read_file@1.0.0@1.0.0", "read_file ", "READ_FILE"])(
    "%j is no tool",
    (written) => {
      expect(registry.get(written)).toBeUndefined()
    },
  )
})

describe("lists", () => {
  const registry = emptyRegistry()
  const tagged = (name: string, category: ToolCategory, tags: string[], group = "test") =>
    makeTool(name, { category, tags, group })
  registry.registerMany(
    [
      tagged("read", "file", ["io", "safe"]),
      tagged("write", "file", ["io"], "writing"),
      tagged("grep", "search", ["safe"]),
    ],
    { type: "builtin" },
  )
  registry.register(tagged("mcp:github:search", "search", ["io", "remote"]), { type: "mcp" })
  registry.register(tagged("report", "file", []), { layer: "department:sales" })
  registry.register(makeTool("read", { version: "2.0.0", category: "file" }))

  it("list gives every tool of every layer and version, in the order of their names", () => {
    const ids = registry.list().map((tool) => tool.id)
    expect(ids).toEqual([
      "system:grep@1.0.0",
      "system:mcp:github:search@1.0.0",
      "system:read@1.0.0",
      "system:read@2.0.0",
      "department:sales:report@1.0.0",
      "system:write@1.0.0",
    ])
  })

  it.each<[string, ToolFilter, string[]]>([
    ["a category", { category: "search" }, ["grep", "mcp:github:search"]],
    ["a type", { type: "mcp" }, ["mcp:github:search"]],
    ["a group", { group: "writing" }, ["write"]],
    ["a tag", { tags: ["io"] }, ["mcp:github:search", "read", "write"]],
    ["all tags", { tags: ["safe", "io"] }, ["read"]],
    ["a layer", { layer: "department:sales" }, ["report"]],
    ["a version", { version: "2.0.0" }, ["read"]],
    ["nothing", {}, ["grep", "mcp:github:search", "read", "read", "report", "write"]],
    ["a category and a type", { category: "search", type: "builtin" }, ["grep"]],
    ["a category, tags and a type", { category: "file", tags: ["io"], type: "builtin" }, ["read", "write"]],
    ["what no tool has all of", { category: "file", type: "mcp" }, []],
  ])("by %s", (_, filter, expected) => {
    expect(listNames(registry.list(filter))).toEqual(expected)
  })

  it("every part of a filter counts, whatever parts there are", () => {
    const filters = fc.record<ToolFilter>(
      {
        category: fc.constantFrom("file", "search", "data"),
        type: fc.constantFrom("builtin", "mcp", "custom"),
        group: fc.constantFrom("test", "writing"),
        tags: fc.subarray(["io", "safe", "remote"]),
        layer: fc.constantFrom("system", "department:sales"),
        version: fc.constantFrom("1.0.0", "2.0.0"),
      },
      { requiredKeys: [] },
    )
    const law = fc.property(filters, (filter) => {
      const single = Object.entries(filter).map(([key, value]) => new Set(registry.list({ [key]: value })))
      const expected = registry.list().filter((tool) => single.every((fits) => fits.has(tool)))
      expect(registry.list(filter)).toEqual(expected)
    })
    fc.assert(law, { numRuns: 300 })
  })

  it("by category", () => {
    expect(listNames(registry.listByCategory("search"))).toEqual(["grep", "mcp:github:search"])
    expect(registry.listByCategory("analysis")).toEqual([])
  })

  it("by tags, all of them or any; a tag gives nobody a tool", () => {
    expect(listNames(registry.listByTags(["io", "safe"]))).toEqual(["read"])
    expect(listNames(registry.listByTags(["safe", "remote"], false))).toEqual(["grep", "mcp:github:search", "read"])
    expect(registry.listByTags(["other"], false)).toEqual([])
    expect(registry.inGroups(registry.require("write"), ["io", "safe"])).toBe(false)
    expect(makeTool("bare").tags).toEqual([])
  })

  it("built-in tools are found by name among all, and listed by themselves", () => {
    expect(registry.get("grep")).toMatchObject({ name: "grep", type: "builtin" })
    expect(listNames(registry.list({ type: "builtin" }))).toEqual(["grep", "read", "write"])
    expect(listNames(registry.list({ type: "mcp" }))).toEqual(["mcp:github:search"])
    expect(listNames(registry.list({ type: "custom" }))).toEqual(["read", "report"])
  })

  it.each(["builtin", "mcp", "custom"] as const)("%s tools have one interface", (type) => {
    const one = emptyRegistry().register(makeTool("a"), { type })
    const { definitionHash: _, ...other } = emptyRegistry().register(makeTool("a"))
    expect(one.type).toBe(type)
    expect(Object.keys(one).sort()).toEqual([...Object.keys(other), "definitionHash"].sort())
  })

  it("the tools of a server are kept under its name, so that two servers never meet", () => {
    const servers = emptyRegistry()
    for (const server of ["github", "gitlab"]) {
      servers.registerMany([makeTool(`mcp:${server}:search`, { group: server })], { type: "mcp" })
    }
    expect(servers.get("mcp:github:search")).toMatchObject({ type: "mcp", group: "github" })
    expect(listNames(servers.list({ type: "mcp", group: "gitlab" }))).toEqual(["mcp:gitlab:search"])
    expect(servers.get("search")).toBeUndefined()
    expect(listNames(servers.getToolDescriptions())).toEqual(["github__search", "gitlab__search"])
  })
})

describe("what a model is shown", () => {
  it("getToolDescriptions has name, description and parameters of every system tool", () => {
    const registry = emptyRegistry()
    const input = { type: "object", properties: { path: { type: "string" } } }
    registry.registerMany([makeTool("read", { input }), makeTool("mcp:a:b", { input })])
    registry.register(makeTool("mine"), { layer: "agent:ada" })
    expect(registry.getToolDescriptions()).toEqual([
      { name: "a__b", description: "Does mcp:a:b.", parameters: input },
      { name: "read", description: "Does read.", parameters: input },
    ])
  })

  it("is the newest version of each tool, and nothing that is switched off", () => {
    const registry = emptyRegistry({ enabled: ["read"] })
    registry.registerMany([
      makeTool("read"),
      makeTool("write"),
      makeTool("read", { version: "2.0.0", description: "Newer." }),
    ])
    expect(registry.toLLMTools()).toEqual([
      { type: "function", function: { name: "read", description: "Newer.", parameters: expect.anything() } },
    ])
  })

  it("a tool is found by the name the model was shown", () => {
    const registry = emptyRegistry()
    const versions = [
      makeTool("mcp:github:search", { version: "1.0.0" }),
      makeTool("mcp:github:search", { version: "2.0.0" }),
    ]
    registry.registerMany([...versions, makeTool("mcp:a:b.c"), makeTool("mcp:a.b:c")])
    expect(registry.get("github__search")?.version).toBe("2.0.0")
    expect(registry.get("github__search@1.0.0")?.version).toBe("1.0.0")
    expect(registry.get("github__search@3.0.0")).toBeUndefined()
    expect(registry.get("a__b_c")).toMatchObject({ name: "mcp:a:b.c" })
    expect(registry.resolve("github__search", agent({ pins: { "mcp:github:search": "1.0.0" } }))?.version).toBe("1.0.0")
    registry.unregister("mcp:github:search")
    expect(registry.get("github__search")).toBeUndefined()
    registry.register(makeTool("mcp:gitlab:search"))
    expect(registry.get("gitlab__search")?.name).toBe("mcp:gitlab:search")
  })

  it("every shown name leads back to its own tool", () => {
    const pieces = fc.string({ unit: fc.constantFrom("a", "b", "_", ".", ":", "-"), minLength: 1, maxLength: 4 })
    const wild = fc.oneof(
      pieces.map((piece) => `x${piece}`),
      fc.tuple(pieces, pieces).map(([server, tool]) => `mcp:${server}:${tool}`),
    )
    const law = fc.property(fc.uniqueArray(wild, { maxLength: 10 }), (all) => {
      const registry = emptyRegistry()
      registry.registerMany(all.map((name) => makeTool(name)))
      for (const name of all) expect(registry.get(registry.wireNames().toWire(name))?.name).toBe(name)
    })
    fc.assert(law, { numRuns: 200 })
  })
})

describe("versions", () => {
  const registry = emptyRegistry()
  registry.registerMany(["1.9.0", "1.10.0", "1.2.0", "2.0.0-beta"].map((version) => makeTool("a", { version })))

  it("several versions of one tool live side by side; the newest is meant unless one is named", () => {
    expect(registry.get("a")?.version).toBe("2.0.0-beta")
    expect(registry.get("a@1.10.0")?.version).toBe("1.10.0")
    expect(registry.get("a@1.2.0")?.execute({}, {} as never)).toBe("1.2.0")
    expect(registry.get("a@1.1.0")).toBeUndefined()
    expect(registry.has("a@1.9.0")).toBe(true)
    expect(() => registry.require("a@3.0.0")).toThrow('Tool "a@3.0.0" not found')
  })

  it("a role or agent that is held to a version has that one and no other", () => {
    const held = agent({ pins: { a: "1.9.0" } })
    expect(registry.resolve("a", held)?.version).toBe("1.9.0")
    expect(registry.resolve("a@1.9.0", held)?.version).toBe("1.9.0")
    expect(registry.resolve("a@1.10.0", held)).toBeUndefined()
    expect(registry.resolve("a", agent({ pins: { b: "1.9.0" } }))?.version).toBe("2.0.0-beta")
    expect(registry.resolve("a", agent({ pins: { a: "0.0.1" } }))).toBeUndefined()
  })

  it("any set of versions gives the newest, in whatever order they came", () => {
    const one = fc.tuple(fc.nat(12), fc.nat(12)).map(([major, minor]) => `${major}.${minor}.0`)
    const sets = fc.uniqueArray(one, { minLength: 1, maxLength: 8 })
    const law = fc.property(sets, (versions) => {
      const registry = emptyRegistry()
      for (const version of versions) registry.register(makeTool("a", { version }))
      const value = (version: string) => Number(version.split(".")[0]) * 100 + Number(version.split(".")[1])
      expect(value(registry.require("a").version)).toBe(Math.max(...versions.map(value)))
    })
    fc.assert(law, { numRuns: 100 })
  })

  it("a group shows the newest version in it, whichever came last or was taken away", () => {
    const registry = emptyRegistry()
    const shown = () => registry.groups.getToolDefinitions(["test"]).map((tool) => tool.function.description)
    registry.register(makeTool("a", { version: "2.0.0", description: "Two." }))
    registry.register(makeTool("a", { version: "1.0.0", description: "One." }))
    expect(shown()).toEqual(["Two."])
    registry.register(makeTool("a", { version: "3.0.0", description: "Three.", group: "other" }))
    expect(shown()).toEqual(["Two."])
    registry.unregister("a", { version: "2.0.0" })
    expect(shown()).toEqual(["One."])
    registry.unregister("a", { version: "1.0.0" })
    expect(shown()).toEqual([])
    expect(registry.groups.getToolGroup("a")).toBe("other")
  })
})

describe("layers", () => {
  const where: Record<string, Layer> = { personal: "agent:ada", department: "department:sales", system: "system" }
  const ada = agent({ department: "sales" })

  it("personal tools hide those of the department, and these the system's", () => {
    const registry = emptyRegistry()
    for (const layer of Object.values(where)) registry.register(makeTool("report"), { layer })
    const layerFor = (who: AgentView | undefined) => registry.resolve("report", who)?.layer
    expect(layerFor(ada)).toBe("agent:ada")
    expect(layerFor(agent({ id: "bob", department: "sales" }))).toBe("department:sales")
    expect(layerFor(agent({ id: "eve", department: "law" }))).toBe("system")
    expect(layerFor(agent({ id: "eve" }))).toBe("system")
    expect(layerFor(undefined)).toBe("system")
    expect(registry.get("report")?.layer).toBe("system")
  })

  it("the same name and version may stand in every layer, once", () => {
    const registry = emptyRegistry()
    for (const layer of Object.values(where)) {
      registry.register(makeTool("report"), { layer })
      expect(() => registry.register(makeTool("report"), { layer })).toThrow(`layer ${layer}`)
    }
    expect(registry.list()).toHaveLength(3)
  })

  it("a tool of another's layer does not exist for an agent", () => {
    const registry = emptyRegistry()
    registry.register(makeTool("diary"), { layer: "agent:bob" })
    expect(registry.resolve("diary", ada)).toBeUndefined()
    expect(registry.has("diary")).toBe(false)
    expect([...registry.namesIn(null, ada)]).toEqual([])
    expect([...registry.namesIn(null, agent({ id: "bob" }))]).toEqual(["diary"])
  })

  it("a version or a pin is looked for from the top", () => {
    const registry = emptyRegistry()
    registry.registerMany([makeTool("a", { version: "1.0.0" }), makeTool("a", { version: "3.0.0" })])
    registry.register(makeTool("a", { version: "2.0.0" }), { layer: "agent:ada" })
    const found = (written: string, who = ada) => registry.resolve(written, who)?.id
    expect(found("a")).toBe("agent:ada:a@2.0.0")
    expect(found("a@3.0.0")).toBe("system:a@3.0.0")
    expect(found("a", agent({ pins: { a: "1.0.0" } }))).toBe("system:a@1.0.0")
    expect(found("a", agent({ pins: { a: "2.0.0" } }))).toBe("agent:ada:a@2.0.0")
  })

  it("a hidden tool's restrictions hold also for a version that only the upper layer has", () => {
    const registry = emptyRegistry()
    registry.register(
      makeTool("run", { group: "command", effect: "execute", permission: { allowedRoles: ["devops"] } }),
    )
    registry.register(makeTool("run", { version: "2.0.0", effect: "none" }), { layer: "agent:ada" })
    for (const written of ["run", "run@2.0.0"]) {
      const tool = registry.resolve(written, ada)!
      expect(tool.id).toBe("agent:ada:run@2.0.0")
      expect(tool.permission).toMatchObject({ level: "sensitive", allowedRoles: ["devops"] })
      expect(registry.inGroups(tool, ["test"])).toBe(false)
      expect(registry.inGroups(tool, ["test", "command"])).toBe(true)
    }
  })

  it("the same covered tool comes back each time, with its own hash", () => {
    const registry = emptyRegistry()
    const below = registry.register(makeTool("a"))
    const above = registry.register(makeTool("a", { effect: "none" }), { layer: "agent:ada" })
    const covered = registry.resolve("a", ada)!
    expect(registry.resolve("a", ada)).toBe(covered)
    expect(covered.definitionHash).not.toBe(above.definitionHash)
    expect(covered.id).toBe(above.id)
    expect(above.permission.level).toBe("public")
    expect(below.permission.level).toBe("sensitive")
  })

  it("a tool that is switched off below is switched off above", () => {
    const registry = emptyRegistry({ enabled: ["other"] })
    registry.register(makeTool("a"))
    registry.register(makeTool("a"), { layer: "agent:ada" })
    expect(registry.resolve("a", ada)?.enabled).toBe(false)
  })

  it("a tool of another layer never makes the system tool of its name visible to more groups", () => {
    const registry = emptyRegistry()
    const system = registry.register(makeTool("run", { group: "command" }))
    registry.register(makeTool("run", { group: "data" }), { layer: "agent:ada" })
    registry.register(makeTool("run", { group: "todo" }), { layer: "department:sales" })
    expect(registry.inGroups(system, ["data", "todo"])).toBe(false)
    expect(registry.inGroups(system, ["command"])).toBe(true)
    expect([...registry.namesIn(["data", "todo"], agent({ id: "eve" }))]).toEqual([])
    expect(registry.groups.hasGroup("data")).toBe(true)
    registry.unregister("run", { layer: "agent:ada" })
    expect(registry.inGroups(system, ["command"])).toBe(true)
  })
})

/** 0 is the loosest; an order per field of a permission. */
const levelRank = { public: 0, moderate: 1, sensitive: 2 }
const resultRank = { never: 0, "on-error": 1, always: 2 }
const askRank = (asks: boolean | undefined) => (asks === true ? 2 : asks === false ? 0 : 1)
const allows = (list: readonly string[], name: string) => list.length === 0 || list.includes(name)

function expectNoLooser(one: Permission, than: Permission, order: LevelOrder): void {
  expect(levelRank[one.level]).toBeGreaterThanOrEqual(levelRank[than.level])
  expect(resultRank[one.requireResultApproval]).toBeGreaterThanOrEqual(resultRank[than.requireResultApproval])
  expect(askRank(one.requireExecutionApproval)).toBeGreaterThanOrEqual(askRank(than.requireExecutionApproval))
  for (const name of ["a", "b", "c", "d"]) {
    expect(allows(one.allowedRoles, name) && !allows(than.allowedRoles, name)).toBe(false)
    expect(allows(one.allowedDepartments, name) && !allows(than.allowedDepartments, name)).toBe(false)
  }
  if (than.minLevel !== undefined) {
    const by = order === "asc" ? one.minLevel! - than.minLevel : than.minLevel - one.minLevel!
    expect(by).toBeGreaterThanOrEqual(0)
  }
  for (const window of ["maxCallsPerMinute", "maxCallsPerHour"] as const) {
    expect(one.rateLimit[window] ?? Infinity).toBeLessThanOrEqual(than.rateLimit[window] ?? Infinity)
  }
}

describe("laws of covering", () => {
  const some = fc.subarray(["a", "b", "c"])
  const small = fc.integer({ min: 0, max: 5 })
  const permissions = fc.record<ToolPermission>(
    {
      level: fc.constantFrom("public", "moderate", "sensitive"),
      requireExecutionApproval: fc.boolean(),
      requireResultApproval: fc.constantFrom("never", "on-error", "always"),
      dangerous: fc.boolean(),
      requireConfirmation: fc.boolean(),
      allowedRoles: some,
      allowedDepartments: some,
      minLevel: small,
      rateLimit: fc.record({ maxCallsPerMinute: small, maxCallsPerHour: small }, { requiredKeys: [] }),
    },
    { requiredKeys: [] },
  )
  const allGroups = ["g1", "g2", "g3"]
  const specs = fc.record({
    permission: permissions,
    effect: fc.constantFrom<Effect[]>("none", "read", "write", "execute"),
    group: fc.constantFrom(...allGroups),
    version: fc.constantFrom("1.0.0", "2.0.0"),
  })
  const layers: Layer[] = ["agent:ada", "department:sales", "system"]
  const stacks = fc.tuple(...layers.map(() => fc.option(specs, { nil: undefined, freq: 3 })))
  const orders = fc.constantFrom<LevelOrder[]>("asc", "desc")
  const written = fc.constantFrom("a", "a@1.0.0", "a@2.0.0")
  const pins = fc.constantFrom<Record<string, string>[]>({}, { a: "1.0.0" }, { a: "2.0.0" })

  it("an override is never looser than itself or than anything it hides", () => {
    const law = fc.property(stacks, orders, written, pins, (stack, levelOrder, name, held) => {
      const registry = emptyRegistry({ levelOrder })
      const stacked = layers.flatMap((layer, index) => {
        const spec = stack[index]
        return spec === undefined ? [] : [registry.register(makeTool("a", spec), { layer })]
      })
      const found = registry.resolve(name, agent({ department: "sales", pins: held }))
      if (found === undefined) return
      const hidden = stacked.slice(stacked.findIndex((tool) => tool.id === found.id))
      expect(hidden.length).toBeGreaterThan(0)
      for (const tool of hidden) expectNoLooser(found.permission, tool.permission, levelOrder)
    })
    fc.assert(law, { numRuns: 200 })
  })

  it("an override is visible by groups only if everything it hides is", () => {
    const law = fc.property(stacks, fc.subarray(allGroups), written, (stack, groups, name) => {
      const registry = emptyRegistry()
      const stacked: RegisteredTool[] = []
      for (const [index, layer] of layers.entries()) {
        const spec = stack[index]
        if (spec !== undefined) stacked.push(registry.register(makeTool("a", spec), { layer }))
      }
      const found = registry.resolve(name, agent({ department: "sales", groups }))
      if (found === undefined) return
      // A tool asked for by its version is held to what the name alone means, and that covers the whole stack.
      expect(registry.inGroups(found, groups)).toBe(stacked.every((tool) => groups.includes(tool.group)))
      expect(registry.inGroups(found, null)).toBe(true)
      if (registry.inGroups(found, groups))
        expect([...registry.namesIn(groups, agent({ department: "sales" }))]).toEqual(["a"])
    })
    fc.assert(law, { numRuns: 200 })
  })

  it("a version an agent asks for is never looser than the one it would have been given; one a person chose is as it is", () => {
    const shelves = fc.tuple(...layers.map(() => fc.uniqueArray(specs, { selector: ({ version }) => version })))
    const law = fc.property(shelves, orders, written, pins, (shelved, levelOrder, name, held) => {
      const registry = emptyRegistry({ levelOrder })
      for (const [index, layer] of layers.entries()) {
        registry.registerMany(
          shelved[index]!.map((spec) => makeTool("a", spec)),
          { layer },
        )
      }
      const who = agent({ department: "sales", pins: held })
      const found = registry.resolve(name, who)
      const given = registry.resolve("a", who)
      if (found === undefined || given === undefined) return
      expectNoLooser(found.permission, given.permission, levelOrder)
      if (registry.inGroups(found, ["g1", "g2"])) expect(registry.inGroups(given, ["g1", "g2"])).toBe(true)
      if ("a" in held) expect(found).toBe(given)
      expect(registry.resolve(name, who)).toBe(found)
    })
    fc.assert(law, { numRuns: 200 })
  })

  it("nothing registered in another layer changes what the system's tool is, or who sees it", () => {
    const law = fc.property(
      specs,
      fc.array(fc.tuple(fc.constantFrom(...layers.slice(0, 2)), specs)),
      (spec, others) => {
        const registry = emptyRegistry()
        const system = registry.register(makeTool("a", spec))
        const look = () => [registry.get("a"), ...allGroups.map((group) => registry.inGroups(system, [group]))]
        const before = look()
        for (const [layer, other] of others) registry.register(makeTool("a", other), { layer, replace: true })
        expect(look()).toEqual(before)
      },
    )
    fc.assert(law, { numRuns: 200 })
  })
})

describe("who sees a tool", () => {
  it("a system tool counts by every group that holds it; null means all groups", () => {
    const registry = emptyRegistry()
    const tool = registry.register(makeTool("a", { group: "one" }))
    registry.groups.addTool("two", registry.groups.getToolDefinitions(["one"])[0]!)
    expect(registry.inGroups(tool, ["one"])).toBe(true)
    expect(registry.inGroups(tool, ["two"])).toBe(true)
    expect(registry.inGroups(tool, ["three"])).toBe(false)
    expect(registry.inGroups(tool, [])).toBe(false)
    expect(registry.inGroups(tool, null)).toBe(true)
  })

  it("namesIn tells each name once: one's own, then those of the groups", () => {
    const registry = emptyRegistry()
    registry.registerMany([
      makeTool("a", { group: "one" }),
      makeTool("b", { group: "two" }),
      makeTool("c", { group: "three" }),
    ])
    registry.register(makeTool("mine"), { layer: "agent:ada" })
    registry.register(makeTool("b"), { layer: "agent:ada" })
    expect([...registry.namesIn(["two", "one", "two"], agent())]).toEqual(["mine", "b", "a"])
    expect([...registry.namesIn(null, agent())]).toEqual(["mine", "b", "a", "c"])
    expect([...registry.namesIn([], agent({ id: "eve" }))]).toEqual([])
    expect([...registry.names()]).toEqual(["a", "b", "c"])
  })
})

describe("the configuration", () => {
  const author = { level: "sensitive", allowedRoles: ["devops"], rateLimit: { maxCallsPerMinute: 5 } } as const
  const permissionWith = (given: ToolPermission, options: RegistryOptions = {}) =>
    emptyRegistry({ permissions: { a: given }, ...options }).register(makeTool("a", { permission: author })).permission

  it("stands above what a tool's author said, in the fields it has", () => {
    expect(permissionWith({ level: "public" })).toMatchObject({ level: "public", allowedRoles: ["devops"] })
    expect(permissionWith({ allowedRoles: [] })).toMatchObject({ level: "sensitive", allowedRoles: [] })
    expect(emptyRegistry({ permissions: { b: { level: "public" } } }).register(makeTool("a")).permission.level).toBe(
      "sensitive",
    )
  })

  it("says nothing with what it leaves undefined", () => {
    const silent = { level: undefined, allowedRoles: undefined, rateLimit: undefined }
    expect(permissionWith(silent)).toMatchObject(author)
  })

  it("only tightens when it is not trusted", () => {
    const loose = { a: { level: "public", allowedRoles: [] } } as const
    expect(permissionWith({}, { tightening: loose })).toMatchObject(author)
    const rateLimit = { maxCallsPerMinute: 2 }
    expect(permissionWith({}, { tightening: { a: { rateLimit } } })).toMatchObject({ ...author, rateLimit })
    expect(permissionWith({ level: "public" }, { tightening: { a: { minLevel: 3 } } })).toMatchObject({
      level: "public",
      minLevel: 3,
    })
  })

  it("switches off what it does not name", () => {
    const registry = emptyRegistry({ enabled: ["a"] })
    expect([registry.register(makeTool("a")).enabled, registry.register(makeTool("b")).enabled]).toEqual([true, false])
  })
})

describe("the definition hash", () => {
  const hashOf = (rest: Partial<ToolSpec> = {}) => emptyRegistry().register(makeTool("a", rest)).definitionHash

  it("is the same for the same definition, and follows everything an approver agrees to", () => {
    const hashes = [
      hashOf(),
      hashOf({ version: "2.0.0" }),
      hashOf({ description: "Other." }),
      hashOf({ effect: "none" }),
      hashOf({ effect: "none", permission: { level: "moderate" } }),
      hashOf({ permission: { allowedRoles: ["x"] } }),
      hashOf({ input: z.object({ path: z.string() }) }),
      hashOf({ output: z.string() }),
      hashOf({ input: JSON.parse('{ "type": "object", "properties": { "__proto__": {} } }') as object as never }),
      hashOf({ input: JSON.parse('{ "type": "object", "properties": {} }') as object as never }),
      emptyRegistry().register(makeTool("b", { description: "Does a." })).definitionHash,
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(hashOf()).toBe(hashes[0])
    // Nobody approves otherwise because of it, so that grants and waiting calls stay valid.
    expect(hashOf({ destructive: true })).toBe(hashes[0])
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/)
  })

  it("follows the layer: what stands in another one is another tool", () => {
    const registry = emptyRegistry()
    const system = registry.register(makeTool("a"))
    const other = registry.register(makeTool("a"), { layer: "department:sales" })
    expect(other.definitionHash).not.toBe(system.definitionHash)
    expect(registry.resolve("a", agent({ department: "sales" }))?.definitionHash).toBe(other.definitionHash)
  })

  it("follows the description, and not what is told after it", () => {
    let now = "Groups: one."
    const tool = emptyRegistry().register(makeTool("a", { describe: () => now }))
    const before = tool.definitionHash
    expect(tool.description).toBe("Does a. Groups: one.")
    now = "Groups: one, two."
    expect(tool.description).toBe("Does a. Groups: one, two.")
    expect(tool.definitionHash).toBe(before)
    expect(hashOf({ describe: () => now, description: "Other." })).not.toBe(before)
  })

  it("follows the configuration, and does not follow the order of keys", () => {
    const [one, other] = [
      { type: "object", properties: {} },
      { properties: {}, type: "object" },
    ]
    expect(hashOf({ input: one })).toBe(hashOf({ input: other }))
    const configured = emptyRegistry({ permissions: { a: { minLevel: 3 } } }).register(makeTool("a"))
    expect(configured.definitionHash).not.toBe(hashOf())
  })
})

describe("statistics", () => {
  const noTools = Object.fromEntries(Object.values(ToolCategory).map((category) => [category, 0]))

  it("getStats tells how many there are, of which categories, and how they were called", () => {
    const registry = emptyRegistry()
    registry.registerMany([makeTool("a", { category: "file" }), makeTool("b", { category: "file" }), makeTool("c")])
    registry.count(registry.require("a"), 10, undefined)
    registry.count(registry.require("a"), 30, "Not there.")
    expect(registry.getStats()).toEqual({
      total: 3,
      byCategory: { ...noTools, file: 2, custom: 1 },
      callStats: { a: { count: 2, failures: 1, avgDuration: 20, p50: 10, p95: 30, lastError: "Not there." } },
    })
  })

  it("of an empty registry are empty", () => {
    expect(emptyRegistry().getStats()).toEqual({ total: 0, byCategory: noTools, callStats: {} })
  })
})

describe("names outside", () => {
  it("a tool in quarantine takes no name from one that somebody agreed to", () => {
    const registry = new ToolRegistry()
    const named = (name: string, more: Partial<ToolSpec> = {}) =>
      defineTool({
        name,
        group: "g",
        description: "d",
        effect: "none",
        input: z.object({}),
        execute: () => 1,
        ...more,
      } as never)
    registry.register(named("mcp:a__b:c"), { type: "mcp" })
    expect(registry.wireNames().toWire("mcp:a__b:c")).toBe("a__b__c")
    registry.register(named("mcp:a:b__c", { quarantine: "Nobody has looked at it." }), { type: "mcp" })
    expect(registry.wireNames().toWire("mcp:a__b:c")).toBe("a__b__c")
    expect(registry.wireNames().fromWire("a__b__c")).toBe("mcp:a__b:c")
  })
})
