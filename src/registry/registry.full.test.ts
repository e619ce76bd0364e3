import { describe, expect, it } from "vitest"
import { makeTool, emptyRegistry, listNames, agent } from "./testing/registry.ts"

describe("ten thousand tools", () => {
  it("are registered, found, listed and shown", () => {
    const registry = emptyRegistry()
    const all = Array.from({ length: 10_000 }, (_, index) =>
      makeTool(index % 2 === 0 ? `tool_${index}` : `mcp:server_${index % 100}:tool_${index}`, {
        group: `group_${index % 100}`,
      }),
    )
    registry.registerMany(all)
    registry.register(makeTool("tool_0"), { layer: "agent:ada" })
    expect(registry.getStats().total).toBe(10_001)
    for (const { name } of all) expect(registry.resolve(name, agent())?.name).toBe(name)
    expect(registry.get("server_99__tool_9999")?.name).toBe("mcp:server_99:tool_9999")
    expect(registry.list({ group: "group_7" })).toHaveLength(100)
    expect([...registry.namesIn(["group_7", "group_8"], agent({ id: "eve" }))]).toHaveLength(200)
    expect(new Set(listNames(registry.getToolDescriptions())).size).toBe(10_000)
    for (const { name } of all) registry.unregister(name)
    expect([...registry.names()]).toEqual([])
  })
})
