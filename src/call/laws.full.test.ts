import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { callbackAdapter } from "../approvals/ask/callback.ts"
import { silentLogger } from "../core/logger.ts"
import { isTicket } from "../core/result.ts"
import type { ToolContext } from "../core/tool.ts"
import { openStore } from "../store/sqlite/store.ts"
import { openTestApp, openTestApps, temporaryFolder, tool } from "../testing/test-app.ts"
import { ListRecorder, portsOver } from "../testing/ports.ts"
import { callTool } from "./call.ts"

const roles = ["dev", "ops", "boss"] as const
const groups = ["alpha", "beta"] as const
const departments = ["north", "south"] as const

const someAgent = fc.record({
  role: fc.constantFrom(...roles),
  department: fc.option(fc.constantFrom(...departments), { nil: undefined }),
  level: fc.integer({ min: 0, max: 3 }),
})
const someOrganisation = fc.record({
  groups: fc.tuple(...roles.map(() => fc.option(fc.subarray([...groups]), { nil: null }))),
  agents: fc.array(someAgent, { minLength: 1, maxLength: 3 }),
  levelOrder: fc.constantFrom("asc" as const, "desc" as const),
})
const somePermission = fc.record(
  {
    level: fc.constantFrom("public" as const, "moderate" as const, "sensitive" as const),
    allowedRoles: fc.subarray([...roles]),
    allowedDepartments: fc.subarray([...departments]),
    minLevel: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: ["level"] },
)
const someTools = fc.array(
  fc.record({
    group: fc.constantFrom(...groups),
    permission: somePermission,
    layer: fc.constantFrom("system", "department:north", "agent:a0"),
  }),
  {
    minLength: 1,
    maxLength: 4,
  },
)

type Organisation = typeof someOrganisation extends fc.Arbitrary<infer T> ? T : never

function configOf({ groups: given, agents, levelOrder }: Organisation) {
  return {
    org: {
      levelOrder,
      roles: roles.map((name, index) => ({ name, toolGroups: given[index] ?? null })),
      agents: agents.map((agent, index) => ({ id: `a${index}`, ...agent })),
    },
  }
}

const effects = ["none", "read", "write", "execute", "network", "communicate"] as const

/** The start of what changes nothing is written before anything is acknowledged (law 5), not before the run. */
const isLater = (effect: (typeof effects)[number]) => effect === "none" || effect === "read"

test("law 1: a tool runs only after every step, and the start of what acts is already written when it does", async () => {
  const { dir: folder, openApp } = await openTestApps()
  await fc.assert(
    fc.asyncProperty(
      someOrganisation,
      somePermission,
      fc.constantFrom(...effects),
      fc.boolean(),
      fc.boolean(),
      async (organisation, permission, effect, valid, yes) => {
        const asked: string[] = []
        const system = await openApp(configOf(organisation), {
          approvals: callbackAdapter({ onExecution: ({ request }) => (asked.push(request.callId), yes) }),
        })
        const ran: { callId: string; written: boolean }[] = []
        system.registry.register(
          tool({
            group: "alpha",
            effect,
            permission,
            input: z.object({ n: z.number() }) as never,
            execute(_input, { callId }: ToolContext) {
              const dir = join(folder, "journal")
              const text = readdirSync(dir)
                .map((file) => readFileSync(join(dir, file), "utf8"))
                .join("")
              ran.push({
                callId,
                written: (text.includes(`"kind":"start"`) && text.includes(callId)) || isLater(effect),
              })
            },
          }),
        )
        const visible = system.visibleTools("a0").some(({ name }) => name === "probe")
        const result = await system.call({ agentId: "a0", tool: "probe", input: valid ? { n: 1 } : { n: "one" } })
        const asks = permission.level !== "public"
        expect(asked).toEqual(visible && valid && asks ? [result.callId] : [])
        const runs = visible && valid && (!asks || yes)
        expect(ran).toEqual(runs ? [{ callId: result.callId, written: true }] : [])
        expect(result.success).toBe(runs)
      },
    ),
    { numRuns: 100 },
  )
})

