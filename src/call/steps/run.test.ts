import { resultOrThrow } from "../../core/errors.ts"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { failure } from "../../core/ending.ts"
import type { EventOf } from "../../core/events.ts"
import { modelText } from "../../core/model-text.ts"
import type { ToolContext } from "../../core/tool.ts"
import { deferred, openTestApp, tool, until } from "../../testing/test-app.ts"
import { useFakeClock } from "../testing.ts"

const operator = { agentId: "operator", input: {} }

test("a tool that never resolves ends at its time limit, and its signal is aborted", async () => {
  const system = await openTestApp()
  const aborted = deferred<unknown>()
  system.registry.register(
    tool({
      timeoutMs: 30,
      execute: (_input, { signal }: ToolContext) => {
        signal.addEventListener("abort", () => aborted.resolve(signal.reason))
        return new Promise(() => {})
      },
    }),
  )
  const result = await system.call({ ...operator, tool: "probe" })
  expect(result).toMatchObject({ code: "timeout", status: "error", metadata: { timeoutMs: 30 } })
  expect(result.error).toContain("Tool execution timed out after 30ms")
  expect(String(await aborted.promise)).toContain("timed out")
})

test("a tool that ignores its signal is announced when it settles after all", async () => {
  const system = await openTestApp()
  const gate = deferred()
  const late: EventOf<"TOOL_CALL_LATE_RESULT">[] = []
  system.on("TOOL_CALL_LATE_RESULT", (event) => late.push(event))
  system.registry.register(tool({ timeoutMs: 20, execute: () => gate.promise }))
  const result = await system.call({ ...operator, tool: "probe" })
  expect(result.code).toBe("timeout")
  expect(late).toEqual([])
  gate.resolve()
  await until(() => late.length === 1, "the late result was announced")
  expect(late[0]).toMatchObject({ callId: result.callId, outcome: "returned" })
  await system.settle()
  const story = await system.audit.show(result.callId)
  expect(story.map((entry) => entry.kind)).toEqual(["start", "end", "late"])
})

test("a timed-out tool keeps its permit until it settles", async () => {
  const system = await openTestApp({ tools: { maxConcurrent: 1 } })
  const gate = deferred()
  system.registry.register(tool({ name: "stuck", timeoutMs: 20, execute: () => gate.promise }))
  await system.call({ ...operator, tool: "stuck" })
  const next = system.call({ ...operator, tool: "current_time" })
  const first = await Promise.race([
    next.then(() => "ran"),
    new Promise((resolve) => setTimeout(() => resolve("waits"), 50)),
  ])
  expect(first).toBe("waits")
  gate.resolve()
  expect(await next).toMatchObject({ success: true })
})

test("the configured time limit counts for tools without one, and a request may shorten it", async () => {
  const system = await openTestApp({ tools: { timeout: 25 } })
  system.registry.register(tool({ execute: () => new Promise(() => {}) }))
  expect(await system.call({ ...operator, tool: "probe" })).toMatchObject({ metadata: { timeoutMs: 25 } })
  expect(await system.call({ ...operator, tool: "probe", timeoutMs: 5 })).toMatchObject({ metadata: { timeoutMs: 5 } })
})

test("sleep has a limit of its own, above the longest sleep, and can be cancelled", async () => {
  const system = await openTestApp({ tools: { timeout: 20 } })
  expect(await system.call({ agentId: "operator", tool: "sleep", input: { duration: 0.06 } })).toMatchObject({
    result: { slept: 0.06 },
  })
  const controller = new AbortController()
  const sleeping = system.call({
    agentId: "operator",
    tool: "sleep",
    input: { duration: 500 },
    signal: controller.signal,
  })
  setTimeout(() => controller.abort(), 20)
  expect(await sleeping).toMatchObject({ code: "aborted" })
})

test("a cancelled call never starts its tool when it has not started yet", async () => {
  const system = await openTestApp()
  let ran = false
  system.registry.register(tool({ execute: () => (ran = true) }))
  const result = await system.call({ ...operator, tool: "probe", signal: AbortSignal.abort() })
  expect(result).toMatchObject({ code: "aborted", metadata: { ran: false } })
  expect(ran).toBe(false)
})

test("at most three calls of an agent run at once, in the order they came", async () => {
  const system = await openTestApp()
  const order: number[] = []
  let running = 0
  let most = 0
  const input = z.object({ n: z.number() }) as never
  system.registry.register(
    tool({
      input,
      async execute({ n }: { n: number }) {
        order.push(n)
        most = Math.max(most, ++running)
        await until(() => most === 3, "three run")
        await new Promise((resolve) => setTimeout(resolve, 3))
        running--
      },
    }),
  )
  const calls = Array.from({ length: 12 }, (_, n) => ({ agentId: "operator", tool: "probe", input: { n } }))
  const results = await system.callMany(calls)
  expect(results.every((result) => result.success)).toBe(true)
  expect(most).toBe(3)
  expect(order).toEqual([...order].sort((a, b) => a - b))
})

