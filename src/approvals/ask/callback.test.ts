import { expect, test } from "vitest"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { callbackAdapter, type ApprovalCallbacks } from "./callback.ts"
import { approvalRequest, toolResult } from "./testing.ts"

const request = approvalRequest()
const result = toolResult({ result: 1 })

test("both questions go to functions, which see all there is to see", async () => {
  const seen: unknown[] = []
  const adapter = callbackAdapter({
    onExecution: (question) => seen.push(question) > 0,
    onResult: (question) => Promise.resolve(seen.push(question) > 0),
  })
  expect(await adapter.showToolExecutionApproval("probe", "A tool.", { n: 1 }, "sensitive", request)).toEqual({
    approved: true,
  })
  expect(await adapter.showToolResultApproval("probe", { n: 1 }, result, request)).toEqual({ approved: true })
  expect(seen).toEqual([
    { tool: "probe", description: "A tool.", args: { n: 1 }, level: "sensitive", request },
    { tool: "probe", args: { n: 1 }, result, request },
  ])
})

test("a whole decision is handed on as it is", async () => {
  const decision = { approved: false, persistDecision: true, rejectReason: "Not now." }
  const adapter = callbackAdapter({ onExecution: () => decision, onResult: () => ({ approved: false }) })
  expect(await adapter.showToolExecutionApproval("probe", "", {}, "moderate", request)).toEqual(decision)
  expect(await adapter.showToolResultApproval("probe", {}, result, request)).toEqual({ approved: false })
})

test("calls and results without a function are rejected with a sentence", async () => {
  const adapter = callbackAdapter({})
  expect(await adapter.showToolExecutionApproval("probe", "", {}, "public", request)).toEqual({
    approved: false,
    rejectReason: "No execution approval callback set",
  })
  expect(await adapter.showToolResultApproval("probe", {}, result, request)).toEqual({
    approved: false,
    rejectReason: "No result approval callback set",
  })
})

test.each<[string, ReturnType<NonNullable<ApprovalCallbacks["onQuestion"]>>, object]>([
  ["a text", "red", { answer: "red" }],
  ["several", ["red", "blue"], { answer: ["red", "blue"] }],
  ["later", Promise.resolve(""), { answer: "" }],
  ["nothing", undefined, {}],
  [
    "a whole decision",
    { rejectReason: "Not my question.", by: "ann" },
    { rejectReason: "Not my question.", by: "ann" },
  ],
])("a question goes to a function that answers it: %s", async (_what, given, decision) => {
  const seen: unknown[] = []
  const adapter = callbackAdapter({ onQuestion: (question) => (seen.push(question), given) })
  expect(await adapter.showQuestion?.({ question: "Which?", options: ["red"] }, request)).toEqual(decision)
  expect(seen).toEqual([{ question: "Which?", options: ["red"], request }])
})

test("without onQuestion the adapter has no showQuestion, so that questions wait for another interface", () => {
  expect(callbackAdapter({ onExecution: () => true }).showQuestion).toBeUndefined()
})

test("the callbacks may be methods of an object with state", async () => {
  class Counter {
    asked = 0
    onExecution() {
      return ++this.asked < 2
    }
    onResult() {
      return ++this.asked < 2
    }
  }
  const adapter = callbackAdapter(new Counter())
  expect(await adapter.showToolExecutionApproval("probe", "", {}, "moderate", request)).toEqual({ approved: true })
  expect(await adapter.showToolResultApproval("probe", {}, result, request)).toEqual({ approved: false })
})

test("a function that throws rejects, whether it is async or not", async () => {
  const fault = new Error("no")
  const adapter = callbackAdapter({
    onExecution: () => {
      throw fault
    },
    onResult: () => Promise.reject(fault),
  })
  await expect(adapter.showToolExecutionApproval("probe", "", {}, "public", request)).rejects.toBe(fault)
  await expect(adapter.showToolResultApproval("probe", {}, result, request)).rejects.toBe(fault)
})

test("a call needs no dialog: a mocked function approves and releases it", async () => {
  const asked: string[] = []
  const approvals = callbackAdapter({
    onExecution: ({ args }) => asked.push(`run ${JSON.stringify(args)}`) > 0,
    onResult: ({ result }) => asked.push(`release ${JSON.stringify(result.result)}`) > 0,
  })
  const system = await openTestApp({}, { approvals })
  system.registry.register(
    tool({ permission: { level: "sensitive", requireResultApproval: "always" }, execute: () => "done" }),
  )
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ result: "done" })
  expect(asked).toEqual(["run {}", 'release "done"'])
})