test("law 2: a layer never loosens the layer below: a sensitive tool asks under any layer", async () => {
  const { openApp } = await openTestApps()
  await fc.assert(
    fc.asyncProperty(somePermission, somePermission, async (below, above) => {
      let asked = 0
      const system = await openApp(
        { org: { roles: [{ name: "dev" }], agents: [{ id: "a0", role: "dev", level: 1 }] } },
        { approvals: callbackAdapter({ onExecution: () => ++asked > 0 }) },
      )
      system.registry.register(tool({ permission: below, execute: () => "below" }))
      const alone = system.visibleTools("a0").some(({ name }) => name === "probe")
      system.registry.register(tool({ permission: above, execute: () => "above" }), { layer: "agent:a0" })
      const covered = system.visibleTools("a0").some(({ name }) => name === "probe")
      if (!alone) expect(covered).toBe(false)
      const result = await system.call({ agentId: "a0", tool: "probe", input: {} })
      if (covered) expect(result.result).toBe("above")
      if (covered && (below.level !== "public" || above.level !== "public")) expect(asked).toBe(1)
    }),
    { numRuns: 100 },
  )
})

test("law 4: a call is claimed once, however many try", async () => {
  const first = await openTestApp()
  const second = await openTestApp({ data: { dir: first.dir } })
  let runs = 0
  for (const system of [first, second]) {
    system.registry.register(
      tool({ permission: { level: "sensitive" }, input: z.object({ n: z.number() }) as never, execute: () => ++runs }),
    )
  }
  let n = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }), async (walkers) => {
      const before = runs
      const ticket = await first.call({ agentId: "operator", tool: "probe", input: { n: n++ } }, { waitMs: 0 })
      if (!isTicket(ticket)) throw new Error("Expected a ticket.")
      expect(await second.approvals.answer(ticket.callId, { kind: "approve" }, "ann")).toMatchObject({ ok: true })
      const results = await Promise.all(walkers.map((which) => (which ? first : second).resume(ticket.callId)))
      expect(runs - before).toBe(1)
      for (const result of results) expect(result).toMatchObject({ callId: ticket.callId, success: true, result: runs })
    }),
    { numRuns: 100 },
  )
})

test("law 5: nothing runs unrecorded and nothing leaves unrecorded, wherever the record fails", async () => {
  const store = await openStore({ dataDir: temporaryFolder(), owner: "test", logger: silentLogger, writes: "direct" })
  onTestFinished(() => store.close())
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 6 }),
      fc.array(fc.constantFrom("probe", "missing", "fails"), { minLength: 1, maxLength: 5 }),
      async (bad, calls) => {
        const recorder = new ListRecorder()
        recorder.fails = (attempt) => bad.includes(attempt)
        const ports = await portsOver(store, { recorder })
        const ran: boolean[] = []
        const kept = (callId: string, kind: string) =>
          recorder.entries.some((entry) => entry.callId === callId && entry.kind === kind)
        ports.tools.register(
          tool({ execute: (_input, { callId }: ToolContext) => void ran.push(kept(callId, "start")) }),
        )
        ports.tools.register(tool({ name: "fails", execute: (_input, { callId }: ToolContext) => { ran.push(kept(callId, "start")); throw new Error("no") } })) // prettier-ignore
        for (const name of calls) {
          const result = await callTool({ agentId: "operator", tool: name, input: {} }, ports)
          if (isTicket(result)) throw new Error("No ticket was asked for.")
          if (result.code === "record_unavailable") expect(result.result).toBeUndefined()
          else expect(kept(result.callId, "end")).toBe(true)
        }
        expect(ran.every(Boolean)).toBe(true)
      },
    ),
    { numRuns: 100 },
  )
})

test("law 5: after a failed write the next call succeeds as soon as the audit log can be written", async () => {
  const store = await openStore({ dataDir: temporaryFolder(), owner: "test", logger: silentLogger, writes: "direct" })
  onTestFinished(() => store.close())
  const recorder = new ListRecorder()
  const ports = await portsOver(store, { recorder })
  ports.tools.register(tool({ execute: () => 1 }))
  const call = () => callTool({ agentId: "operator", tool: "probe", input: {} }, ports)
  recorder.fails = () => true
  expect(await call()).toMatchObject({ code: "record_unavailable", error: expect.stringContaining("no space left") })
  recorder.fails = () => false
  expect(await call()).toMatchObject({ success: true })
})

