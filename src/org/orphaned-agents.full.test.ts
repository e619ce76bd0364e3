import fc from "fast-check"
import { expect, test } from "vitest"
import { openTestApps } from "../testing/test-app.ts"
import { describeOrphanedAgents } from "./orphaned-agents.ts"

test("there is a warning about exactly the agents that may use no tool", async () => {
  const ids = ["a", "b", "c", "d"]
  const parents = fc.tuple(...ids.map(() => fc.constantFrom(undefined, "root", "nobody", ...ids)))
  const { openApp } = await openTestApps()
  await fc.assert(
    fc.asyncProperty(parents, async (above) => {
      const agents = ids.map((id, place) => ({ id, role: "dev", ...(above[place] && { parent: above[place] }) }))
      const { org } = await openApp({ org: { roles: [{ name: "dev" }], agents } })
      const orphaned = describeOrphanedAgents(org.listAgents()).map((sentence) => /'(.*?)'/.exec(sentence)?.[1])
      expect(orphaned).toEqual(ids.filter((id) => org.view(id) === undefined))
    }),
    { numRuns: 100 },
  )
})
