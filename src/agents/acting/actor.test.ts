import { expect, test } from "vitest"
import { z } from "zod"
import type { Config } from "../../config/schema.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import type { Reflector } from "../reflection/reflector.ts"
import { modelOf } from "../testing/played-model.ts"
import { Actor, type ActorOptions } from "./actor.ts"
import { newTask, type PlanStep } from "./task.ts"

async function openActor(options: ActorOptions = {}, config: Config = {}) {
  const app = await openTestApp({ approvals: { unattended: "reject" }, ...config })
  const order: string[] = []
  app.registry.registerMany([
    defineTool({
      name: "double",
      group: "maths",
      description: "Double a number.",
      effect: "write",
      permission: { level: "public" },
      input: z.object({ n: z.number() }),
      execute: ({ n }) => (order.push("executed"), { twice: 2 * n }),
    }),
    tool({ name: "pay", effect: "communicate", permission: { level: "sensitive" }, execute: () => "paid" }),
    tool({
      name: "break",
      execute() {
        throw new Error("It broke.")
      },
    }),
  ])
  const task = newTask({ taskId: "t1", goal: "Be done." })
  return { app, order, task, actor: new Actor(app, "operator", options) }
}

const call = (toolName: string, more: { id?: string; params?: unknown; needs?: string[] } = {}): PlanStep => ({
  id: toolName,
  actionType: "tool_call",
  toolName,
  params: {},
  ...more,
})

test("a step is announced, executed, completed, and then in actionsDone", async () => {
  const { app, actor, task, order } = await openActor()
  const note = (text: string) => order.push(`${text}, ${task.actionsDone.length} done`)
  app.on("TOOL_CALL_REQUESTED", ({ toolName, params }) => note(`${toolName} ${JSON.stringify(params)} requested`))
  app.on("TOOL_CALL_COMPLETED", ({ result }) => note(`${JSON.stringify(result)} completed`))
  const done = await actor.runStep(call("double", { params: { n: 2 } }), task)
  note("recorded")
  expect(order).toEqual([
    'double {"n":2} requested, 0 done',
    "executed",
    '{"twice":4} completed, 0 done',
    "recorded, 1 done",
  ])
  expect(task.actionsDone).toEqual([done])
  expect(done).toMatchObject({ stepId: "double", toolName: "double", success: true, result: { twice: 4 } })
  await app.settle()
  expect(await app.audit.list({ taskId: "t1" })).toMatchObject([{ callId: done.callId }])
})

test("a failed step is announced as failed, and is in actionsDone too", async () => {
  const { app, actor, task } = await openActor()
  const events: string[] = []
  for (const type of ["TOOL_CALL_REQUESTED", "TOOL_CALL_FAILED"] as const)
    app.on(type, (event) => events.push(`${event.type}, ${task.actionsDone.length} done`))
  await actor.runStep(call("break"), task)
  expect(events).toEqual(["TOOL_CALL_REQUESTED, 0 done", "TOOL_CALL_FAILED, 0 done"])
  expect(task.actionsDone).toMatchObject([{ success: false, code: "tool_failed", error: "It broke." }])
})

test("approvers see the description of a step as the agent's words", async () => {
  const { app, actor, task } = await openActor({}, { approvals: {} })
  const running = actor.runStep({ ...call("pay"), description: "The invoice is due." }, task)
  await until(async () => (await app.approvals.list()).length === 1, "it waits")
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({ intent: "The invoice is due.", taskId: "t1" })
  await app.approvals.answer(item!.callId, { kind: "approve" }, "ann")
  expect(await running).toMatchObject({ success: true, result: "paid" })
})

test("a model does a step with the agent's tools", async () => {
  const model = modelOf({ calls: [{ name: "double", input: { n: 4 } }] }, { say: "It is 8." })
  const { app, actor, task } = await openActor({ chain: { model } })
  const done = await actor.runStep({ id: "think", actionType: "chain", prompt: "Double 4." }, task)
  expect(done).toMatchObject({ success: true, status: "completed", result: "It is 8." })
  expect(done.toolCallHistory).toMatchObject([{ toolName: "double", status: "success" }])
  await app.settle()
  expect(await app.audit.list({ taskId: "t1" })).toHaveLength(1)
})

test("a step that a model does not complete has failed", async () => {
  const { actor, task } = await openActor({ chain: { model: modelOf({ calls: [{ name: "double" }] }), maxRounds: 1 } })
  const done = await actor.runStep({ id: "think", actionType: "chain", prompt: "Double 4." }, task)
  expect(done).toMatchObject({ success: false, status: "limit", error: expect.stringContaining("limit") })
})

test.each<[string, PlanStep[], object | undefined]>([
  ["nothing failed", [call("double", { params: { n: 1 } }), call("pay")], undefined],
  ["no step left needs what failed", [call("break"), call("pay")], { verdict: "continue" }],
  ["a step left needs it", [call("break"), call("pay", { needs: ["break"] })], { verdict: "replan" }],
  [
    "a step left calls the refused tool",
    [call("pay"), call("pay", { id: "again" })],
    { verdict: "replan", withoutTools: ["pay"], toolFailures: [{ toolName: "pay" }] },
  ],
  ["no step is left", [call("break")], { verdict: "complete" }],
])("after a step it reflects on the plan: %s", async (_, plan, expected) => {
  const { actor, task } = await openActor()
  await actor.runStep(plan[0]!, task)
  const reflection = await actor.reflect(plan, task)
  if (expected === undefined) expect(reflection).toBeUndefined()
  else expect(reflection).toMatchObject(expected)
  expect(task.reflections).toEqual(reflection === undefined ? [] : [reflection])
  expect(await actor.reflect(plan, task)).toBeUndefined()
})

test("a reflector of your own is asked about the plan", async () => {
  const seen: unknown[] = []
  const reflector: Reflector = {
    reflect: (input) => (seen.push(input), { verdict: "complete", assessment: "Enough.", lessons: [] }),
  }
  const { actor, task } = await openActor({ reflector })
  const plan = [call("break"), call("pay", { needs: ["break"] })]
  await actor.runStep(plan[0]!, task)
  expect(await actor.reflect(plan, task)).toMatchObject({ assessment: "Enough." })
  expect(seen).toMatchObject([
    {
      goal: "Be done.",
      failures: [{ stepId: "break" }],
      stepsLeft: [{ id: "pay", toolName: "pay", needs: ["break"] }],
    },
  ])
})
