import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import type { Quartermaster } from "../app/quartermaster.ts"
import { callbackAdapter } from "../approvals/ask/callback.ts"
import type { Config } from "../config/schema.ts"
import { effects } from "../core/permission.ts"
import { openTestApp, openTestApps, tool } from "../testing/test-app.ts"

const names = ["t0", "t1", "t2", "t3"]
const groupIds = ["g0", "g1", "g2"]
const roleNames = ["r0", "r1"]
const departments = ["d0", "d1"]

/** Agents where each may stand below one before it. */
const someAgents = fc
  .array(
    fc.record({
      role: fc.constantFrom(...roleNames),
      department: fc.option(fc.constantFrom(...departments), { nil: undefined }),
      level: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
      above: fc.option(fc.nat({ max: 3 }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((agents) =>
    agents.map(({ above, ...agent }, index) => ({
      ...agent,
      id: `a${index}`,
      ...(above !== undefined && above < index ? { parent: `a${above}` } : {}),
    })),
  )

const someRoles = fc.tuple(
  ...roleNames.map((name) =>
    fc.record({
      name: fc.constant(name),
      toolGroups: fc.option(fc.subarray(groupIds, { minLength: 1 }), { nil: null }),
      level: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
    }),
  ),
)

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const someRules = fc.array(
  fc
    .record({
      verdict: fc.constantFrom("deny", "deny", "ask", "allow"),
      about: fc.constantFrom(...names, "t*", "group:g0", "group:g1", "*"),
      role: maybe(fc.constantFrom(...roleNames)),
      department: maybe(fc.constantFrom(...departments)),
      agent: maybe(fc.constantFrom("a0", "a1", "a2")),
      effect: maybe(fc.constantFrom("read", "write")),
      args: maybe(fc.constant({ "/n": "1*" })),
    })
    .map(({ verdict, about, ...rule }) => ({
      [verdict]: about,
      because: "A test says so.",
      ...Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)),
    })),
  { maxLength: 4 },
)

const someTools = fc.tuple(
  ...names.map((name) =>
    fc.record({
      name: fc.constant(name),
      group: fc.constantFrom(...groupIds),
      effect: fc.constantFrom(...effects),
      permission: fc.record({
        allowedRoles: fc.constantFrom([], [], ["r0"]),
        allowedDepartments: fc.constantFrom([], [], ["d0"]),
        minLevel: fc.constantFrom(undefined, undefined, 1),
      }),
    }),
  ),
)

const hidden = ["tool_not_available", "frozen"]

/** Returns the tools that a model is sent, by each way to ask for them. */
function listed(system: Quartermaster, agentId: string): string[] {
  const discovered = system.discovery.discoverToolsForAgent(agentId).map(({ name }) => name)
  const definitions = system.getToolDefinitionsForAgent(agentId).map((definition) => definition.function.name)
  const sent = system.toolsFor(agentId, { format: "anthropic" }).map((definition) => definition.name)
  expect(definitions).toEqual(discovered)
  expect(sent).toEqual(discovered)
  expect(system.visibleTools(agentId).map(({ name }) => name)).toEqual(discovered)
  return discovered
}

test("law 6: what a model is sent is exactly what it may call, and a forced call of anything else is refused", async () => {
  const { openApp } = await openTestApps()
  await fc.assert(
    fc.asyncProperty(someRoles, someAgents, someRules, someTools, async (roles, agents, rules, tools) => {
      const ran: string[] = []
      const config = { org: { roles, agents, departments: departments.map((id) => ({ id })) }, rules } as Config
      const system = await openApp(config, { approvals: callbackAdapter({ onExecution: () => true }) })
      for (const spec of tools) {
        const input = z.object({ n: z.number() }) as never
        system.registry.register(tool({ ...spec, input, execute: () => ran.push(spec.name) }))
      }
      for (const { id } of agents) {
        const shown = listed(system, id)
        for (const name of names) {
          // One input every conditional rule is about, and one none is about.
          const results = await system.callMany([1, 2].map((n) => ({ agentId: id, tool: name, input: { n } })))
          const refused = results.map(({ code = "" }) => hidden.includes(code))
          expect([name, refused]).toEqual([name, shown.includes(name) ? [false, false] : [true, true]])
          if (shown.includes(name)) expect(results[1]?.success).toBe(true)
          for (const n of [1, 2]) {
            const why = await system.why({ agentId: id, tool: name, input: { n } })
            const { code, success } = results[n - 1]!
            expect([why.verdict === "deny", why.code]).toEqual([!success, code])
          }
        }
      }
      expect(ran.every((name) => names.includes(name))).toBe(true)
    }),
    { numRuns: 100 },
  )
})

test("a frozen agent, and everyone below it, has no tool in the list and none in the call, until it is thawed", async () => {
  const system = await openTestApp({
    org: { roles: [{ name: "dev" }], agents: [{ id: "boss", role: "dev" }, { id: "hand", role: "dev", parent: "boss" }, { id: "other", role: "dev" }] }, // prettier-ignore
  })
  const call = (agentId: string) => system.call({ agentId, tool: "current_time", input: {} })
  await system.freeze({ agentId: "boss", by: "ann", because: "It spends too much." })
  for (const id of ["boss", "hand"]) {
    expect(listed(system, id)).toEqual([])
    expect(await call(id)).toMatchObject({ code: "frozen", error: expect.stringContaining("ann") })
    expect(await system.why({ agentId: id, tool: "current_time" })).toMatchObject({ verdict: "deny", code: "frozen" })
  }
  expect(await call("other")).toMatchObject({ success: true })
  expect(await system.thaw({ agentId: "boss", by: "ann" })).toBe(true)
  expect(await system.thaw({ agentId: "boss", by: "ann" })).toBe(false)
  expect(await call("hand")).toMatchObject({ success: true })
  await system.freeze({ by: "ann" })
  expect(await call("other")).toMatchObject({ code: "frozen" })
  await system.thaw({ by: "ann" })
  expect(await call("other")).toMatchObject({ success: true })
})

test("root has org_management only, in the list and in the call, whatever rules and groups say", async () => {
  const system = await openTestApp({ rules: [{ allow: "*", because: "Everything is allowed here." }] })
  const groups = new Set(system.visibleTools("root").map(({ group }) => group))
  expect([...groups]).toEqual(["org_management"])
  for (const { name, group, exposedAs } of system.registry.list()) {
    // The loop asks people by these calls, for every agent.
    if (group === "org_management" || exposedAs === "loop") continue
    expect(await system.call({ agentId: "root", tool: name, input: {} })).toMatchObject({ code: "tool_not_available" })
  }
  const created = await system.call({ agentId: "root", tool: "create_role", input: { name: "x", rolePrompt: "y" } })
  expect(created).toMatchObject({ success: true, result: { name: "x" } })
})
