import { expect, test } from "vitest"
import { z } from "zod"
import type { Quartermaster } from "../quartermaster.ts"
import { callbackAdapter } from "../approval/callback.ts"
import type { EventType } from "../model/events.ts"
import { failure } from "../model/ending.ts"
import type { ToolResult } from "../model/result.ts"
import { modelText } from "../model/text.ts"
import { goAround } from "../store/testing.ts"
import { open, tool, until } from "../testing/open.ts"
import { leave, onDesk, oneNumber, ticketOf } from "./testing.ts"

const always = { requireResultApproval: "always" } as const
const probing = { agentId: "operator", tool: "probe", input: {} }

/** A house whose probe returns what it is given, and holds it. */
async function holding(): Promise<Quartermaster & { hold(value: unknown): Promise<string> }> {
  const system = await open()
  const input = z.object({ value: z.any(), n: z.number() }) as never
  system.registry.register(tool({ input, permission: always, execute: ({ value }: { value: unknown }) => value }))
  let n = 0
  return { ...system, hold: async (value) => (await leave(system, { input: { value, n: n++ } })).callId }
}

test.each([
  ["never", true, false],
  ["on-error", true, false],
  ["on-error", false, true],
  ["always", true, true],
  ["always", false, true],
] as const)(
  "result approval %s: a result with success %s is held: %s [S1-29] [D-17]",
  async (requireResultApproval, success, held) => {
    let asked = 0
    const system = await open({}, { approvals: callbackAdapter({ onResult: () => ++asked > 0 }) })
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
    const system = await open({ rules })
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
    const ended = await system.submit(probing, { waitMs: 0 })
    expect("state" in ended ? ended.state : ended.success).toBe(held ? "held" : success)
    expect(runs).toBe(1)
  },
)

