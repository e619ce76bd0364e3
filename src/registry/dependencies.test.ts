import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Tool } from "../core/tool.ts"
import { findCycle } from "./dependencies.ts"
import { ToolRegistry } from "./registry.ts"
import { toolWithDependencies, hasCycle } from "./testing/dependencies.ts"

const on = (registry: ToolRegistry, name: string) => registry.require(name).enabled

describe("a tool that depends on others", () => {
  it("is off until all of them are registered, and off again when one of them goes", () => {
    const registry = new ToolRegistry()
    const registered = registry.register(toolWithDependencies("cake", ["flour", "eggs"]))
    expect(registered).toMatchObject({ enabled: false, missingDependencies: ["flour", "eggs"] })
    const versions = [registry.version]
    const step = (act: () => unknown) => {
      act()
      versions.push(registry.version)
      return [on(registry, "cake"), registry.require("cake").missingDependencies]
    }
    expect(step(() => registry.register(toolWithDependencies("flour")))).toEqual([false, ["eggs"]])
    expect(step(() => registry.register(toolWithDependencies("eggs"), { layer: "agent:ada" }))).toEqual([true, []])
    expect(step(() => registry.unregister("eggs", { layer: "agent:ada" }))).toEqual([false, ["eggs"]])
    expect(step(() => registry.registerMany([toolWithDependencies("eggs"), toolWithDependencies("milk")]))).toEqual([
      true,
      [],
    ])
    expect(versions).toEqual([...new Set(versions)])
    expect(registry.require("cake").definitionHash).toBe(registered.definitionHash)
  })

  it("may need one version of another", () => {
    const registry = new ToolRegistry()
    registry.registerMany([toolWithDependencies("cake", ["oven@2.0.0"]), toolWithDependencies("oven")])
    expect(on(registry, "cake")).toBe(false)
    registry.register(toolWithDependencies("oven", [], "2.0.0"))
    expect(on(registry, "cake")).toBe(true)
    registry.unregister("oven", { version: "2.0.0" })
    expect(on(registry, "cake")).toBe(false)
  })

  it("leaves the newest version whose needs are met to be used", () => {
    const registry = new ToolRegistry()
    registry.registerMany([toolWithDependencies("cake"), toolWithDependencies("cake", ["oven"], "2.0.0")])
    expect(registry.require("cake").version).toBe("1.0.0")
    registry.register(toolWithDependencies("oven"))
    expect(registry.require("cake").version).toBe("2.0.0")
  })

  it("is on by its needs only where the configuration has it on", () => {
    const registry = new ToolRegistry({ enabled: ["flour"] })
    registry.registerMany([toolWithDependencies("cake", ["flour"]), toolWithDependencies("flour")])
    expect(registry.require("cake")).toMatchObject({ enabled: false, missingDependencies: [] })
  })

  it("is off where it covers one that lacks something, and says what", () => {
    const registry = new ToolRegistry()
    registry.register(toolWithDependencies("cake", ["flour"]))
    registry.register(toolWithDependencies("cake"), { layer: "agent:ada" })
    const who = { agent: { id: "ada" }, role: {}, groups: null, pins: {}, ancestors: [] } as never
    expect(registry.resolve("cake", who)).toMatchObject({ enabled: false, missingDependencies: ["flour"] })
    registry.register(toolWithDependencies("flour"))
    expect(registry.resolve("cake", who)).toMatchObject({ enabled: true, missingDependencies: [] })
  })

  it.each<[string, Tool[], string]>([
    [
      "itself",
      [toolWithDependencies("a", ["a"])],
      "Tool 'a' cannot be registered: its dependencies form a cycle, a → a.",
    ],
    ["one that needs it", [toolWithDependencies("a", ["b"]), toolWithDependencies("b", ["a"])], "a → b → a"],
    ["one that needs it by way of others", [toolWithDependencies("a", ["b"]), toolWithDependencies("b", ["c"]), toolWithDependencies("c", ["a"])], "a → b → c → a"], // prettier-ignore
    ["one of whose versions needs it", [toolWithDependencies("a", ["b@1.0.0"]), toolWithDependencies("b"), toolWithDependencies("b", ["a"], "2.0.0")], "a → b → a"], // prettier-ignore
  ])("is refused when it needs %s, one at a time and all at once", (_, tools, cycle) => {
    const together = new ToolRegistry()
    expect(() => together.registerMany(tools)).toThrow(cycle)
    expect(together.list()).toEqual([])
    const apart = new ToolRegistry()
    for (const one of tools.slice(0, -1)) apart.register(one)
    expect(() => apart.register(tools.at(-1)!)).toThrow("its dependencies form a cycle")
    expect(apart.list()).toHaveLength(tools.length - 1)
  })

  it("is no cycle with what it replaces", () => {
    const registry = new ToolRegistry()
    registry.registerMany([toolWithDependencies("a", ["b"]), toolWithDependencies("b")])
    registry.register(toolWithDependencies("a"), { replace: true })
    registry.register(toolWithDependencies("b", ["a"]), { replace: true })
    expect(on(registry, "b")).toBe(true)
    registry.registerMany([toolWithDependencies("a", ["b"]), toolWithDependencies("b")], { replace: true })
    expect(registry.list().map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
      ["a", ["b"]],
      ["b", []],
    ])
    expect(() => registry.register(toolWithDependencies("b", ["a"]), { replace: true, layer: "agent:ada" })).toThrow(
      "cycle",
    )
  })
})

describe("laws of needs", () => {
  const names = ["a", "b", "c", "d"]

  it("a cycle is found exactly when there is one, and what is named is one", () => {
    const some = fc.array(fc.record({ name: fc.constantFrom(...names), needs: fc.subarray(names) }), { maxLength: 5 })
    fc.assert(
      fc.property(some, (given) => {
        const tools = given.map(({ name, needs }) => toolWithDependencies(name, needs))
        const cycle = findCycle([], tools)
        expect(cycle !== undefined).toBe(hasCycle(tools))
        for (const [index, name] of (cycle ?? []).slice(0, -1).entries()) {
          expect(tools.some((one) => one.name === name && one.dependsOn?.includes(cycle![index + 1]!))).toBe(true)
        }
        if (cycle !== undefined) expect(cycle[0]).toBe(cycle.at(-1))
      }),
      { numRuns: 500 },
    )
  })
})
