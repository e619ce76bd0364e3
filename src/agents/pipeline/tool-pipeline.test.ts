import fc from "fast-check"
import { expect, test } from "vitest"
import type { Config } from "../../config/schema.ts"
import type { Answer } from "../../core/approval.ts"
import { failure } from "../../core/ending.ts"
import { dataFolder, deferred, openTestApp, tool, until } from "../../testing/test-app.ts"
import { isFirstNote } from "./open-pipelines.ts"
import type { PipelineDefinition, PipelineStep } from "./definition.ts"

const anything = { type: "object", additionalProperties: true } as const

/** An app with a few small tools, and what was called in which order. */
async function setUp(config: Config = {}) {
  const app = await openTestApp(config)
  const log: string[] = []
  app.registry.registerMany([
    tool({
      name: "give",
      input: anything,
      execute: (input: Record<string, unknown>) => {
        log.push(String(input["name"] ?? "give"))
        return input
      },
    }),
    tool({
      name: "fail",
      input: anything,
      execute: (): never => {
        log.push("fail")
        throw failure("It is broken.")
      },
    }),
    tool({ name: "send", effect: "communicate", input: anything, execute: () => void log.push("send") }),
    tool({
      name: "secret",
      permission: { requireResultApproval: "always" },
      execute: () => ({ user: "ada", password: "p4ss" }),
    }),
  ])
  const run = (
    definition: PipelineDefinition,
    options: { input?: Record<string, unknown>; signal?: AbortSignal } = {},
  ) => app.pipeline(definition, { agentId: "operator", ...options }).run()
  const answer = async (saying: Answer) => {
    await until(async () => (await app.approvals.list()).length > 0, "something waits")
    const [item] = await app.approvals.list()
    expect(await app.approvals.answer(item!.callId, saying, "ann")).toMatchObject({ ok: true })
  }
  /** The calls of a session in the audit log. */
  const recorded = async (sessionId: string) => {
    const calls = []
    for await (const call of app.audit.export()) if (call.sessionId === sessionId) calls.push(call.callId)
    return calls
  }
  return { app, log, run, answer, recorded }
}

const steps = (...list: PipelineStep[]): PipelineDefinition => ({ steps: list })

test("steps take values of each other by JSON pointer, and each is a call of its own in one session", async () => {
  const { run, recorded } = await setUp()
  const result = await run({
    input: { folder: { default: "docs" } },
    steps: [
      { id: "last", tool: "give", input: { files: [{ $from: "first#/list/1" }, { $from: "input#/folder" }] } },
      { id: "first", tool: "give", input: { list: ["a", { b: 1 }] } },
    ],
    outputs: { files: { $from: "last#/files" }, none: { $from: "first#/list/9", default: "nothing" } },
  })
  expect(result).toMatchObject({
    status: "completed",
    steps: [
      { id: "last", status: "success" },
      { id: "first", status: "success" },
    ],
    outputs: { files: [{ b: 1 }, "docs"], none: "nothing" },
    problems: [],
  })
  expect((await recorded(result.id)).sort()).toEqual(result.steps.map(({ callId }) => callId!).sort())
})

test("without outputs, the values of the steps that no other step waits for are given", async () => {
  const { run } = await setUp()
  const { outputs } = await run(
    steps(
      { id: "a", tool: "give", input: { name: "a" } },
      { id: "b", tool: "give", needs: ["a"] },
      { id: "c", tool: "give", input: { name: { $from: "a#/name" } } },
    ),
  )
  expect(outputs).toEqual({ b: {}, c: { name: "a" } })
})

test("what a step gives is never read as a reference, and a literal stays as it is", async () => {
  const { run } = await setUp()
  const hidden = { $from: "other#/name" }
  const { outputs } = await run(
    steps(
      { id: "other", tool: "give", input: { name: "hidden" } },
      { id: "a", tool: "give", input: { name: { $literal: hidden } }, needs: ["other"] },
      { id: "b", tool: "give", input: { copy: { $from: "a#/name" } } },
    ),
  )
  expect(outputs).toEqual({ b: { copy: hidden } })
})

const given: PipelineStep = { id: "a", tool: "give", input: { total: 3, text: "abc", list: [{ x: 1 }], none: null } }