test("law 6: a tool is listed exactly when a call of it is not refused for who asks", async () => {
  const { openApp } = await openTestApps()
  await fc.assert(
    fc.asyncProperty(someOrganisation, someTools, async (organisation, tools) => {
      const system = await openApp(configOf(organisation), { approvals: callbackAdapter({ onExecution: () => true }) })
      for (const [index, { layer, ...spec }] of tools.entries()) {
        system.registry.register(tool({ name: `t${index % 3}`, version: `1.0.${index}`, ...spec, execute: () => 1 }), {
          layer: layer as "system",
        })
      }
      for (const { id } of system.org.listAgents()) {
        const listed = system.visibleTools(id).map(({ name }) => name)
        const sent = system.toolsFor(id).map((definition) => definition.function.name)
        expect(sent).toEqual(listed)
        for (const name of ["t0", "t1", "t2"]) {
          const result = await system.call({ agentId: id, tool: name, input: {} })
          if (listed.includes(name)) expect(result.success).toBe(true)
          else {
            expect(["tool_not_available", "unknown_tool"]).toContain(result.code)
            expect(result.error).toContain(name)
          }
        }
      }
    }),
    { numRuns: 100 },
  )
})

test("law 7: every call in a batch gets an answer, in order", async () => {
  const system = await openTestApp({ approvals: { unattended: "reject" } })
  const kinds = {
    json_parse: { input: { text: "1" }, code: undefined },
    json_stringify: { input: {}, code: "invalid_arguments" },
    base64_decode: { input: { encoded: "!" }, code: "tool_failed" },
    set_env: { input: { key: "A", value: "1" }, code: "approval_rejected" },
    nothing_here: { input: {}, code: "unknown_tool" },
  } as const
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])), { maxLength: 12 }),
      async (names) => {
        const results = await system.callMany(
          names.map((name) => ({ agentId: "operator", tool: name, input: kinds[name].input })),
        )
        expect(results.map((result) => [result.toolName, result.code])).toEqual(
          names.map((name) => [name, kinds[name].code]),
        )
      },
    ),
    { numRuns: 100 },
  )
})

test("an unknown agent has nothing, in the list and in the call", async () => {
  const system = await openTestApp()
  expect(system.getToolDefinitionsForAgent("nobody")).toEqual([])
  expect(() => system.toolsFor("nobody")).toThrow("There is no agent 'nobody'")
  expect(await system.call({ agentId: "nobody", tool: "current_time", input: {} })).toMatchObject({
    code: "tool_not_available",
  })
  expect(await system.call({ agentId: undefined as never, tool: "current_time", input: {} })).toMatchObject({
    code: "tool_not_available",
  })
})

test("root has org_management only, in the list and in the call, whatever the configuration says", async () => {
  const system = await openTestApp()
  expect(system.org.view("root")?.groups).toEqual(["org_management"])
  expect(system.visibleTools("root").every(({ group }) => group === "org_management")).toBe(true)
  expect(await system.call({ agentId: "root", tool: "current_time", input: {} })).toMatchObject({
    code: "tool_not_available",
  })
  await expect(openTestApp({ org: { roles: [{ name: "root", toolGroups: ["system"] }] } })).rejects.toThrow(
    "'root' and 'operator' exist always",
  )
})

test("a role that names no groups has the tools of all groups, one with an empty list none", async () => {
  const { openApp } = await openTestApps()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<(string[] | null | undefined)[]>(undefined, null, []),
      fc.array(fc.constantFrom("alpha", "beta", "gamma"), { maxLength: 4 }),
      async (toolGroups, extra) => {
        const system = await openApp({
          org: { roles: [{ name: "dev", toolGroups }], agents: [{ id: "a0", role: "dev" }] },
        })
        for (const [index, group] of extra.entries())
          system.registry.register(tool({ name: `t${index}`, group, execute: () => 1 }))
        const all = system.groups
          .getToolDefinitions(system.groups.getAllGroupIds())
          .map((definition) => definition.function.name)
        expect(system.visibleTools("a0").map(({ name }) => name)).toEqual(toolGroups?.length === 0 ? [] : all.sort())
      },
    ),
    { numRuns: 100 },
  )
})