test("the smaller of tools.maxConcurrent and agents.maxConcurrentTools counts", async () => {
  for (const [maxConcurrent, maxConcurrentTools] of [
    [1, 5],
    [5, 1],
  ] as const) {
    const system = await openTestApp({ tools: { maxConcurrent }, agents: { maxConcurrentTools } })
    let running = 0
    let most = 0
    system.registry.register(
      tool({
        async execute() {
          most = Math.max(most, ++running)
          await new Promise((resolve) => setTimeout(resolve, 2))
          running--
        },
      }),
    )
    await system.callMany(Array.from({ length: 4 }, () => ({ ...operator, tool: "probe" })))
    expect(most).toBe(1)
  }
})

test("waiting for a permit does not count against the time limit", async () => {
  const pass = useFakeClock()
  const system = await openTestApp({ tools: { maxConcurrent: 1 } })
  const [began, gate] = [deferred(), deferred()]
  let requested = 0
  system.on("TOOL_CALL_REQUESTED", () => requested++)
  system.registry.register(tool({ name: "busy", timeoutMs: null, execute: () => (began.resolve(), gate.promise) }))
  const work = () => new Promise((resolve) => setTimeout(() => resolve("ran"), 30))
  system.registry.register(tool({ timeoutMs: 300_000, execute: work }))
  const busy = system.call({ ...operator, tool: "busy" })
  await began.promise
  const waiting = system.callMany(Array.from({ length: 5 }, () => ({ ...operator, tool: "probe" })))
  await until(() => requested === 6, "five wait for the permit")
  pass(600_000)
  gate.resolve()
  expect(await busy).toMatchObject({ success: true })
  expect((await waiting).map(({ result }) => result)).toEqual(Array(5).fill("ran"))
})

test("ten pipelines of ten steps finish with a single permit", async () => {
  const system = await openTestApp({ tools: { maxConcurrent: 1 } })
  system.registry.register(tool({ name: "step", execute: () => 1 }))
  system.registry.register(
    tool({
      name: "pipeline",
      kind: "composite",
      async execute(_input, { call }: ToolContext) {
        let sum = 0
        for (let step = 0; step < 10; step++) sum += Number((await call("step", {})).result)
        return sum
      },
    }),
  )
  system.registry.register(
    tool({ name: "bound", kind: "composite", execute: (_input, context: ToolContext) => context.call("pipeline", {}) }),
  )
  const results = await system.callMany(Array.from({ length: 10 }, () => ({ ...operator, tool: "bound" })))
  expect(results.map((result) => (result.result as { result: number }).result)).toEqual(Array(10).fill(10))
})

test("sub-calls take every step, know their parent, and stop at a depth of eight", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({ name: "deeper", kind: "composite", execute: (_input, context: ToolContext) => context.call("deeper", {}) }),
  )
  const result = await system.call({ ...operator, tool: "deeper" })
  expect(result.success).toBe(true)
  const rows = await system.audit.list({ limit: 100 })
  expect(rows.filter((row) => row.status === "success")).toHaveLength(9)
  const [denied] = rows.filter((row) => row.code === "permission_denied")
  const [end] = await system.audit.show(denied!.callId)
  expect(end).toMatchObject({ parentCallId: expect.any(String), error: expect.stringContaining("8 deep") })
})

test("cancelling a composite call cancels its sub-calls", async () => {
  const system = await openTestApp()
  const inner = deferred<string>()
  const controller = new AbortController()
  system.registry.register(
    tool({
      name: "inner",
      execute: (_input, { signal }: ToolContext) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("told")))
          setTimeout(() => controller.abort(), 5)
        }),
    }),
  )
  system.registry.register(
    tool({
      name: "outer",
      kind: "composite",
      async execute(_input, context: ToolContext) {
        const result = await context.call("inner", {})
        inner.resolve(result.code ?? "success")
      },
    }),
  )
  expect(await system.call({ ...operator, tool: "outer", signal: controller.signal })).toMatchObject({
    code: "aborted",
  })
  expect(await inner.promise).toBe("aborted")
})

