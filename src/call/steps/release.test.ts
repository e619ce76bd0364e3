import { expect, test } from "vitest"
import { z } from "zod"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import type { CallRequest } from "../../core/call.ts"
import type { EventType } from "../../core/events.ts"
import { failure } from "../../core/ending.ts"
import type { ToolResult } from "../../core/result.ts"
import { modelText } from "../../core/model-text.ts"
import { withSecondConnection } from "../../store/testing/test-store.ts"
import { deferred, openTestApp, tool, until } from "../../testing/test-app.ts"
import { changeRow, leaveWaiting, showPending, oneNumber, expectTicket } from "../testing.ts"

const always = { requireResultApproval: "always" } as const
const probing = { agentId: "operator", tool: "probe", input: {} }

/** An app whose probe returns its input, and whose results are held. */
async function holding(): Promise<Quartermaster & { hold(value: unknown): Promise<string> }> {
  const system = await openTestApp()
  const input = z.object({ value: z.any(), n: z.number() }) as never
  system.registry.register(tool({ input, permission: always, execute: ({ value }: { value: unknown }) => value }))
  let n = 0
  return { ...system, hold: async (value) => (await leaveWaiting(system, { input: { value, n: n++ } })).callId }
}

test.each([
  ["never", true, false],
  ["on-error", true, false],
  ["on-error", false, true],
  ["always", true, true],
  ["always", false, true],
] as const)(
  "result approval %s: a result with success %s is held: %s",
  async (requireResultApproval, success, held) => {
    let asked = 0
    const system = await openTestApp({}, { approvals: callbackAdapter({ onResult: () => ++asked > 0 }) })
    system.registry.register(
      tool({
        permission: { requireResultApproval },
        execute() {
          if (!success) throw failure("It failed.")
          return "ran"
        },
      }),
    )
    const result = await system.call(probing)
    expect(result.success).toBe(success)
    expect(asked).toBe(held ? 1 : 0)
  },
)

test.each([
  ["never", undefined, true, false],
  ["never", "on-error", true, false],
  ["never", "on-error", false, true],
  ["never", "always", true, true],
  ["on-error", "always", true, true],
  ["always", "on-error", true, true],
] as const)(
  "a tool that says %s with a rule that says %s: a result with success %s is held: %s",
  async (requireResultApproval, release, success, held) => {
    const rules =
      release === undefined ? [] : [{ ask: "probe", release, because: "Results of probes are looked at first." }]
    const system = await openTestApp({ rules })
    let runs = 0
    system.registry.register(
      tool({
        permission: { requireResultApproval },
        execute() {
          runs++
          if (!success) throw failure("It failed.")
          return "ran"
        },
      }),
    )
    const ended = await system.call(probing, { waitMs: 0 })
    expect("state" in ended ? ended.state : ended.success).toBe(held ? "held" : success)
    expect(runs).toBe(1)
  },
)

test.each([
  ["never", "moderate", true, ["configuration rules[0]"]],
  ["never", "public", false, ["configuration rules[0]", "configuration rules[1]"]],
  ["on-error", "public", false, ["release", "configuration rules[0]", "configuration rules[1]"]],
  ["always", "moderate", true, ["release", "configuration rules[0]"]],
] as const)(
  "a held result of a tool that says %s (%s, success %s) names what holds it: %j",
  async (requireResultApproval, level, success, named) => {
    const rules = [
      { ask: "probe", release: "always" as const, because: "Results of probes are looked at first." },
      { ask: "probe", release: "on-error" as const, because: "Errors of probes tell too much." },
      { ask: "other", release: "always" as const, because: "It is about another tool." },
    ]
    const asks = callbackAdapter({ onExecution: () => true, onResult: () => new Promise(() => {}) })
    const system = await openTestApp({ rules }, { approvals: asks })
    system.registry.register(
      tool({
        permission: { requireResultApproval, level },
        execute() {
          if (!success) throw failure("It failed.")
          return "ran"
        },
      }),
    )
    void system.call(probing)
    await until(async () => (await system.approvals.list()).some(({ kind }) => kind === "result"), "the result is held")
    const [held] = await system.approvals.list()
    expect(held?.reasons.map(({ check, source }) => (check === "rule" ? source : check))).toEqual(named)
    expect(held?.reasons.at(-1)?.sentence).toContain(
      success ? "Results of probes are looked at first." : "Errors of probes tell too much.",
    )
  },
)

