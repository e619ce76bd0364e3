import fc from "fast-check"
import { expect, test } from "vitest"
import { openTestApps, tool } from "./testing/test-app.ts"

test("law: for any role and any tool, the call is refused exactly when the tool is in none of its groups", async () => {
  const { openApp } = await openTestApps()
  const ids = ["alpha", "beta", "gamma"]
  await fc.assert(
    fc.asyncProperty(fc.subarray(ids, { minLength: 1 }), fc.constantFrom(...ids), async (toolGroups, group) => {
      const system = await openApp({
        org: { roles: [{ name: "dev", toolGroups }], agents: [{ id: "d", role: "dev" }] },
      })
      system.registry.register(tool({ group, execute: () => 1 }))
      const result = await system.call({ agentId: "d", tool: "probe", input: {} })
      expect(result.code).toBe(toolGroups.includes(group) ? undefined : "tool_not_available")
      if (!result.success) expect(result.error).toContain("probe")
    }),
    { numRuns: 100 },
  )
})
