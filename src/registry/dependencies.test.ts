import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Layer, Tool } from "../model/tool.ts"
import { tool } from "../testing/open.ts"
import { circleIn } from "./dependencies.ts"
import { ToolRegistry } from "./registry.ts"

const needing = (name: string, dependsOn: readonly string[] = [], version = "1.0.0"): Tool =>
  tool({ name, dependsOn, version, execute: () => version })

const on = (registry: ToolRegistry, name: string) => registry.require(name).enabled

describe("a tool that depends on others", () => {
  it("[S4-96] is off until all of them are registered, and off again when one of them goes", () => {
    const registry = new ToolRegistry()
    const registered = registry.register(needing("cake", ["flour", "eggs"]))
    expect(registered).toMatchObject({ enabled: false, lacks: ["flour", "eggs"] })
    const versions = [registry.version]
    const step = (act: () => unknown) => {
      act()
      versions.push(registry.version)
      return [on(registry, "cake"), registry.require("cake").lacks]
    }
    expect(step(() => registry.register(needing("flour")))).toEqual([false, ["eggs"]])
    expect(step(() => registry.register(needing("eggs"), { layer: "agent:ada" }))).toEqual([true, []])
    expect(step(() => registry.unregister("eggs", { layer: "agent:ada" }))).toEqual([false, ["eggs"]])
    expect(step(() => registry.registerMany([needing("eggs"), needing("milk")]))).toEqual([true, []])
    expect(versions).toEqual([...new Set(versions)])
    expect(registry.require("cake").definitionHash).toBe(registered.definitionHash)
  })

  it("may need one version of another", () => {
    const registry = new ToolRegistry()
    registry.registerMany([needing("cake", ["oven@2.0.0"]), needing("oven")])
    expect(on(registry, "cake")).toBe(false)
    registry.register(needing("oven", [], "2.0.0"))
    expect(on(registry, "cake")).toBe(true)
    registry.unregister("oven", { version: "2.0.0" })
    expect(on(registry, "cake")).toBe(false)
  })

  it("leaves the newest version whose needs are met to be used", () => {
    const registry = new ToolRegistry()
    registry.registerMany([needing("cake"), needing("cake", ["oven"], "2.0.0")])
    expect(registry.require("cake").version).toBe("1.0.0")
    registry.register(needing("oven"))
    expect(registry.require("cake").version).toBe("2.0.0")
  })

  it("is on by its needs only where the configuration has it on", () => {
    const registry = new ToolRegistry({ enabled: ["flour"] })
    registry.registerMany([needing("cake", ["flour"]), needing("flour")])
    expect(registry.require("cake")).toMatchObject({ enabled: false, lacks: [] })
  })

  it("is off where it covers one that lacks something, and says what", () => {
    const registry = new ToolRegistry()
    registry.register(needing("cake", ["flour"]))
    registry.register(needing("cake"), { layer: "agent:ada" })
    const who = { agent: { id: "ada" }, role: {}, groups: null, pins: {}, spawners: [] } as never
    expect(registry.resolve("cake", who)).toMatchObject({ enabled: false, lacks: ["flour"] })
    registry.register(needing("flour"))
    expect(registry.resolve("cake", who)).toMatchObject({ enabled: true, lacks: [] })
  })

  it.each<[string, Tool[], string]>([
    ["itself", [needing("a", ["a"])], "Tool 'a' cannot be registered: its needs go in a circle, a → a."],
    ["one that needs it", [needing("a", ["b"]), needing("b", ["a"])], "a → b → a"],
    ["one that needs it by way of others", [needing("a", ["b"]), needing("b", ["c"]), needing("c", ["a"])], "a → b → c → a"], // prettier-ignore
    ["one of whose versions needs it", [needing("a", ["b@1.0.0"]), needing("b"), needing("b", ["a"], "2.0.0")], "a → b → a"], // prettier-ignore
  ])("is refused when it needs %s, one at a time and all at once", (_, tools, circle) => {
    const together = new ToolRegistry()
    expect(() => together.registerMany(tools)).toThrow(circle)
    expect(together.list()).toEqual([])
    const apart = new ToolRegistry()
    for (const one of tools.slice(0, -1)) apart.register(one)
    expect(() => apart.register(tools.at(-1)!)).toThrow("its needs go in a circle")
    expect(apart.list()).toHaveLength(tools.length - 1)
  })

  it("is no circle with what it replaces", () => {
    const registry = new ToolRegistry()
    registry.registerMany([needing("a", ["b"]), needing("b")])
    registry.register(needing("a"), { replace: true })
    registry.register(needing("b", ["a"]), { replace: true })
    expect(on(registry, "b")).toBe(true)
    registry.registerMany([needing("a", ["b"]), needing("b")], { replace: true })
    expect(registry.list().map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
      ["a", ["b"]],
      ["b", []],
    ])
    expect(() => registry.register(needing("b", ["a"]), { replace: true, layer: "agent:ada" })).toThrow("circle")
  })
})

describe("laws of needs", () => {
  const names = ["a", "b", "c", "d"]
  const someTool = fc.record({
    name: fc.constantFrom(...names),
    needs: fc.subarray(names, { maxLength: 2 }),
    version: fc.constantFrom("1.0.0", "2.0.0"),
    layer: fc.constantFrom<Layer[]>("system", "system", "agent:ada"),
    gone: fc.boolean(),
  })

  it("[S4-96] whatever comes and goes, a tool is on exactly when all it needs are there, and there is never a circle", () => {
    fc.assert(
      fc.property(fc.array(someTool, { maxLength: 14 }), (steps) => {
        const registry = new ToolRegistry()
        for (const { name, needs, version, layer, gone } of steps) {
          if (gone) registry.unregister(name, { layer, version })
          else
            try {
              registry.register(needing(name, needs, version), { layer, replace: true })
            } catch (error) {
              expect(String(error)).toContain("circle")
            }
          const all = registry.list()
          const there = new Set(all.map((one) => one.name))
          for (const one of all) expect(one.enabled).toBe((one.dependsOn ?? []).every((need) => there.has(need)))
          expect(hasCircle(all)).toBe(false)
        }
      }),
      { numRuns: 500 },
    )
  })

  it("a circle is found exactly when there is one, and what is named is one", () => {
    const some = fc.array(fc.record({ name: fc.constantFrom(...names), needs: fc.subarray(names) }), { maxLength: 5 })
    fc.assert(
      fc.property(some, (given) => {
        const tools = given.map(({ name, needs }) => needing(name, needs))
        const circle = circleIn([], tools)
        expect(circle !== undefined).toBe(hasCircle(tools))
        for (const [index, name] of (circle ?? []).slice(0, -1).entries()) {
          expect(tools.some((one) => one.name === name && one.dependsOn?.includes(circle![index + 1]!))).toBe(true)
        }
        if (circle !== undefined) expect(circle[0]).toBe(circle.at(-1))
      }),
      { numRuns: 500 },
    )
  })
})

/** Plainly: strike out what needs nothing that is left, until nothing changes. */
function hasCircle(tools: readonly Tool[]): boolean {
  let left = new Set(tools.map(({ name }) => name))
  for (;;) {
    const stay = [...left].filter((name) =>
      tools.some((one) => one.name === name && (one.dependsOn ?? []).some((need) => left.has(need))),
    )
    if (stay.length === left.size) return stay.length > 0
    left = new Set(stay)
  }
}