const conditions: [NonNullable<PipelineStep["when"]>, boolean][] = [
  [{ step: "a", is: "success" }, true],
  [{ step: "a", is: "failed" }, false],
  [{ $from: "a#/total", equals: 3 }, true],
  [{ $from: "a#/total", equals: "3" }, false],
  [{ $from: "a#/none", equals: null }, true],
  [{ $from: "a#/list", equals: [{ x: 1 }] }, true],
  [{ $from: "a#/total", above: 2 }, true],
  [{ $from: "a#/total", above: 3 }, false],
  [{ $from: "a#/total", below: 4 }, true],
  [{ $from: "a#/text", below: 4 }, false],
  [{ $from: "a#/text", contains: "bc" }, true],
  [{ $from: "a#/list", contains: { x: 1 } }, true],
  [{ $from: "a#/list", contains: { x: 2 } }, false],
  [{ $from: "a#/missing", exists: false }, true],
  [{ $from: "a#/total", exists: true }, true],
  [{ $from: "a#/missing", equals: 1 }, false],
  [{ not: { $from: "a#/missing", equals: 1 } }, true],
  [
    {
      all: [
        { step: "a", is: "success" },
        { $from: "a#/total", above: 9 },
      ],
    },
    false,
  ],
  [
    {
      any: [
        { step: "a", is: "failed" },
        { $from: "a#/total", above: 1 },
      ],
    },
    true,
  ],
]

test("a step runs exactly when its condition is true", async () => {
  const { run } = await setUp()
  const asked = conditions.map(([when], at): PipelineStep => ({ id: `c${at}`, tool: "give", when }))
  const result = await run(steps(given, ...asked))
  expect(result.status).toBe("completed")
  const ran = result.steps.slice(1).map(({ status }, at) => [conditions[at]![0], status === "success"])
  expect(ran).toEqual(conditions)
})

test("a skipped step says why, and so does every step that needs it", async () => {
  const { run } = await setUp()
  const result = await run(
    steps(
      given,
      {
        id: "b",
        tool: "give",
        when: {
          not: {
            all: [
              { step: "a", is: "success" },
              { $from: "a#/total", above: 1 },
            ],
          },
        },
      },
      { id: "c", tool: "give", input: { name: { $from: "b#/name" } } },
      { id: "d", tool: "give", input: { name: { $from: "b#/name", default: "d" } } },
    ),
  )
  expect(result).toMatchObject({ status: "completed", outputs: { d: { name: "d" } } })
  expect(result.steps.slice(1, 3)).toMatchObject([
    { status: "skipped", reason: "Its condition is false: not (step a is success and a#/total above 1)." },
    { status: "skipped", reason: "It needs step 'b', which was skipped." },
  ])
})

test("after a failure other branches go on, steps that need it are skipped, and one may be there for it", async () => {
  const { run, log } = await setUp()
  const result = await run(
    steps(
      { id: "bad", tool: "fail" },
      { id: "next", tool: "give", input: { name: "next" }, needs: ["bad"] },
      { id: "other", tool: "give", input: { name: "other" } },
      { id: "rescue", tool: "give", input: { name: "rescue" }, when: { step: "bad", is: "failed" } },
    ),
  )
  expect(result.status).toBe("failed")
  expect(result.steps).toMatchObject([
    { status: "failed", code: "tool_failed", reason: "It is broken." },
    { status: "skipped", reason: "It needs step 'bad', which failed." },
    { status: "success" },
    { status: "success" },
  ])
  expect(log.sort()).toEqual(["fail", "other", "rescue"])
})

test("a reference to nothing fails its step with a sentence", async () => {
  const { run, log } = await setUp()
  const result = await run(steps(given, { id: "b", tool: "give", input: { name: { $from: "a#/list/7" } } }))
  expect(result.steps[1]).toMatchObject({
    status: "failed",
    reason: "It takes a#/list/7, and there is nothing at that place of the result.",
  })
  expect(log).toEqual(["give"])
})

const retried = { times: 2, pauseMs: 0 }