test("org.defaultToolGroups changes what a role without groups has, root apart", async () => {
  const system = await openTestApp({
    org: { defaultToolGroups: ["data"], roles: [{ name: "dev" }], agents: [{ id: "a0", role: "dev" }] },
  })
  expect(new Set(system.visibleTools("a0").map(({ group }) => group))).toEqual(new Set(["data"]))
  expect(system.visibleTools("operator").length).toBeGreaterThan(4)
})

test("tools.enabled switches off everything else, in the list and in the call", async () => {
  const system = await openTestApp({ tools: { enabled: ["current_time"] } })
  expect(system.visibleTools("operator").map(({ name }) => name)).toEqual(["current_time"])
  expect(await system.call({ agentId: "operator", tool: "sleep", input: { duration: 0 } })).toMatchObject({
    code: "tool_not_available",
  })
})

test("tools.permissions overrides the tool's own permission; from an untrusted file it only tightens", async () => {
  const permissions = { set_env: { level: "public" as const }, current_time: { level: "sensitive" as const } }
  const trusted = await openTestApp({ tools: { permissions }, approvals: { unattended: "reject" } })
  expect(await trusted.call({ agentId: "operator", tool: "set_env", input: { key: "A", value: "1" } })).toMatchObject({
    success: true,
  })
  expect(await trusted.call({ agentId: "operator", tool: "current_time", input: {} })).toMatchObject({
    code: "approval_rejected",
  })
  const untrusted = await openTestApp({ approvals: { unattended: "reject" } }, { tightening: permissions })
  expect(await untrusted.call({ agentId: "operator", tool: "set_env", input: { key: "A", value: "1" } })).toMatchObject(
    { code: "approval_rejected" },
  )
  expect(await untrusted.call({ agentId: "operator", tool: "current_time", input: {} })).toMatchObject({
    code: "approval_rejected",
  })
})

test.each([
  ["role", { allowedRoles: ["boss"] }, "Role dev not in allowed roles"],
  ["department", { allowedDepartments: ["south"] }, "Department north not allowed"],
  ["level", { minLevel: 3 }, "Level 1 below minimum 3"],
] as const)("a call is refused by %s with S2's reason", async (_what, permission, reason) => {
  const system = await openTestApp({
    org: { roles: [{ name: "dev" }], agents: [{ id: "a0", role: "dev", department: "north", level: 1 }] },
  })
  system.registry.register(tool({ permission, execute: () => 1 }))
  const result = await system.call({ agentId: "a0", tool: "probe", input: {} })
  expect(result.error).toContain(reason)
  const [end] = await system.audit.show(result.callId)
  expect(end).toMatchObject({ reasons: [{ sentence: reason }] })
})

test.each([
  ["none", undefined, "power", ["start crash", "end power"]],
  ["read", undefined, "power", ["start crash", "end power"]],
  ["write", undefined, "power", ["start power", "end power"]],
  ["execute", undefined, "power", ["start power", "end power"]],
  ["network", undefined, "power", ["start power", "end power"]],
  ["communicate", undefined, "power", ["start power", "end power"]],
  ["write", undefined, "crash", ["start crash", "end crash"]],
  ["write", "power", "crash", ["start power", "end power"]],
] as const)("effect %s, demanded %s, configured %s: kept as %j", async (effect, durability, configured, grades) => {
  const store = await openStore({ dataDir: temporaryFolder(), owner: "test", logger: silentLogger, writes: "direct" })
  onTestFinished(() => store.close())
  const recorder = new ListRecorder()
  const ports = await portsOver(store, { recorder })
  ports.settings.durability = configured
  ports.tools.register(
    tool({ effect, permission: { level: "public" }, ...(durability ? { durability } : {}), execute: () => 1 }),
  )
  expect(await callTool({ agentId: "operator", tool: "probe", input: {} }, ports)).toMatchObject({ success: true })
  expect(recorder.durabilities).toEqual(grades)
})
