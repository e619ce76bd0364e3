import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { modelOf } from "../testing/played-model.ts"
import { openTestApp, temporaryFolder, tool, until } from "../../testing/test-app.ts"
import type { PipelineStep } from "./definition.ts"

const anything = { type: "object", additionalProperties: true } as const

/** An app with a few small tools, how many of them ran at once, and a way to run a pipeline by the tool. */
async function setUp(config: Parameters<typeof openTestApp>[0] = {}) {
  const app = await openTestApp(config)
  const ran: string[] = []
  const running = { now: 0, most: 0 }
  app.registry.registerMany([
    tool({
      name: "work",
      input: anything,
      async execute(input: Record<string, unknown>) {
        running.most = Math.max(running.most, ++running.now)
        await new Promise((resolve) => setImmediate(resolve))
        running.now--
        ran.push("work")
        return input
      },
    }),
    tool({ name: "erase", effect: "execute", execute: () => void ran.push("erase") }),
  ])
  const pipe = (steps: readonly PipelineStep[], more: object = {}) =>
    app.call({ agentId: "operator", tool: "run_pipeline", input: { steps, ...more }, taskId: "t1", userId: "ann" })
  return { app, ran, running, pipe }
}

test("a pipeline in a call gives its outputs and how each step ended; its steps are sub-calls of the task", async () => {
  const { app, pipe } = await setUp()
  const ended = await pipe(
    [
      { id: "a", tool: "work", input: { n: 1 } },
      { id: "b", tool: "work", input: { n: { $from: "a#/n" } } },
      { id: "c", tool: "work", when: { step: "a", is: "failed" } },
    ],
    { outputs: { n: { $from: "b#/n" } } },
  )
  expect(ended).toMatchObject({
    success: true,
    result: {
      status: "completed",
      outputs: { n: 1 },
      steps: [
        { id: "a", status: "success" },
        { id: "b", status: "success" },
        { id: "c", status: "skipped", reason: "Its condition is false: step a is failed." },
      ],
    },
  })
  const calls = []
  for await (const call of app.audit.export({ tool: "work" })) calls.push(call)
  expect(calls).toMatchObject([1, 2].map(() => ({ parentCallId: ended.callId, taskId: "t1", userId: "ann" })))
})

test("a step that reaches outside the paths of the run is refused before anything runs", async () => {
  const workspace = temporaryFolder()
  const org = { roles: [{ name: "writer" }], agents: [{ id: "writer", role: "writer", folder: "docs" }] }
  const app = await openTestApp({ workspace, org, rules: [{ allow: "*", because: "the test" }] })
  mkdirSync(join(workspace, "docs"))
  const steps = ["docs/a.txt", "b.txt"].map((path, at) => {
    return { id: `s${at}`, tool: "write_file", input: { path, content: "x" } }
  })
  const byTool = { agentId: "operator", tool: "run_pipeline", input: { steps }, allowedPaths: ["docs"] }
  expect(await app.call(byTool)).toMatchObject({ metadata: { toolCode: "pipeline_denied" } })
  const ofAgent = await app.pipeline({ steps }, { agentId: "writer" }).run()
  expect(ofAgent).toMatchObject({ status: "refused", problems: [{ kind: "denied", step: "s1" }] })
  expect(readdirSync(join(workspace, "docs"))).toEqual([])
})

test("whoever approves a step reads its description as the intent", async () => {
  const { app, pipe } = await setUp()
  const running = pipe([{ id: "a", tool: "erase", description: "Because Ann asked." }])
  await until(async () => (await app.approvals.list()).length > 0, "a step waits")
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({ tool: "erase", intent: "Because Ann asked." })
  await app.approvals.answer(item!.callId, { kind: "reject" }, "ann")
  await running
})

test("steps have the agent's own permissions: what it may not call is refused before anything runs", async () => {
  const { pipe, ran } = await setUp({ rules: [{ deny: "erase", because: "Nothing is erased." }] })
  const ended = await pipe([
    { id: "a", tool: "work" },
    { id: "b", tool: "erase" },
  ])
  expect(ended).toMatchObject({
    code: "tool_failed",
    error: expect.stringMatching(/^Nothing was run\. steps\[1\]\.tool: Step 'b': it would be denied\./) as string,
  })
  expect(ran).toEqual([])
})

test("a pipeline whose step fails is a failed call that says what has happened", async () => {
  const { app, pipe } = await setUp()
  app.registry.register(
    tool({
      name: "fail",
      execute: (): never => {
        throw new Error("It is broken.")
      },
    }),
  )
  const ended = await pipe([
    { id: "a", tool: "work" },
    { id: "b", tool: "fail" },
    { id: "c", tool: "work", needs: ["b"] },
  ])
  expect(ended).toMatchObject({
    code: "tool_failed",
    error: [
      "The pipeline ended as failed. What succeeded has happened:",
      "a: success",
      "b: failed. It is broken.",
      "c: skipped. It needs step 'b', which failed.",
    ].join("\n"),
  })
})

