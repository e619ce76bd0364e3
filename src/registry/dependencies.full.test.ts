import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Layer } from "../core/tool.ts"
import { ToolRegistry } from "./registry.ts"
import { toolWithDependencies, hasCycle } from "./testing/dependencies.ts"

describe("laws of needs", () => {
  const names = ["a", "b", "c", "d"]
  const someTool = fc.record({
    name: fc.constantFrom(...names),
    needs: fc.subarray(names, { maxLength: 2 }),
    version: fc.constantFrom("1.0.0", "2.0.0"),
    layer: fc.constantFrom<Layer[]>("system", "system", "agent:ada"),
    gone: fc.boolean(),
  })

  it("whatever comes and goes, a tool is on exactly when all it needs are there, and there is never a cycle", () => {
    fc.assert(
      fc.property(fc.array(someTool, { maxLength: 14 }), (steps) => {
        const registry = new ToolRegistry()
        for (const { name, needs, version, layer, gone } of steps) {
          if (gone) registry.unregister(name, { layer, version })
          else
            try {
              registry.register(toolWithDependencies(name, needs, version), { layer, replace: true })
            } catch (error) {
              expect(String(error)).toContain("cycle")
            }
          const all = registry.list()
          const there = new Set(all.map((one) => one.name))
          for (const one of all) expect(one.enabled).toBe((one.dependsOn ?? []).every((need) => there.has(need)))
          expect(hasCycle(all)).toBe(false)
        }
      }),
      { numRuns: 500 },
    )
  })
})
