import fc from "fast-check"
import { expect, test } from "vitest"
import type { Config } from "../config/schema.ts"
import { deferred, open, openMany, tool } from "../testing/open.ts"

const names = ["t0", "t1", "t2", "t3"]
const groups = ["g0", "g1"]

const someTools = fc.tuple(
  ...names.map((name, at) =>
    fc.record({
      name: fc.constant(name),
      group: fc.constantFrom(...groups),
      // Only later ones, so that there is no circle; t9 is never registered.
      dependsOn: fc.subarray([...names.slice(at + 1), ...(at === 0 ? ["t9"] : [])]),
    }),
  ),
)

const someRules = fc.array(
  fc.constantFrom("t1", "t2", "t3", "group:g1").map((about) => ({ deny: about, role: "dev", because: "A test says so." })), // prettier-ignore
  { maxLength: 1 },
)

test("[S4-96] law 6 with needs: a tool is listed exactly when it and all it needs may be called, and why says the same", async () => {
  const { house } = await openMany()
  await fc.assert(
    fc.asyncProperty(someTools, someRules, fc.subarray(groups, { minLength: 1 }), async (tools, rules, held) => {
      const org = { roles: [{ name: "dev", toolGroups: held }], agents: [{ id: "ada", role: "dev" }] }
      const system = house({ org, rules } as Config)
      for (const spec of tools) system.registry.register(tool({ ...spec, effect: "none", execute: () => spec.name }))
      const listed = system.visibleTools("ada").map(({ name }) => name)
      const denied = (name: string, group: string) => rules.some(({ deny }) => [name, `group:${group}`].includes(deny))
      const mayUse = (name: string): boolean => {
        const found = tools.find((one) => one.name === name)
        if (found === undefined) return false
        return held.includes(found.group) && !denied(name, found.group) && found.dependsOn.every(mayUse)
      }
      for (const name of names) {
        const result = await system.call({ agentId: "ada", tool: name, input: {} })
        const why = await system.why({ agentId: "ada", tool: name })
        const expected = mayUse(name)
        expect([name, listed.includes(name), result.success, why.verdict]).toEqual([name, expected, expected, expected ? "allow" : "deny"]) // prettier-ignore
        if (!expected) expect([result.code, why.code]).toEqual(["tool_not_available", "tool_not_available"])
      }
    }),
    { numRuns: 100 },
  )
})

test("[S4-96] a tool whose need comes and goes is listed, called and explained accordingly", async () => {
  const system = await open()
  system.registry.register(tool({ name: "cake", dependsOn: ["oven"], execute: () => "cake" }))
  const call = () => system.call({ agentId: "operator", tool: "cake", input: {} })
  expect(await call()).toMatchObject({
    code: "tool_not_available",
    error: expect.stringContaining(
      "Tool cake needs oven, which nobody has registered. It is off until then.",
    ) as string,
  })
  const why = await system.why({ agentId: "operator", tool: "cake" })
  expect(why).toMatchObject({
    reasons: [{ voice: "dependency", source: "system:cake@1.0.0" }],
    change: ["Load the plugin, module or server that has oven"],
  })
  system.registry.register(tool({ name: "oven", execute: () => "hot" }))
  expect(await call()).toMatchObject({ result: "cake" })
  system.registry.unregister("oven")
  expect((await call()).code).toBe("tool_not_available")
})

test("[S4-96] a batch is made in the order of needs, whatever the order of the requests, and answered in theirs", async () => {
  const system = await open()
  const story: string[] = []
  const hot = deferred()
  const heated = async () => {
    await hot.promise
    story.push("oven")
  }
  system.registry.registerMany([
    tool({ name: "cake", dependsOn: ["oven"], execute: () => story.push("cake") }),
    tool({ name: "oven", execute: heated }),
    tool({ name: "tea", execute: () => void (story.push("tea"), hot.resolve()) }),
  ])
  const batch = ["cake", "oven", "tea"].map((name) => ({ agentId: "operator", tool: name, input: {} }))
  const results = await system.callMany(batch)
  expect(results.map(({ toolName, success }) => [toolName, success])).toEqual(batch.map((one) => [one.tool, true]))
  expect(story).toEqual(["tea", "oven", "cake"])
})