test.each<[string, { transient?: boolean; idempotent?: boolean; refuse?: boolean }, number]>([
  ["a failure that will pass", { transient: true }, 3],
  ["any failure of an idempotent tool", { idempotent: true }, 3],
  ["a failure of another tool", {}, 1],
])("after %s (%j) a step with two retries is called %i times", async (_, { transient = false, idempotent }, times) => {
  const { app, run, recorded } = await setUp()
  let calls = 0
  app.registry.register(
    tool({
      name: "flaky",
      ...(idempotent !== undefined && { idempotent }),
      execute: (): never => {
        calls++
        throw failure("Not now.", { transient })
      },
    }),
  )
  const { steps: ended, id } = await run(steps({ id: "a", tool: "flaky", retry: retried }))
  expect([calls, ended[0]!.tries ?? 1, (await recorded(id)).length]).toEqual([times, times, times])
})

test("a refusal is neither retried nor replaced by the fallback", async () => {
  const { run, answer, log, recorded } = await setUp()
  const fallback = { value: "instead" }
  const running = run(steps({ id: "a", tool: "send", retry: retried, fallback }))
  await answer({ kind: "reject" })
  const result = await running
  expect(result).toMatchObject({ status: "failed", steps: [{ status: "refused", code: "approval_rejected" }] })
  expect([log, (await recorded(result.id)).length]).toEqual([[], 1])
})

test.each<[NonNullable<PipelineStep["fallback"]>, unknown]>([
  [{ value: null }, null],
  [{ value: { total: 0 } }, { total: 0 }],
  [{ tool: "give", input: { total: { $from: "before#/total" } } }, { total: 7 }],
])("after a failure the fallback %j gives the value", async (fallback, value) => {
  const { run } = await setUp()
  const before: PipelineStep = { id: "before", tool: "give", input: { total: 7 } }
  const result = await run(steps(before, { id: "a", tool: "fail", fallback }))
  expect(result).toMatchObject({ status: "completed", steps: [{}, { fallbackBecause: "It is broken.", value }] })
})

test("a fallback that fails too fails the step", async () => {
  const { run } = await setUp()
  const result = await run(steps({ id: "a", tool: "fail", fallback: { tool: "fail" } }))
  expect(result).toMatchObject({ status: "failed", steps: [{ status: "failed", tries: 2 }] })
})

test("a reference to a withheld result fails its step, also with a default, in a condition and in an output", async () => {
  const { run, answer, log } = await setUp()
  const running = run({
    steps: [
      { id: "secret", tool: "secret" },
      { id: "a", tool: "give", input: { name: { $from: "secret#/user" } } },
      { id: "b", tool: "give", input: { name: { $from: "secret#/user", default: "b" } } },
      { id: "c", tool: "give", when: { not: { $from: "secret#/user", equals: "ada" } } },
      { id: "d", tool: "give", input: { name: "d" }, needs: ["secret"] },
      { id: "e", tool: "give", input: { name: "e" }, when: { step: "secret", is: "withheld" } },
    ],
    outputs: { user: { $from: "secret#/user", default: "nobody" }, e: { $from: "e#/name" } },
  })
  await answer({ kind: "withhold" })
  const result = await running
  const reason = "It takes secret#/user, and a person withheld the result of step 'secret'."
  expect(result).toMatchObject({
    status: "failed",
    steps: [
      { status: "withheld" },
      { status: "failed", reason },
      { status: "failed", reason },
      { status: "failed", reason },
      { status: "skipped", reason: "It needs step 'secret', which has a result that a person withheld." },
      { status: "success" },
    ],
    outputs: { e: "e" },
  })
  expect(result.outputs).not.toHaveProperty("user")
  expect(log).toEqual(["e"])
  expect(JSON.stringify(result)).not.toMatch(/p4ss/)
})

test("of a redacted result the next step gets what was released", async () => {
  const { run, answer } = await setUp()
  const running = run(
    steps({ id: "secret", tool: "secret" }, { id: "a", tool: "give", input: { got: { $from: "secret" } } }),
  )
  await answer({ kind: "release", redact: ["/password"] })
  const { outputs } = await running
  expect(outputs).toEqual({ a: { got: { user: "ada", password: "[redacted]" } } })
})