const withholding = callbackAdapter({ onResult: () => ({ approved: false, rejectReason: "Private." }) })

test("a withheld result is nowhere in what the host gets, whatever the request says", async () => {
  const app = await openTestApp({}, { approvals: withholding })
  app.registry.register(tool({ permission: always, execute: () => ({ secret: "classified" }) }))
  const result = await app.call({ ...probing, keepWithheld: true } as typeof probing)
  expect(result).toMatchObject({ status: "result_rejected", code: "result_withheld", rejectReason: "Private." })
  expect("result" in result).toBe(false)
  expect(JSON.stringify(result)).not.toContain("classified")
})

test("with keepWithheld the host gets it, but a tool that made the call does not", async () => {
  const app = await openTestApp({}, { approvals: withholding, keepWithheld: true })
  app.registry.register(tool({ permission: always, execute: () => ({ secret: "classified" }) }))
  app.registry.register(
    tool({ name: "above", kind: "composite", execute: async (_, { call }) => JSON.stringify(await call("probe", {})) }),
  )
  expect((await app.call(probing)).result).toEqual({ secret: "classified" })
  const above = await app.call({ agentId: "operator", tool: "above", input: {} })
  expect(above).toMatchObject({ success: true, result: expect.stringContaining("result_withheld") })
  expect(above.result).not.toContain("classified")
})

test("a withheld result never reaches the model; the tool ran once", async () => {
  let runs = 0
  const system = await openTestApp({}, { keepWithheld: true, approvals: withholding })
  const chunks: boolean[] = []
  system.on("TOOL_CALL_OUTPUT", ({ peopleOnly }) => chunks.push(peopleOnly))
  system.registry.register(
    tool({ permission: always, async *execute() { runs++; yield "secret"; return { secret: "data" } } }), // prettier-ignore
  )
  const result = await system.call(probing)
  expect(result).toMatchObject({
    status: "result_rejected",
    code: "result_withheld",
    rejectReason: "Private.",
    result: { secret: "data" },
  })
  expect(modelText(result)).not.toContain("data")
  expect(modelText(result)).toContain("Private.")
  expect(chunks).toEqual([true])
  expect(runs).toBe(1)
  await system.settle()
  const story = await system.audit.show(result.callId)
  expect(story.map((entry) => entry.kind)).toEqual(["start", "held", "withheld", "end"])
  expect(JSON.stringify(story)).not.toContain("data")
})

test("a withheld result is not returned to calls that joined or come back with the key", async () => {
  const system = await openTestApp({}, { keepWithheld: true })
  system.registry.register(tool({ permission: always, execute: () => "private words" }))
  const asked = { ...probing, key: "k1" }
  const first = system.call(asked)
  await until(async () => (await system.approvals.list()).length === 1, "the result is held")
  const joined = system.call(asked)
  const [{ callId } = { callId: "" }] = await system.approvals.list()
  await system.approvals.answer(callId, { kind: "withhold", reason: "Private." }, "ann")
  expect(await first).toMatchObject({ code: "result_withheld", result: "private words" })
  for (const ended of [await joined, await system.call(asked), await system.resume(callId)]) {
    expect(ended).toMatchObject({ callId, code: "result_withheld", rejectReason: "Private." })
    expect(JSON.stringify(ended)).not.toContain("private words")
  }
})