test("a dry run says the order and the verdicts, and runs nothing", async () => {
  const { pipe, ran } = await setUp()
  const ended = await pipe(
    [
      { id: "b", tool: "erase", needs: ["a"] },
      { id: "a", tool: "work" },
    ],
    { dryRun: true },
  )
  expect(String(ended.result).split("\n")).toEqual([
    "1. a (work): allow",
    expect.stringMatching(/^2\. b \(erase\): ask\. /) as string,
    "2 steps in 2 waves; nothing was run.",
  ])
  expect(ran).toEqual([])
})

const ten = Array.from({ length: 10 }, (_, at): PipelineStep => ({ id: `s${at}`, tool: "work", input: { at } }))

test("ten pipelines of ten steps finish at one permit, one step at a time", async () => {
  const { app, ran, running } = await setUp({ tools: { maxConcurrent: 1 } })
  const inner: PipelineStep = { id: "inner", tool: "run_pipeline", input: { steps: { $literal: ten.slice(1) } } }
  const request = { agentId: "operator", tool: "run_pipeline", input: { steps: [ten[0], inner] } }
  const ended = await app.callMany(Array.from({ length: 10 }, () => request))
  expect(ended.map(({ success }) => success)).toEqual(Array.from({ length: 10 }, () => true))
  expect([ran.length, running.most]).toEqual([100, 1])
})

test("steps without a common value run side by side, as many as there are permits", async () => {
  const { pipe, running } = await setUp({ tools: { maxConcurrent: 3 }, agents: { maxConcurrentTools: 3 } })
  await pipe(ten)
  expect(running.most).toBe(3)
})

test("pipelines in pipelines end at the depth that holds for all tools", async () => {
  const { pipe, ran } = await setUp()
  const nest = (levels: number): PipelineStep =>
    levels === 0
      ? { id: "work", tool: "work" }
      : { id: "inner", tool: "run_pipeline", input: { steps: { $literal: [nest(levels - 1)] } } }
  expect((await pipe([nest(7)])).success).toBe(true)
  expect(await pipe([nest(8)])).toMatchObject({
    code: "tool_failed",
    error: expect.stringContaining("Tools may call tools 8 deep at most.") as string,
  })
  expect(ran).toEqual(["work"])
})

test("freezing the agent ends its pipeline and what it runs", async () => {
  const { app, pipe } = await setUp()
  let isRunning = false
  app.registry.register(
    tool({
      name: "hang",
      async execute(_input, { signal }: { signal: AbortSignal }) {
        isRunning = true
        void app.freeze({ agentId: "operator", by: "ann" })
        await new Promise((resolve) => signal.addEventListener("abort", resolve))
        isRunning = false
      },
    }),
  )
  const ended = await pipe([
    { id: "a", tool: "hang" },
    { id: "b", tool: "work", needs: ["a"] },
  ])
  expect([ended.success, isRunning]).toEqual([false, false])
})

test("a model runs a pipeline in one call", async () => {
  const { app, ran } = await setUp()
  const steps = [
    { id: "a", tool: "work", input: { n: 1 } },
    { id: "b", tool: "work", input: { n: { $from: "a#/n" } } },
  ]
  const model = modelOf({ calls: [{ name: "run_pipeline", input: { steps } }] }, { say: "Done." })
  const { content, toolCallHistory } = await app.chain("operator", { model }).run("Do it.")
  expect([content, ran]).toEqual(["Done.", ["work", "work"]])
  expect(JSON.parse(toolCallHistory[0]!.text)).toMatchObject({ status: "completed", outputs: { b: { n: 1 } } })
})

test("submit gives a ticket while a step waits for a person, the pipeline goes on, and the ticket gives its result", async () => {
  const { app, ran } = await setUp()
  const steps = [
    { id: "a", tool: "work", input: { n: 1 } },
    { id: "b", tool: "erase", needs: ["a"] },
  ]
  const request = { agentId: "operator", tool: "run_pipeline", input: { steps } }
  const ticket = await app.call(request, { waitMs: 0 })
  expect(ticket).toMatchObject({ callId: expect.any(String) as string, state: "waiting" })
  expect(await app.resume(ticket.callId, { waitMs: 0 })).toEqual(ticket)
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({ tool: "erase" })
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect(await app.resume(ticket.callId)).toMatchObject({ success: true, callId: ticket.callId })
  expect(ran).toEqual(["work", "erase"])
})