test("an abort cancels what runs, makes no further call, and leaves nothing running", async () => {
  const { app, run, log } = await setUp()
  const begun = deferred()
  let isRunning = false
  app.registry.register(
    tool({
      name: "hang",
      execute: async (_input, { signal }: { signal: AbortSignal }) => {
        isRunning = true
        begun.resolve()
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
        isRunning = false
      },
    }),
  )
  const controller = new AbortController()
  const running = run(
    steps({ id: "a", tool: "hang" }, { id: "b", tool: "give", needs: ["a"] }, { id: "asks", tool: "send" }),
    { signal: controller.signal },
  )
  await begun.promise
  await until(async () => (await app.approvals.list()).length === 1, "a call waits")
  controller.abort()
  const result = await running
  expect(result.status).toBe("aborted")
  expect(result.steps.map(({ status }) => status)).toEqual(["aborted", "aborted", "aborted"])
  expect([isRunning, log, await app.approvals.list()]).toEqual([false, [], []])
})

test("a run that was stopped before it began makes no call", async () => {
  const { run, log } = await setUp()
  const result = await run(steps(given), { signal: AbortSignal.abort() })
  expect([result.status, log]).toEqual(["aborted", []])
})

test("closing the app stops its pipelines", async () => {
  const { app, run } = await setUp()
  const begun = deferred()
  app.registry.register(
    tool({
      name: "hang",
      execute: (_input, { signal }: { signal: AbortSignal }) => {
        begun.resolve()
        return new Promise((resolve) => signal.addEventListener("abort", resolve))
      },
    }),
  )
  const running = run(steps({ id: "a", tool: "hang" }, { id: "b", tool: "give", needs: ["a"] }))
  await begun.promise
  await app.close()
  expect((await running).steps.map(({ status }) => status)).toEqual(["aborted", "aborted"])
})

test("a stored run that waits is gone on with under its id, in another process, and nothing runs twice", async () => {
  const dir = await dataFolder()
  const definition = steps(
    { id: "a", tool: "give", input: { name: "a" } },
    { id: "b", tool: "send", input: { to: { $from: "a#/name" } } },
    { id: "c", tool: "give", input: { name: "c" }, needs: ["b"] },
  )
  const first = await setUp({ data: { dir } })
  const options = { agentId: "operator", durable: true, waitMs: 0 }
  const waiting = await first.app.pipeline(definition, options).run()
  expect(waiting.status).toBe("waiting")
  expect(waiting.steps).toMatchObject([{ status: "success" }, { status: "waiting" }, { status: "pending" }])
  await first.answer({ kind: "approve" })
  await first.app.close()
  const second = await setUp({ data: { dir } })
  const ended = await second.app.pipeline(definition, { ...options, id: waiting.id }).run()
  expect(ended.status).toBe("completed")
  expect(ended.steps.map(({ callId }) => callId).slice(0, 2)).toEqual(
    waiting.steps.map(({ callId }) => callId).slice(0, 2),
  )
  expect([first.log, second.log]).toEqual([["a"], ["send", "c"]])
})

test("closing the app leaves what waits in the queue, and the run goes on under its id", async () => {
  const dir = await dataFolder()
  const definition = steps({ id: "a", tool: "send" }, { id: "b", tool: "give", input: { name: "b" }, needs: ["a"] })
  const first = await setUp({ data: { dir } })
  const pipeline = first.app.pipeline(definition, { agentId: "operator", durable: true })
  const running = pipeline.run()
  await until(async () => (await first.app.approvals.list()).length === 1, "a call waits")
  await first.app.close()
  const left = await running
  expect([left.status, left.steps.map(({ status }) => status)]).toEqual(["aborted", ["waiting", "aborted"]])
  const second = await setUp({ data: { dir } })
  await second.answer({ kind: "approve" })
  const ended = await second.app.pipeline(definition, { agentId: "operator", durable: true, id: pipeline.id }).run()
  expect([ended.status, second.log]).toEqual(["completed", ["send", "b"]])
})