test("a held result survives a restart and is released without a second run", async () => {
  const first = await openTestApp()
  let runs = 0
  const held = tool({ permission: always, execute: () => ++runs })
  first.registry.register(held)
  const { callId, state } = expectTicket(await first.call(probing, { waitMs: 0 }))
  expect(state).toBe("held")
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir } })
  second.registry.register(held)
  await second.approvals.answer(callId, { kind: "release" }, "ann")
  expect(await second.resume(callId)).toMatchObject({ result: 1, success: true })
  expect(await second.resume(callId)).toMatchObject({ result: 1, success: true })
  expect(runs).toBe(1)
})

test.each([
  ["release", { success: true, result: "ran" }],
  ["withhold", { success: false, code: "result_withheld" }],
] as const)("the same call made again redeems the ticket of a held result: %s", async (kind, expected) => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ permission: always, execute: () => (runs++, "ran") }))
  const { callId } = expectTicket(await system.call(probing, { waitMs: 0 }))
  expect(expectTicket(await system.call(probing, { waitMs: 0 })).callId).toBe(callId)
  await system.approvals.answer(callId, { kind }, "ann")
  expect(await system.call(probing)).toMatchObject({ callId, ...expected })
  expect([runs, await system.approvals.list()]).toEqual([1, []])
})

test.each<[string, Partial<CallRequest>]>([
  ["input", { input: { n: 2 } }],
  ["session", { sessionId: "other" }],
  ["task", { taskId: "other" }],
  ["person", { userId: "other" }],
  ["folder", { allowedPaths: ["other"] }],
  ["key", { key: "other" }],
])("a call with another %s does not get a held result", async (_, other) => {
  const system = await openTestApp()
  let runs = 0
  const input = { type: "object", properties: { n: { type: "number" } } } as const
  system.registry.register(tool({ input, permission: always, execute: () => ++runs }))
  const { callId } = expectTicket(await system.call(probing, { waitMs: 0 }))
  await system.approvals.answer(callId, { kind: "release" }, "ann")
  expect(expectTicket(await system.call({ ...probing, ...other }, { waitMs: 0 })).callId).not.toBe(callId)
  expect(runs).toBe(2)
})

test("the same call takes over a held result whose process was killed", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ permission: always, execute: () => ++runs }))
  const { callId } = expectTicket(await system.call(probing, { waitMs: 0 }))
  // A killed process has given no ticket.
  await changeRow(system.dir, callId, () => ({ wanted: 0 }))
  await system.approvals.answer(callId, { kind: "release" }, "ann")
  expect(await system.call(probing)).toMatchObject({ callId, result: 1 })
  expect(runs).toBe(1)
})

test("two equal calls whose results are held are two calls, and so are those that redeem their tickets", async () => {
  const system = await openTestApp()
  let runs = 0
  system.registry.register(tool({ permission: always, execute: () => ++runs }))
  const tickets = (await system.callMany([probing, probing], { waitMs: 0, oneAnswer: true })).map(expectTicket)
  for (const { callId } of tickets) await system.approvals.answer(callId, { kind: "release" }, "ann")
  const ended = await system.callMany([probing, probing], { oneAnswer: true })
  expect(ended.map(({ callId }) => callId).toSorted()).toEqual(tickets.map(({ callId }) => callId).toSorted())
  expect(runs).toBe(2)
})

test("a held result that is resumed is announced again, and is in the audit log once", async () => {
  const system = await openTestApp()
  const seen: EventType[] = []
  for (const type of ["TOOL_CALL_WAITING", "TOOL_CALL_RELEASED", "TOOL_CALL_COMPLETED"] as const)
    system.on(type, () => seen.push(type))
  let runs = 0
  system.registry.register(tool({ permission: always, execute: () => ++runs }))
  const { callId } = await leaveWaiting(system)
  for (let again = 0; again < 2; again++) expect(await system.resume(callId, { waitMs: 0 })).toMatchObject({ callId })
  expect(seen).toEqual(["TOOL_CALL_WAITING", "TOOL_CALL_WAITING", "TOOL_CALL_WAITING"])
  await system.approvals.answer(callId, { kind: "release" }, "ann")
  expect(await system.resume(callId)).toMatchObject({ result: 1 })
  expect(seen.slice(3)).toEqual(["TOOL_CALL_RELEASED", "TOOL_CALL_COMPLETED"])
  expect((await system.audit.show(callId)).map(({ kind }) => kind)).toEqual([
    "start",
    "held",
    "answered",
    "released",
    "end",
  ])
  expect(runs).toBe(1)
})