test("an exclusive tool runs alone, and its own sub-calls do not count", async () => {
  const system = await openTestApp()
  const running = new Set<string>()
  const overlaps: string[][] = []
  const work = (name: string) => async (_input: unknown, context: ToolContext) => {
    running.add(name)
    overlaps.push([...running])
    await new Promise((resolve) => setTimeout(resolve, 3))
    if (name === "alone") await context.call("part", {})
    running.delete(name)
  }
  system.registry.register(tool({ name: "plain", execute: work("plain") }))
  system.registry.register(tool({ name: "part", execute: work("part") }))
  system.registry.register(tool({ name: "alone", kind: "composite", exclusive: true, execute: work("alone") }))
  const names = ["plain", "plain", "alone", "plain", "alone", "plain"]
  const results = await system.callMany(names.map((name) => ({ ...operator, tool: name })))
  expect(results.every((result) => result.success)).toBe(true)
  for (const together of overlaps) if (together.includes("alone")) expect(together).not.toContain("plain")
  expect(overlaps).toContainEqual(["alone", "part"])
})

test("a transient failure of an idempotent tool is tried three times, each try in the audit log", async () => {
  const system = await openTestApp()
  let tries = 0
  system.registry.register(
    tool({
      idempotent: true,
      execute() {
        if (++tries < 2) throw failure("Not now.", { transient: true })
        return tries
      },
    }),
  )
  const result = await system.call({ ...operator, tool: "probe" })
  expect(result).toMatchObject({ success: true, result: 2 })
  const story = await system.audit.show(result.callId)
  expect(story.map((entry) => entry.kind)).toEqual(["start", "try", "end"])
})

test.each([
  ["not idempotent", false, { transient: true }],
  ["not transient", true, {}],
])("a failure is not retried when it is %s", async (_what, idempotent, details) => {
  const system = await openTestApp()
  let tries = 0
  system.registry.register(
    tool({
      idempotent,
      execute() {
        tries++
        throw failure("No.", details)
      },
    }),
  )
  expect(await system.call({ ...operator, tool: "probe" })).toMatchObject({ code: "tool_failed" })
  expect(tries).toBe(1)
})

test("the pause before a retry can be cancelled", async () => {
  const system = await openTestApp()
  let [controller, tries] = [new AbortController(), 0]
  system.registry.register(
    tool({
      idempotent: true,
      execute() {
        tries++
        setTimeout(() => controller.abort(), 10)
        throw failure("Not now.", { transient: true })
      },
    }),
  )
  for (let call = 0; call < 3; call++) {
    controller = new AbortController()
    expect(await system.call({ ...operator, tool: "probe", signal: controller.signal })).toMatchObject({
      code: "aborted",
    })
  }
  expect(tries).toBe(3)
})

test("a generator streams its chunks while it runs; without a return value they are the result", async () => {
  const system = await openTestApp()
  const chunks: unknown[] = []
  system.on("TOOL_CALL_OUTPUT", (event) => chunks.push(event.chunk))
  const gate = deferred()
  system.registry.register(
    tool({
      async *execute() {
        yield "one\n"
        await gate.promise
        yield "two\n"
      },
    }),
  )
  const call = system.call({ ...operator, tool: "probe" })
  await until(() => chunks.length === 1, "the first chunk came while the tool still ran")
  gate.resolve()
  expect(await call).toMatchObject({ result: "one\ntwo\n" })
  expect(chunks).toEqual(["one\n", "two\n"])
})

test("a generator's return value is the result, and a stopped one is closed", async () => {
  const system = await openTestApp()
  let closed = false
  system.registry.register(tool({ name: "returns", async *execute() { yield 1; return { done: true } } })) // prettier-ignore
  system.registry.register(
    tool({
      name: "endless",
      timeoutMs: 40,
      async *execute() {
        try {
          for (;;) {
            yield "x"
            await new Promise((resolve) => setTimeout(resolve, 5))
          }
        } finally {
          closed = true
        }
      },
    }),
  )
  expect(await system.call({ ...operator, tool: "returns" })).toMatchObject({ result: { done: true } })
  expect(await system.call({ ...operator, tool: "endless" })).toMatchObject({ code: "timeout" })
  await until(() => closed, "the generator was closed")
})

test("a long text is cut for the model and kept whole as an artifact", async () => {
  const system = await openTestApp()
  const text = "é".repeat(40_000)
  system.registry.register(tool({ execute: () => text }))
  const result = await system.call({ ...operator, tool: "probe" })
  expect(result.result).toBe(text)
  expect(result.truncated).toEqual({ total: 40_000, stored: expect.stringMatching(/^artifact:/) })
  expect(modelText(result).length).toBeLessThan(30_300)
  expect(modelText(result)).toContain(result.truncated!.stored)
  const stored = await system.call({
    agentId: "operator",
    tool: "get_artifact",
    input: { ref: result.truncated!.stored },
  })
  expect((stored.result as { content: string }).content).toBe(text)
})