test("a withheld result stays with the host and never reaches the model; the tool ran once [S1-22] [S1-32] [S1-53]", async () => {
  let runs = 0
  const system = await open(
    {},
    { approvals: callbackAdapter({ onResult: () => ({ approved: false, rejectReason: "Private." }) }) },
  )
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

test("whoever joined a call, or comes back with its key, does not get a result that was withheld", async () => {
  const system = await open()
  system.registry.register(tool({ permission: always, execute: () => "private words" }))
  const asked = { ...probing, key: "k1" }
  const first = system.call(asked)
  await until(async () => (await system.desk.list()).length === 1, "the result is held")
  const joined = system.call(asked)
  const [{ callId } = { callId: "" }] = await system.desk.list()
  await system.desk.say(callId, { say: "withhold", reason: "Private." }, "ann")
  expect(await first).toMatchObject({ code: "result_withheld", result: "private words" })
  for (const ended of [await joined, await system.call(asked), await system.resume(callId)]) {
    expect(ended).toMatchObject({ callId, code: "result_withheld", rejectReason: "Private." })
    expect(JSON.stringify(ended)).not.toContain("private words")
  }
})

test("a held result survives a restart and is released without a second run [S1-20] [S1-21] [S1-57]", async () => {
  const first = await open()
  let runs = 0
  const held = tool({ permission: always, execute: () => ++runs })
  first.registry.register(held)
  const { callId, state } = ticketOf(await first.submit(probing, { waitMs: 0 }))
  expect(state).toBe("held")
  await first.close()
  const second = await open({ data: { dir: first.dir } })
  second.registry.register(held)
  await second.desk.say(callId, { say: "release" }, "ann")
  expect(await second.resume(callId)).toMatchObject({ result: 1, success: true })
  expect(await second.resume(callId)).toMatchObject({ result: 1, success: true })
  expect(runs).toBe(1)
})

test("a held result that is taken up again is told to whoever watches, and stands in the record once", async () => {
  const system = await open()
  const seen: EventType[] = []
  for (const type of ["TOOL_CALL_WAITING", "TOOL_CALL_RELEASED", "TOOL_CALL_COMPLETED"] as const)
    system.on(type, () => seen.push(type))
  let runs = 0
  system.registry.register(tool({ permission: always, execute: () => ++runs }))
  const { callId } = await leave(system)
  for (let again = 0; again < 2; again++) expect(await system.resume(callId, { waitMs: 0 })).toMatchObject({ callId })
  expect(seen).toEqual(["TOOL_CALL_WAITING", "TOOL_CALL_WAITING", "TOOL_CALL_WAITING"])
  await system.desk.say(callId, { say: "release" }, "ann")
  expect(await system.resume(callId)).toMatchObject({ result: 1 })
  expect(seen.slice(3)).toEqual(["TOOL_CALL_RELEASED", "TOOL_CALL_COMPLETED"])
  expect((await system.audit.show(callId)).map(({ kind }) => kind)).toEqual(["start", "held", "released", "end"])
  expect(runs).toBe(1)
})

test("a held result that was refused, and that nobody comes for, ends as withheld", async () => {
  const system = await open()
  system.registry.register(tool({ permission: always, execute: () => "private words" }))
  const { callId } = await leave(system)
  await system.desk.say(callId, { say: "withhold", reason: "No." }, "ann")
  const other = await open({ data: { dir: system.dir } }, { sweepMs: 20 })
  await until(async () => (await other.audit.list()).length === 1, "the call was ended")
  expect((await other.audit.list())[0]).toMatchObject({ code: "result_withheld" })
  const ended = await other.resume(callId)
  expect(ended).toMatchObject({ code: "result_withheld", rejectReason: "No.", metadata: { ran: true } })
  expect(JSON.stringify(ended)).not.toContain("private words")
})

test("nobody releases a result in time: it ends withheld, and is not handed out later", async () => {
  const system = await open({ approvals: { deadline: 0.002 } })
  system.registry.register(tool({ permission: always, execute: () => "private words" }))
  const ended = await system.call(probing)
  expect(ended).toMatchObject({ code: "result_withheld", rejectReason: "Nobody released it in time." })
  expect(modelText(ended)).not.toContain("private words")
  expect(await system.desk.say(ended.callId, { say: "release" }, "ann")).toMatchObject({ ok: false })
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
    expect(await system.desk.say(callId, { say: "release", redact }, "ann"), what).toMatchObject({ ok: true })
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
    const heard = await system.desk.say(callId, { say: "release", redact }, "ann")
    const sentence = expect.stringContaining(`There is nothing at '${redact.at(-1)}'`)
    expect(heard, String(redact)).toEqual({ ok: false, sentence })
  }
  expect(await onDesk(system, callId)).toMatchObject({ kind: "result", result: { result: row } })
  expect(ticketOf(await system.resume(callId, { waitMs: 0 })).state).toBe("held")
})

test("what is taken out is taken out of what the person saw, not of an object that only looks like it as JSON", async () => {
  class Account {
    readonly #password = "hunter2"
    toJSON() {
      return { name: "ann", password: this.#password }
    }
  }
  const approvals = callbackAdapter({ onResult: () => ({ approved: true, redact: ["/password"] }) })
  const system = await open({}, { approvals })
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
      const heard = await system.desk.say(callId, { say: "release", replace: bad }, "ann")
      expect(heard).toEqual({ ok: false, sentence: expect.stringContaining("Give plain JSON.") })
    }
    expect(await system.desk.say(callId, { say: "release", replace }, "ann")).toMatchObject({ ok: true })
    const ended = await system.resume(callId)
    expect(ended).toMatchObject({ success: true, result: replace, metadata: { redacted: true } })
    expect(JSON.stringify(ended)).not.toContain("private words")
  }
})

test("an adapter that replaces a result with nothing lets nothing out", async () => {
  const approvals = callbackAdapter({ onResult: () => ({ approved: true, replace: { value: undefined } }) })
  const system = await open({}, { approvals })
  system.registry.register(tool({ permission: always, execute: () => "private words" }))
  expect(await system.call(probing)).toMatchObject({ success: true, result: null })
})