test("a held result that was refused and is not fetched ends as withheld", async () => {
  const system = await openTestApp({}, { keepWithheld: true })
  system.registry.register(tool({ permission: always, execute: () => "private words" }))
  const { callId } = await leaveWaiting(system)
  await system.approvals.answer(callId, { kind: "withhold", reason: "No." }, "ann")
  const other = await openTestApp({ data: { dir: system.dir } }, { sweepMs: 20 })
  await until(async () => (await other.audit.list()).length === 1, "the call was ended")
  expect((await other.audit.list())[0]).toMatchObject({ code: "result_withheld" })
  const ended = await other.resume(callId)
  expect(ended).toMatchObject({ code: "result_withheld", rejectReason: "No.", metadata: { ran: true } })
  expect(JSON.stringify(ended)).not.toContain("private words")
})

test("a result that is not released in time ends withheld, and is not returned later", async () => {
  const system = await openTestApp({ approvals: { deadline: 0.002 } })
  system.registry.register(tool({ permission: always, execute: () => "private words" }))
  const ended = await system.call(probing)
  expect(ended).toMatchObject({ code: "result_withheld", rejectReason: "Nobody released it in time." })
  expect(modelText(ended)).not.toContain("private words")
  expect(await system.approvals.answer(ended.callId, { kind: "release" }, "ann")).toMatchObject({ ok: false })
  expect(JSON.stringify(await system.resume(ended.callId))).not.toContain("private words")
})

const row = {
  "a/b": { "m~n": "secret" },
  "": "empty",
  list: ["one", { two: 2 }, ["three"]],
  nothing: null,
  no: false,
  "x~2": 1,
}

test("a release takes out just what the pointers name", async () => {
  const system = await holding()
  const cases: [string, readonly string[], unknown][] = [
    ["a member", ["/no"], { ...row, no: "[redacted]" }],
    ["a member that is null", ["/nothing"], { ...row, nothing: "[redacted]" }],
    ["a member without a name", ["/"], { ...row, "": "[redacted]" }],
    ["names with / and ~ in them", ["/a~1b/m~0n"], { ...row, "a/b": { "m~n": "[redacted]" } }],
    ["an element", ["/list/0"], { ...row, list: ["[redacted]", { two: 2 }, ["three"]] }],
    ["in elements", ["/list/1/two", "/list/2/0"], { ...row, list: ["one", { two: "[redacted]" }, ["[redacted]"]] }],
    ["a part, then what is around it", ["/a~1b/m~0n", "/a~1b"], { ...row, "a/b": "[redacted]" }],
    ["what is around it, then a part", ["/a~1b", "/a~1b/m~0n"], { ...row, "a/b": "[redacted]" }],
    ["everything", [""], "[redacted]"],
    ["nothing", [], row],
  ]
  for (const [what, redact, expected] of cases) {
    const callId = await system.hold(row)
    expect(await system.approvals.answer(callId, { kind: "release", redact }, "ann"), what).toMatchObject({ ok: true })
    const ended = (await system.resume(callId)) as ToolResult
    expect(ended.result, what).toEqual(expected)
    expect(ended.metadata?.["redacted"], what).toBe(redact.length === 0 ? undefined : true)
  }
})

test("pointers that name something that is not there release nothing", async () => {
  const system = await holding()
  const callId = await system.hold(row)
  const odd = ["/missing", "/list/3", "/list/-", "/list/00", "/list/length", "/list/0/length", "/a/b", "no", "/x~2"]
  for (const redact of [...[...odd, "/constructor", "/__proto__"].map((pointer) => [pointer]), ["/no", "/missing"]]) {
    const answered = await system.approvals.answer(callId, { kind: "release", redact }, "ann")
    const sentence = expect.stringContaining(`There is nothing at '${redact.at(-1)}'`)
    expect(answered, String(redact)).toEqual({ ok: false, sentence })
  }
  expect(await showPending(system, callId)).toMatchObject({ kind: "result", result: { result: row } })
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).state).toBe("held")
})