test("every call of a batch gets an answer, in order, whether the others succeed or not", async () => {
  const system = await openTestApp()
  const results = await system.executor().executeMany([
    { name: "json_parse", arguments: { text: "1" } },
    { name: "nothing_like_it", arguments: {} },
    { name: "json_parse", arguments: { text: "{" } },
    { name: "json_parse", arguments: { text: "4" } },
  ])
  expect(results.map((result) => result.code ?? result.result)).toEqual([
    { data: 1 },
    "unknown_tool",
    "tool_failed",
    { data: 4 },
  ])
})

test("resultOrThrow throws the error classes of the designs", async () => {
  const system = await openTestApp({ approvals: { unattended: "reject" } })
  system.registry.register(tool({ timeoutMs: 5, execute: () => new Promise(() => {}) }))
  const name = (request: { agentId?: string; tool: string; input?: unknown }) =>
    system
      .call({ agentId: "operator", input: {}, ...request })
      .then(resultOrThrow)
      .then(
        () => "none",
        (error: Error) => error.name,
      )
  expect(await name({ tool: "none_such" })).toBe("ToolNotFoundError")
  expect(await name({ tool: "json_parse" })).toBe("ToolValidationError")
  expect(await name({ tool: "probe" })).toBe("ToolTimeoutError")
  expect(await name({ agentId: "root", tool: "current_time" })).toBe("PermissionDeniedError")
  expect(await name({ tool: "set_env", input: { key: "A", value: "1" } })).toBe("ExecutionCancelledError")
  expect(await name({ tool: "json_parse", input: { text: "{" } })).toBe("ToolError")
  expect(resultOrThrow(await system.call({ agentId: "operator", tool: "json_parse", input: { text: "2" } }))).toEqual({
    data: 2,
  })
})

test("rate limits count calls that start, in S2's words, and say when to try again", async () => {
  const system = await openTestApp()
  const limited = (name: string, rateLimit: object) =>
    system.registry.register(tool({ name, permission: { rateLimit }, execute: () => 1 }))
  limited("minute", { maxCallsPerMinute: 2 })
  limited("hour", { maxCallsPerHour: 1, maxCallsPerMinute: 1 })
  const codes = []
  for (let call = 0; call < 3; call++) codes.push((await system.call({ ...operator, tool: "minute" })).code)
  expect(codes).toEqual([undefined, undefined, "rate_limited"])
  await system.call({ ...operator, tool: "hour" })
  const refused = await system.call({ ...operator, tool: "hour" })
  expect(refused.error).toMatch(/Rate limit exceeded: 1 calls per hour\. Try again in 3\d\d\d s\./)
  expect(refused.metadata?.["retryAfterMs"]).toBeGreaterThan(3_590_000)
})

test("two calls at once cannot share the last place of a window", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ permission: { rateLimit: { maxCallsPerMinute: 5 } }, execute: () => 1 }))
  const results = await system.callMany(Array.from({ length: 20 }, () => ({ ...operator, tool: "probe" })))
  expect(results.filter((result) => result.success)).toHaveLength(5)
})

test("rate-limit windows are rebuilt from the audit log after a restart", async () => {
  const first = await openTestApp()
  const limited = tool({ permission: { rateLimit: { maxCallsPerHour: 2 } }, execute: () => 1 })
  first.registry.register(limited)
  await first.callMany([
    { ...operator, tool: "probe" },
    { ...operator, tool: "probe" },
  ])
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir } })
  second.registry.register(limited)
  expect(await second.call({ ...operator, tool: "probe" })).toMatchObject({ code: "rate_limited" })
})

test("secrets do not reach the journal or the database, long values are cut with their digest", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({
      input: z.object({ password: z.string(), note: z.string() }) as never,
      execute: () => ({ token: "tok-result", long: "y".repeat(9000) }),
    }),
  )
  const secret = "hunter2-very-secret"
  const result = await system.call({
    agentId: "operator",
    tool: "probe",
    input: { password: secret, note: `key sk-abcdefghijklmnopqrstuvwx` },
  })
  await system.settle()
  const [start, end] = await system.audit.show(result.callId)
  expect(start).toMatchObject({ input: '{"password":"***","note":"key ***"}', inputDigest: expect.any(String) })
  expect(end).toMatchObject({ resultDigest: expect.any(String), resultLength: expect.any(Number) })
  const database =
    readFileSync(join(system.dir, "quartermaster.db"), "latin1") +
    readFileSync(join(system.dir, "quartermaster.db-wal"), "latin1")
  for (const hidden of [secret, "sk-abcdefghijklmnop", "tok-result"]) expect(database).not.toContain(hidden)
})
