import fc from "fast-check"
import { expect, test } from "vitest"
import { effects } from "../core/permission.ts"
import type { Layer } from "../core/tool.ts"
import { ToolRegistry } from "../registry/registry.ts"
import { tool } from "../testing/test-app.ts"
import { compileRules } from "./rules/rules.ts"
import { agent, now, rule } from "./testing.ts"
import { hiddenBecause } from "./decide/visible.ts"

test("law 6 for versions: of a name that is hidden no version is visible", () => {
  const layers: Layer[] = ["agent:ada", "department:north", "system"]
  const specs = fc.uniqueArray(
    fc.record({
      layer: fc.constantFrom(...layers),
      version: fc.constantFrom("1.0.0", "2.0.0", "3.0.0"),
      group: fc.constantFrom("workspace", "network", "data"),
      effect: fc.constantFrom(...effects),
      allowedRoles: fc.constantFrom([], [], ["lead"]),
      minLevel: fc.constantFrom(undefined, undefined, 1),
    }),
    { selector: ({ layer, version }) => `${layer} ${version}`, maxLength: 6 },
  )
  const rules = fc.array(
    fc.constantFrom(
      rule("deny", "group:data"),
      rule("deny", "*", { effect: ["execute", "write"] }),
      rule("deny", "group:network", { effect: ["read"] }),
    ),
    { maxLength: 2 },
  )
  const held = fc.option(fc.subarray(["workspace", "network", "data"]), { nil: null })
  const seen = new Set<boolean>()
  const law = fc.property(specs, rules, held, (given, denies, groups) => {
    const registry = new ToolRegistry()
    for (const { layer, allowedRoles, minLevel, ...spec } of given) {
      registry.register(tool({ name: "a", ...spec, permission: { allowedRoles, minLevel }, execute: () => 1 }), {
        layer,
      })
    }
    const who = agent({ department: "north", groups })
    const ruleSet = compileRules(denies, {
      canonical: (name) => registry.canonicalName(name),
      inGroups: (one, ids) => registry.inGroups(one, ids),
    })
    const isHidden = (name: string) => {
      const found = registry.resolve(name, who)
      const policy = { hiddenByRule: () => found && ruleSet.select(found, who).hidden(now) }
      return found === undefined || hiddenBecause(found, who, registry, "asc", policy) !== undefined
    }
    const hidden = isHidden("a")
    seen.add(hidden)
    if (hidden) expect(["a@1.0.0", "a@2.0.0", "a@3.0.0"].map(isHidden)).toEqual([true, true, true])
  })
  fc.assert(law, { numRuns: 500 })
  expect(seen.size).toBe(2)
})