test("redactions apply to what the person saw, not to an object that only looks like it as JSON", async () => {
  class Account {
    readonly #password = "hunter2"
    toJSON() {
      return { name: "ann", password: this.#password }
    }
  }
  const approvals = callbackAdapter({ onResult: () => ({ approved: true, redact: ["/password"] }) })
  const system = await openTestApp({}, { approvals })
  system.registry.register(tool({ permission: always, execute: () => new Account() }))
  const ended = await system.call(probing)
  expect(ended.result).toEqual({ name: "ann", password: "[redacted]" })
  expect(modelText(ended)).not.toContain("hunter2")
})

test("a person may put another value in the place of a result, if it is JSON", async () => {
  const system = await holding()
  for (const replace of [null, 0, "", false, "Ask ann.", { rows: [1] }]) {
    const callId = await system.hold("private words")
    for (const bad of [10n, () => 1, { when: new Date() }]) {
      const answered = await system.approvals.answer(callId, { kind: "release", replace: bad }, "ann")
      expect(answered).toEqual({ ok: false, sentence: expect.stringContaining("Give plain JSON.") })
    }
    expect(await system.approvals.answer(callId, { kind: "release", replace }, "ann")).toMatchObject({ ok: true })
    const ended = await system.resume(callId)
    expect(ended).toMatchObject({ success: true, result: replace, metadata: { redacted: true } })
    expect(JSON.stringify(ended)).not.toContain("private words")
  }
})

test("an adapter that replaces a result with undefined releases nothing of it", async () => {
  const approvals = callbackAdapter({ onResult: () => ({ approved: true, replace: { value: undefined } }) })
  const system = await openTestApp({}, { approvals })
  system.registry.register(tool({ permission: always, execute: () => "private words" }))
  expect(await system.call(probing)).toMatchObject({ success: true, result: null })
})

test("a held error cannot be redacted; it is released, replaced or withheld", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({
      input: oneNumber,
      permission: { requireResultApproval: "on-error" },
      execute() {
        throw failure("The password hunter2 is wrong.", { toolCode: "bad_password" })
      },
    }),
  )
  const ended: ToolResult[] = []
  for (const [n, answer] of (
    [{ kind: "release" }, { kind: "release", replace: "It failed." }, { kind: "withhold" }] as const
  ).entries()) {
    const { callId, result } = await leaveWaiting(system, { input: { n } })
    expect(result).toMatchObject({ code: "tool_failed", error: "The password hunter2 is wrong." })
    const answered = await system.approvals.answer(callId, { kind: "release", redact: ["/error"] }, "ann")
    expect(answered).toMatchObject({ ok: false, sentence: expect.stringContaining("this is an error") })
    expect(await system.approvals.answer(callId, answer, "ann")).toMatchObject({ ok: true })
    ended.push((await system.resume(callId)) as ToolResult)
  }
  expect(ended).toMatchObject([
    { code: "tool_failed", error: "The password hunter2 is wrong.", metadata: { toolCode: "bad_password" } },
    { code: "tool_failed", error: "It failed.", metadata: { ran: true } },
    { code: "result_withheld", rejectReason: "No reason was given." },
  ])
  expect(JSON.stringify(ended.slice(1))).not.toContain("hunter2")
  expect(modelText(ended[1]!)).toBe("Error: It failed.")
})