test("a step that was stopped before it ran, or that only reads, is called again by the run that goes on", async () => {
  const { app, log } = await setUp()
  const begun = deferred()
  let isHanging = true
  const hang = async (signal: AbortSignal) => {
    log.push("look")
    if (!isHanging) return
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener("abort", resolve))
  }
  app.registry.register(
    tool({ name: "look", effect: "read", execute: (_, { signal }: { signal: AbortSignal }) => hang(signal) }),
  )
  const definition = steps({ id: "a", tool: "look" }, { id: "b", tool: "give", input: { name: "b" }, needs: ["a"] })
  const options = { agentId: "operator", durable: true }
  const controller = new AbortController()
  const pipeline = app.pipeline(definition, { ...options, signal: controller.signal })
  const running = pipeline.run()
  await begun.promise
  controller.abort()
  expect((await running).status).toBe("aborted")
  isHanging = false
  const ended = await app.pipeline(definition, { ...options, id: pipeline.id }).run()
  expect([ended.status, log]).toEqual(["completed", ["look", "look", "b"]])
})

test("references that bring too much together fail their step instead of filling the memory", async () => {
  const { run } = await setUp()
  const twice = (name: string) => ({ one: { $from: name }, other: { $from: name } })
  const started = { id: "s0", tool: "give", input: { text: "x".repeat(1_000_000) } }
  const list = Array.from({ length: 40 }, (_, at) => ({ id: `s${at + 1}`, tool: "give", input: twice(`s${at}`) }))
  const {
    status,
    steps: ended,
    outputs,
  } = await run({
    steps: [started, ...list],
    outputs: { small: { $from: "s0" }, most: { $from: "s3" }, left: { $from: "s3" } },
  })
  expect(status).toBe("failed")
  expect(ended.findIndex((step) => step.status === "failed")).toBe(4)
  expect(ended[4]!.reason).toBe(
    "With s3 it has more than 10 million characters. Take a part of that result, or pass on a file.",
  )
  expect(Object.keys(outputs)).toEqual(["small", "most"])
})

test("callbacks and events tell of a run, and its beginning and end are in the audit log", async () => {
  const { app } = await setUp()
  const told: string[] = []
  app.on("PIPELINE_STARTED", ({ name, steps: count }) => told.push(`started ${name} ${count}`))
  app.on("PIPELINE_ENDED", ({ status }) => told.push(`ended ${status}`))
  const { id } = await app
    .pipeline(
      { name: "sample", steps: [given] },
      {
        agentId: "operator",
        onStepStart: (step, name) => told.push(`start ${step} ${name}`),
        onStepEnd: ({ id: step, status }) => told.push(`end ${step} ${status}`),
      },
    )
    .run()
  expect(told).toEqual(["started sample 1", "start a give", "end a success", "ended completed"])
  await app.settle()
  const notes = [
    "A run of the pipeline sample began. Steps: 1.",
    "The run of the pipeline ended: completed. Steps that succeeded: 1 of 1.",
  ]
  expect(await app.audit.show(id)).toMatchObject(notes.map((text) => ({ kind: "note", text })))
  // By this a run is told from a conversation, which has notes too.
  const others = ["A run of a pipeline began. Steps: 500.", "A run of the conversation began, with model x."]
  expect([...notes, ...others].map(isFirstNote)).toEqual([true, false, true, false])
})

test("law: in any graph every step runs exactly once, after all it needs", async () => {
  const { app, log } = await setUp({ tools: { maxConcurrent: 2 } })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat(30), { maxLength: 4 }), { minLength: 1, maxLength: 12 }),
      async (graph) => {
        log.length = 0
        const list = graph.map((after, at): PipelineStep => {
          const earlier = [...new Set(after.filter((other) => other < at))]
          const [first, ...rest] = earlier.map((other) => `s${other}`)
          const from = first === undefined ? {} : { from: { $from: `${first}#/name` } }
          return { id: `s${at}`, tool: "give", input: { name: `s${at}`, ...from }, needs: rest }
        })
        const result = await app.pipeline(steps(...list.toReversed()), { agentId: "operator" }).run()
        expect(result.status).toBe("completed")
        expect([...log].sort()).toEqual(list.map(({ id }) => id).sort())
        for (const [at, after] of graph.entries()) {
          for (const other of after.filter((each) => each < at))
            expect(log.indexOf(`s${other}`)).toBeLessThan(log.indexOf(`s${at}`))
        }
      },
    ),
    { numRuns: 100 },
  )
})
