import fc from "fast-check"
import { expect, test } from "vitest"
import { openTestApp, tool } from "../testing/test-app.ts"

const names = ["t0", "t1", "t2", "t3"]
const groups = ["g0", "g1"]

const someTools = fc.tuple(
  ...names.map((name, at) =>
    fc.record({
      name: fc.constant(name),
      group: fc.constantFrom(...groups),
      // Only later ones, so that there is no cycle; t9 is never registered.
      dependsOn: fc.subarray([...names.slice(at + 1), ...(at === 0 ? ["t9"] : [])]),
    }),
  ),
)

/** The agents: every choice of groups with every deny. */
const agents = [["g0"], ["g1"], ["g0", "g1"]].flatMap((held, index) =>
  ["nothing", "t1", "t2", "t3", "group:g1"].map((deny, at) => ({ id: `a${index}${at}`, held, deny })),
)

test("law 6 with needs: a tool is listed exactly when it and all it needs may be called, and why says the same", async () => {
  const system = await openTestApp({
    org: {
      roles: agents.map(({ id, held }) => ({ name: id, toolGroups: held })),
      agents: agents.map(({ id }) => ({ id, role: id })),
    },
    rules: agents.map(({ id, deny }) => ({ deny, role: id, because: "A test says so." })),
  })
  await fc.assert(
    fc.asyncProperty(someTools, fc.constantFrom(...agents), async (tools, { id, held, deny }) => {
      for (const spec of tools) system.registry.register(tool({ ...spec, effect: "none", execute: () => spec.name }))
      const listed = system.visibleTools(id).map(({ name }) => name)
      const mayUse = (name: string): boolean => {
        const found = tools.find((one) => one.name === name)
        if (found === undefined || deny === name || deny === `group:${found.group}`) return false
        return held.includes(found.group) && found.dependsOn.every(mayUse)
      }
      for (const name of names) {
        const result = await system.call({ agentId: id, tool: name, input: {} })
        const why = await system.why({ agentId: id, tool: name })
        const expected = mayUse(name)
        expect([name, listed.includes(name), result.success, why.verdict]).toEqual([name, expected, expected, expected ? "allow" : "deny"]) // prettier-ignore
        if (!expected) expect([result.code, why.code]).toEqual(["tool_not_available", "tool_not_available"])
      }
      for (const name of names) system.registry.unregister(name)
    }),
    { numRuns: 100 },
  )
})