test("until it is released nothing of a result reaches the model's side, and then only its released form", async () => {
  const system = await openTestApp()
  const events: [EventType, unknown][] = []
  for (const type of ["TOOL_CALL_OUTPUT", "TOOL_CALL_COMPLETED", "TOOL_CALL_FAILED", "TOOL_CALL_LATE_RESULT"] as const)
    system.on(type, (event) => events.push([type, event]))
  const value = { secret: "hunter2", text: "x".repeat(40_000) }
  system.registry.register(
    tool({
      permission: always,
      async *execute() {
        yield "hunter2"
        return value
      },
    }),
  )
  const artifacts = () =>
    withSecondConnection(system.dir, (database) => database.prepare("select id from artifacts").all())
  const { callId, result } = await leaveWaiting(system)
  expect(result).toMatchObject({ result: value })
  expect(result?.truncated).toBeUndefined()
  expect(events).toMatchObject([["TOOL_CALL_OUTPUT", { peopleOnly: true }]])
  expect(await artifacts()).toEqual([])

  await system.approvals.answer(callId, { kind: "release", redact: ["/secret"] }, "ann")
  expect(await artifacts()).toEqual([])
  const ended = (await system.resume(callId)) as ToolResult
  expect(ended.result).toEqual({ ...value, secret: "[redacted]" })
  expect(await artifacts()).toHaveLength(1)
  const stored = await system.call({ ...probing, tool: "get_artifact", input: { ref: ended.truncated?.stored } })
  expect(stored).toMatchObject({ result: { content: JSON.stringify({ ...value, secret: "[redacted]" }) } })
  await system.settle()
  const known = JSON.stringify([events.slice(1), await system.audit.show(callId), ended])
  expect(known).toContain("TOOL_CALL_COMPLETED")
  expect(known).not.toContain("hunter2")
})

test("late output of a tool is for people only if its result may be held", async () => {
  const system = await openTestApp()
  const late: boolean[] = []
  system.on("TOOL_CALL_LATE_RESULT", ({ peopleOnly }) => late.push(peopleOnly))
  const settled = deferred()
  const slow = { timeoutMs: 5, execute: () => settled.promise }
  system.registry.register(tool({ ...slow, permission: { requireResultApproval: "on-error" } }))
  system.registry.register(tool({ ...slow, name: "open" }))
  // An ending by Quartermaster reveals nothing of what the tool found, so it need not be released.
  expect(await system.call(probing)).toMatchObject({ code: "timeout" })
  expect(await system.call({ ...probing, tool: "open" })).toMatchObject({ code: "timeout" })
  settled.resolve()
  await until(() => late.length === 2, "both tools settled")
  expect(late).toEqual([true, false])
})

test.each([
  ["is still held when the rule is gone", undefined],
  ["leaves as it was released when the rule is gone", ["/secret"]],
] as const)("a result that a rule held back %s", async (_what, redact) => {
  const first = await openTestApp()
  const reads = tool({ execute: () => ({ secret: "hunter2", name: "ann" }) })
  first.registry.register(reads)
  const rule = await first.rules.add({ ask: "probe", release: "always", because: "It reads private things." }, "ann")
  const { callId } = await leaveWaiting(first)
  if (redact !== undefined) await first.approvals.answer(callId, { kind: "release", redact }, "ann")
  await first.rules.remove(rule.id, "ann")
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir } })
  second.registry.register(reads)
  const ended = await second.resume(callId, { waitMs: 0 })
  if (redact === undefined) expect(expectTicket(ended)).toMatchObject({ state: "held" })
  else expect(ended).toMatchObject({ result: { secret: "[redacted]", name: "ann" } })
})

test("a call that has run is not decided on again: neither a limit nor a new rule withholds a released result", async () => {
  const system = await openTestApp()
  let runs = 0
  const once = { ...always, rateLimit: { maxCallsPerHour: 1 } }
  system.registry.register(tool({ input: z.object({}) as never, permission: once, execute: () => ++runs }))
  const { callId } = await leaveWaiting(system)
  await system.rules.add({ deny: "probe", args: { "": "*" }, because: "No more of it." }, "ann")
  expect(expectTicket(await system.resume(callId, { waitMs: 0 })).state).toBe("held")
  await system.approvals.answer(callId, { kind: "release" }, "ann")
  expect(await system.resume(callId)).toMatchObject({ success: true, result: 1 })
  expect(await system.call(probing)).toMatchObject({ success: false })
  expect(runs).toBe(1)
})
