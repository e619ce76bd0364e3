import { expect, test } from "vitest"
import { z } from "zod"
import type { Quartermaster, QuartermasterOptions } from "../../app/quartermaster.ts"
import { callbackAdapter } from "../ask/callback.ts"
import type { Config } from "../../config/schema.ts"
import type { CallRequest } from "../../core/call.ts"
import { isTicket } from "../../core/result.ts"
import { grantScopes, type Grant, type GrantScope } from "../../core/rule.ts"
import { type Touch } from "../../core/touches.ts"
import type { Tool, ToolSpec } from "../../core/tool.ts"
import { openTestStore } from "../../store/testing/test-store.ts"
import { openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"
import { admin, leaveWaiting, showPending } from "../../call/testing.ts"

type TestApp = Quartermaster & { dir: string }

/** A moderate tool that names a file. */
const probeWith = (more: Partial<ToolSpec<never>> = {}): Tool =>
  tool({
    input: z.object({ n: z.number().default(1), path: z.string().default("a.txt") }) as never,
    permission: { level: "moderate" },
    touches: ({ path }: { path: string }): Touch[] => [{ kind: "write", what: path }],
    execute: () => "ran",
    ...more,
  })

/** An app with an agent, a sub-agent, an agent of the same role, and the probe. */
async function openApp(config: Config = {}, options: QuartermasterOptions = {}): Promise<TestApp> {
  const system = await openTestApp(config, { workspace: config.data?.dir ?? temporaryFolder(), ...options })
  if (system.org.findAgent("dev") === undefined) {
    await system.org.createRole({ name: "developer" }, admin)
    await system.org.createAgent({ id: "dev", role: "developer" }, admin)
    await system.org.createAgent({ id: "other", role: "developer" }, admin)
    await system.org.createAgent({ id: "child", role: "developer", parentId: "dev" }, admin)
  }
  system.registry.register(probeWith())
  return system
}

const asking: CallRequest = { agentId: "dev", tool: "probe", input: {}, sessionId: "s1", taskId: "t1" }

/** Answers the call of `dev` in session `s1` with that scope and gives back what is remembered. */
async function remember(system: TestApp, scope: GrantScope, kind: "approve" | "reject" = "approve"): Promise<Grant> {
  const { callId } = await leaveWaiting(system, asking)
  const reason = kind === "reject" ? { reason: "Never." } : {}
  expect(await system.approvals.answer(callId, { kind, remember: scope, ...reason }, "ann")).toMatchObject({
    ok: true,
  })
  await system.resume(callId)
  return (await system.approvals.grants()).at(-1)!
}

/** Returns the outcome of that call: *asks* when a person is asked, who refuses at once; else *runs* or its code. */
async function trying(system: Quartermaster, change: Partial<CallRequest> = {}): Promise<string> {
  const ended = await system.call({ ...asking, ...change }, { waitMs: 0 })
  if (!isTicket(ended)) return ended.code ?? "runs"
  await system.approvals.answer(ended.callId, { kind: "reject" }, "ann")
  await system.resume(ended.callId)
  return "asks"
}

/** The outcomes of other calls, by the scopes for which a person is asked about them all the same. */
const session: readonly GrantScope[] = ["input-session", "tool-session"]
const variants: [what: string, change: Partial<CallRequest>, asked: readonly GrantScope[]][] = [
  ["the same call", {}, []],
  ["the same input in other words", { input: { path: "a.txt", n: 1 } }, []],
  ["another input", { input: { n: 2 } }, ["input-session"]],
  ["another session", { sessionId: "s2" }, session],
  ["no session", { sessionId: undefined }, session],
  ["another task", { taskId: "t2" }, ["task"]],
  ["no task", { taskId: undefined }, ["task"]],
  ["another file", { input: { path: "b.txt" } }, grantScopes],
  ["another agent of the same role", { agentId: "other" }, grantScopes],
  ["an agent it spawned", { agentId: "child" }, grantScopes],
]

test.each(grantScopes)("an approval remembered as %s holds for just what it says", async (scope) => {
  const system = await openApp()
  expect(await trying(system)).toBe("asks")
  await remember(system, scope)
  for (const [what, change, asked] of variants)
    expect(await trying(system, change), what).toBe(asked.includes(scope) ? "asks" : "runs")
})

test.each(grantScopes)(
  "an approval remembered as %s is void for another definition, version and folder",
  async (scope) => {
    const system = await openApp()
    await remember(system, scope)
    for (const [what, change] of [
      ["description", { description: "Does more." }],
      [
        "schema",
        {
          input: z.object({
            n: z.number().default(1),
            path: z.string().default("a.txt"),
            more: z.string().optional(),
          }) as never,
        },
      ],
      ["effect", { effect: "network" }],
      ["permission", { permission: { level: "moderate", rateLimit: { maxCallsPerHour: 100 } } }],
    ] as [string, Partial<ToolSpec<never>>][]) {
      system.registry.register(probeWith(change), { replace: true })
      expect(await trying(system), what).toBe("asks")
    }
    system.registry.register(probeWith(), { replace: true })
    expect(await trying(system)).toBe("runs")
    system.registry.register(probeWith({ version: "2.0.0" }))
    expect(await trying(system)).toBe("asks")
    const elsewhere = await openApp({ data: { dir: system.dir } }, { workspace: temporaryFolder() })
    expect(await trying(elsewhere)).toBe("asks")
  },
)

test("a grant survives a restart and is named in the audit log", async () => {
  const folder = temporaryFolder()
  const first = await openApp({}, { workspace: folder })
  const grant = await remember(first, "tool-always")
  await first.close()
  const second = await openApp({ data: { dir: first.dir } }, { workspace: folder })
  const ended = await second.call(asking)
  expect(ended).toMatchObject({ result: "ran" })
  const [start] = await second.audit.show(ended.callId)
  expect(start).toMatchObject({ kind: "start", reasons: [{ check: "grant", source: `grant ${grant.id}` }] })
})

test("a grant is described before the approval, and stored with that description", async () => {
  const system = await openApp()
  const item = await leaveWaiting(system, asking)
  expect(item.remember.map(({ scope }) => scope)).toEqual(grantScopes)
  const words = Object.fromEntries(item.remember.map(({ scope, words: said }) => [scope, said]))
  for (const said of Object.values(words)) expect(said).toMatch(/^Agent dev may call probe.* in the folder \/.*\.$/)
  expect(words["input-session"]).toContain("with exactly this input in session s1")
  expect(words["tool-session"]).toContain("touching no more than: write a.txt in session s1")
  expect(words["tool-session"]).toContain("for a day at most")
  expect(words["tool-always"]).toContain("until somebody revokes it")
  expect(words["tool-always"]).not.toContain("session")
  for (const scope of grantScopes) {
    const grant = await remember(system, scope)
    expect(grant).toMatchObject({
      scope,
      verdict: "allow",
      agentId: "dev",
      tool: "probe",
      by: "ann",
      words: words[scope],
    })
    expect(grant.expiresAt === null).toBe(scope === "tool-always")
    await system.approvals.revoke(grant.id, "ann")
  }
  expect((await remember(system, "tool-session", "reject")).words).toMatch(/^Agent dev may not call probe/)
})

test("grants can be listed and revoked, and then every process on the store asks at once", async () => {
  const folder = temporaryFolder()
  const one = await openApp({}, { workspace: folder })
  const two = await openApp({ data: { dir: one.dir } }, { workspace: folder })
  const grant = await remember(one, "tool-session")
  await until(async () => (await trying(two)) === "runs", "the other app knows the grant")
  expect(await two.approvals.grants()).toEqual([grant])
  expect(await two.approvals.grants({ agentId: "other" })).toEqual([])
  for (const unknown of ["nothing", ""]) expect(await two.approvals.revoke(unknown, "bob")).toBeUndefined()
  expect(await two.approvals.revoke(grant.id.slice(0, 8), "bob")).toEqual(grant)
  expect(await trying(two)).toBe("asks")
  await until(async () => (await trying(one)) === "asks", "the other app knows that it was revoked")
  expect(await one.approvals.grants({ includeExpired: true })).toEqual([])
})

test("an ambiguous id revokes nothing", async () => {
  const system = await openApp()
  const grants = [await remember(system, "input-session")]
  await system.approvals.revoke(grants[0]!.id, "ann")
  const first = await remember(system, "input-session")
  const { callId } = await leaveWaiting(system, { ...asking, input: { n: 2 } })
  await system.approvals.answer(callId, { kind: "approve", remember: "input-session" }, "ann")
  expect(await system.approvals.grants()).toHaveLength(2)
  expect(await system.approvals.revoke(first.id.slice(0, 4), "ann")).toBeUndefined()
  expect(await system.approvals.grants()).toHaveLength(2)
})

test.each(grantScopes)(
  "a no remembered as %s refuses the next call without asking, until it is taken back",
  async (scope) => {
    const system = await openApp()
    const grant = await remember(system, scope, "reject")
    const ended = await system.call(asking)
    expect(ended).toMatchObject({ code: "approval_rejected", status: "execution_rejected", metadata: { ran: false } })
    expect(ended.error).toContain("ann said no, and it is remembered: Never.")
    expect(await trying(system, { input: { n: 2 } })).toBe(scope === "input-session" ? "asks" : "approval_rejected")
    expect(await trying(system, { sessionId: "s2" })).toBe(session.includes(scope) ? "asks" : "approval_rejected")
    expect(await trying(system, { agentId: "other" })).toBe("asks")
    await system.approvals.revoke(grant.id, "ann")
    expect(await trying(system)).toBe("asks")
  },
)

test("a rejection is remembered for a sensitive tool too, and only if the person wants it", async () => {
  const system = await openApp()
  system.registry.register(probeWith({ permission: { level: "sensitive" } }), { replace: true })
  expect(await trying(system)).toBe("asks")
  expect(await trying(system)).toBe("asks")
  await remember(system, "tool-session", "reject")
  expect(await system.call(asking)).toMatchObject({ code: "approval_rejected" })
  const { callId } = await leaveWaiting(system, { ...asking, sessionId: "s2" })
  const result = await system.approvals.answer(callId, { kind: "reject", remember: "for ever" as never }, "ann")
  expect(result).toEqual({ ok: false, sentence: expect.stringContaining("cannot be remembered as 'for ever'") })
})

test("an expired grant does not count and is listed only with includeExpired", async () => {
  const folder = temporaryFolder()
  const system = await openApp({}, { workspace: folder })
  const grant = await remember(system, "tool-session")
  expect(grant.expiresAt).toBe(grant.createdAt + 24 * 60 * 60 * 1000)
  const { documents } = await openTestStore({ dataDir: system.dir })
  await documents.put({ kind: "grant", id: grant.id, body: { ...grant, expiresAt: Date.now() - 1 } }, "test")
  await until(async () => (await system.approvals.grants()).length === 0, "the app knows")
  expect(await trying(system)).toBe("asks")
  expect(await system.approvals.grants({ includeExpired: true })).toMatchObject([{ id: grant.id }])
})

test.each<[string, Partial<ToolSpec<never>>, Config["rules"], unknown]>([
  ["a sensitive tool", { permission: { level: "sensitive" } }, [], {}],
  ["a dangerous tool", { permission: { level: "moderate", dangerous: true } }, [], {}],
  ["a call that a rule asks about", {}, [{ ask: "probe", because: "Look every time." }], {}],
  ["a command nobody could prove", { touches: () => [{ kind: "command", what: "ls $HOME" }] }, [], {}],
  [
    "a tool that cannot say what it touches",
    {
      touches: () => {
        throw new Error("no")
      },
    },
    [],
    {},
  ],
  ["a tool that says odd things about what it touches", { touches: () => [{ kind: "write" } as never] }, [], {}],
  [
    "a call that itself asks to be confirmed",
    { input: z.object({ require_confirmation: z.boolean() }) as never, touches: () => [] },
    [],
    { require_confirmation: true },
  ],
])("an approval of %s cannot be remembered", async (_what, more, rules, input) => {
  const system = await openApp({ rules })
  system.registry.register(probeWith(more), { replace: true })
  const item = await leaveWaiting(system, { ...asking, input })
  expect(item.remember).toEqual([])
  for (const scope of grantScopes) {
    expect(await system.approvals.answer(item.callId, { kind: "approve", remember: scope }, "ann")).toEqual({
      ok: false,
      sentence: `This yes cannot be remembered as '${scope}'. Approve it once.`,
    })
  }
  expect(await showPending(system, item.callId)).toEqual(item)
  expect(await system.approvals.grants()).toEqual([])
})

test("an approval is remembered for as many minutes as the person says, 30 without a number", async () => {
  const system = await openApp()
  const { callId } = await leaveWaiting(system, asking)
  for (const minutes of [0, 481, 1.5, -1, NaN]) {
    const answer = { kind: "approve", remember: "minutes", minutes } as const
    expect(await system.approvals.answer(callId, answer, "ann")).toMatchObject({ ok: false })
  }
  await system.approvals.answer(callId, { kind: "approve", remember: "minutes", minutes: 480 }, "ann")
  await system.resume(callId)
  const [long] = await system.approvals.grants()
  expect(long).toMatchObject({ scope: "minutes", expiresAt: long!.createdAt + 480 * 60_000 })
  expect(long!.words).toMatch(/, for 480 minutes\.$/)
  await system.approvals.revoke(long!.id, "ann")
  const usual = await remember(system, "minutes")
  expect(usual.expiresAt).toBe(usual.createdAt + 30 * 60_000)
})

test("a call without a task cannot be remembered for one, neither with yes nor with no", async () => {
  const system = await openApp()
  const item = await leaveWaiting(system, { ...asking, taskId: undefined })
  expect(item.remember.map(({ scope }) => scope)).toEqual(grantScopes.filter((scope) => scope !== "task"))
  for (const kind of ["approve", "reject"] as const) {
    expect(await system.approvals.answer(item.callId, { kind, remember: "task" }, "ann")).toMatchObject({ ok: false })
  }
  expect(await showPending(system, item.callId)).toEqual(item)
})

test("a later rule that asks is not answered by an earlier grant", async () => {
  const system = await openApp()
  await remember(system, "tool-always")
  expect(await trying(system)).toBe("runs")
  await system.rules.add({ ask: "probe", because: "From now on." }, "ann")
  expect(await trying(system)).toBe("asks")
})

test.each([
  ["moderate", { persistDecision: true }, 1, "tool-session"],
  ["moderate", { remember: "tool-always" }, 1, "tool-always"],
  ["moderate", { persistDecision: false }, 3, undefined],
  ["moderate", { remember: "for ever" as never }, 3, undefined],
  ["sensitive", { persistDecision: true }, 3, undefined],
  ["sensitive", { remember: "tool-session" }, 3, undefined],
] as const)(
  "a dialog about a %s tool that answers yes with %j is shown %i times in three calls",
  async (level, more, shown, scope) => {
    let asked = 0
    const onExecution = () => ({ approved: ++asked > 0, ...more })
    const system = await openApp({}, { approvals: callbackAdapter({ onExecution }) })
    system.registry.register(probeWith({ permission: { level } }), { replace: true })
    for (let call = 0; call < 3; call++) expect(await system.call(asking)).toMatchObject({ result: "ran" })
    expect(asked).toBe(shown)
    expect((await system.approvals.grants()).map((grant) => grant.scope)).toEqual(scope === undefined ? [] : [scope])
  },
)

test("a dialog whose rejection is remembered is not shown again", async () => {
  let asked = 0
  const onExecution = () => ({ approved: ++asked < 0, persistDecision: true, rejectReason: "Never." })
  const system = await openApp({}, { approvals: callbackAdapter({ onExecution }) })
  for (let call = 0; call < 3; call++) expect(await system.call(asking)).toMatchObject({ code: "approval_rejected" })
  expect(asked).toBe(1)
})