test("an error that is held has no parts to take out; it leaves as it is, in other words, or not at all [D-17]", async () => {
  const system = await open()
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
  for (const [n, saying] of (
    [{ say: "release" }, { say: "release", replace: "It failed." }, { say: "withhold" }] as const
  ).entries()) {
    const { callId, result } = await leave(system, { input: { n } })
    expect(result).toMatchObject({ code: "tool_failed", error: "The password hunter2 is wrong." })
    const heard = await system.desk.say(callId, { say: "release", redact: ["/error"] }, "ann")
    expect(heard).toMatchObject({ ok: false, sentence: expect.stringContaining("this is an error") })
    expect(await system.desk.say(callId, saying, "ann")).toMatchObject({ ok: true })
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
  const system = await open()
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
  const artifacts = () => goAround(system.dir, (database) => database.prepare("select id from artifacts").all())
  const { callId, result } = await leave(system)
  expect(result).toMatchObject({ result: value })
  expect(result?.truncated).toBeUndefined()
  expect(events).toMatchObject([["TOOL_CALL_OUTPUT", { peopleOnly: true }]])
  expect(await artifacts()).toEqual([])

  await system.desk.say(callId, { say: "release", redact: ["/secret"] }, "ann")
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

test("what a tool still says after its time is for people only, where its result may be held", async () => {
  const system = await open()
  const late: boolean[] = []
  system.on("TOOL_CALL_LATE_RESULT", ({ peopleOnly }) => late.push(peopleOnly))
  const slow = { timeoutMs: 5, execute: () => new Promise((resolve) => setTimeout(resolve, 40)) }
  system.registry.register(tool({ ...slow, permission: { requireResultApproval: "on-error" } }))
  system.registry.register(tool({ ...slow, name: "open" }))
  // How the house ended it says nothing of what the tool found, so nobody need release it.
  expect(await system.call(probing)).toMatchObject({ code: "timeout" })
  expect(await system.call({ ...probing, tool: "open" })).toMatchObject({ code: "timeout" })
  await until(() => late.length === 2, "both tools settled")
  expect(late).toEqual([true, false])
})

test.each([
  ["is still held when the rule is gone", undefined],
  ["leaves as it was released when the rule is gone", ["/secret"]],
] as const)("a result that a rule held back %s", async (_what, redact) => {
  const first = await open()
  const reads = tool({ execute: () => ({ secret: "hunter2", name: "ann" }) })
  first.registry.register(reads)
  const rule = await first.rules.add({ ask: "probe", release: "always", because: "It reads private things." }, "ann")
  const { callId } = await leave(first)
  if (redact !== undefined) await first.desk.say(callId, { say: "release", redact }, "ann")
  await first.rules.remove(rule.id, "ann")
  await first.close()
  const second = await open({ data: { dir: first.dir } })
  second.registry.register(reads)
  const ended = await second.resume(callId, { waitMs: 0 })
  if (redact === undefined) expect(ticketOf(ended)).toMatchObject({ state: "held" })
  else expect(ended).toMatchObject({ result: { secret: "[redacted]", name: "ann" } })
})

test("what has run is not decided again: neither a limit nor a new rule takes away a result that a person releases", async () => {
  const system = await open()
  let runs = 0
  const once = { ...always, rateLimit: { maxCallsPerHour: 1 } }
  system.registry.register(tool({ input: z.object({}) as never, permission: once, execute: () => ++runs }))
  const { callId } = await leave(system)
  await system.rules.add({ deny: "probe", args: { "": "*" }, because: "No more of it." }, "ann")
  expect(ticketOf(await system.resume(callId, { waitMs: 0 })).state).toBe("held")
  await system.desk.say(callId, { say: "release" }, "ann")
  expect(await system.resume(callId)).toMatchObject({ success: true, result: 1 })
  expect(await system.call(probing)).toMatchObject({ success: false })
  expect(runs).toBe(1)
})
