import { expect, test } from "vitest"
import type { CallableTool, ReflectedAction, ReflectionInput } from "./reflector.ts"
import { ruleReflector } from "./rules.ts"

const callable = (name: string, more: Partial<CallableTool> = {}): CallableTool => ({
  name,
  group: "web",
  effect: "network",
  fallbacks: [],
  ...more,
})
const failed = (more: Partial<ReflectedAction> = {}): ReflectedAction => ({
  stepId: "one",
  toolName: "fetch",
  success: false,
  error: "No.",
  ...more,
})
const tools = [callable("fetch"), callable("ask"), callable("read", { group: "files", effect: "read" })]

const reflect = (failures: ReflectedAction[], more: Partial<ReflectionInput> = {}) =>
  ruleReflector.reflect({ goal: "", actionsDone: failures, failures, tools, ...more })

test.each([
  ["approval_rejected", { verdict: "replan", withoutTools: ["fetch"] }],
  ["approval_expired", { verdict: "replan", withoutTools: ["fetch"] }],
  ["permission_denied", { verdict: "replan", withoutTools: ["fetch"] }],
  ["path_outside_workspace", { verdict: "replan", nextFocus: "Do not call fetch like that again." }],
  ["timeout", { verdict: "replan", nextFocus: "Use ask instead of fetch." }],
  ["upstream_unavailable", { verdict: "replan", nextFocus: "Use ask instead of fetch." }],
  ["invalid_arguments", { verdict: "continue", lessons: ["fetch failed."] }],
  ["tool_failed", { verdict: "continue" }],
  ["frozen", { verdict: "complete", withoutTools: ["fetch", "ask", "read"] }],
] as const)("in a chain, %s means %j", (code, expected) => {
  expect(reflect([failed({ code })])).toMatchObject({
    ...expected,
    toolFailures: [{ toolName: "fetch", error: "No." }],
  })
})

test("a tool that is refused for its input is given up the second time", () => {
  const twice = [failed({ code: "host_denied" }), failed({ code: "host_denied" })]
  expect(reflect(twice.slice(0, 1)).valueOf()).not.toHaveProperty("withoutTools")
  expect(reflect(twice.slice(1), { actionsDone: twice })).toMatchObject({ withoutTools: ["fetch"] })
})

test.each<[string, CallableTool[], string | undefined]>([
  ["its fallback", [callable("fetch", { fallbacks: ["read"] }), ...tools.slice(1)], "Use read instead of fetch."],
  ["another of its group and effect", tools, "Use ask instead of fetch."],
  [
    "nothing, where there is none",
    [callable("fetch")],
    "Do something else first, or say what cannot be done without fetch.",
  ],
])("instead of a tool that fails for now it suggests %s", (_, offered, suggestion) => {
  const reflection = reflect([failed({ code: "tool_failed", transient: true })], { tools: offered })
  expect(reflection).toMatchObject({ verdict: "replan", toolFailures: [{ suggestion }], nextFocus: suggestion })
})

test("when nothing is left that can be called, part of the task is all there is", () => {
  const only = tools.slice(0, 1)
  expect(reflect([failed({ code: "approval_rejected" })], { tools: only })).toMatchObject({ verdict: "complete" })
})

test.each<[string, ReflectedAction, NonNullable<ReflectionInput["stepsLeft"]>, string]>([
  ["no step left needs it", failed({ code: "tool_failed" }), [{ id: "two", toolName: "read" }], "continue"],
  [
    "no step left needs it or its tool",
    failed({ code: "permission_denied" }),
    [{ id: "two", toolName: "read" }],
    "continue",
  ],
  ["a step left needs it", failed({ code: "tool_failed" }), [{ id: "two", needs: ["one"] }], "replan"],
  [
    "a step left calls the refused tool",
    failed({ code: "permission_denied" }),
    [{ id: "two", toolName: "fetch" }],
    "replan",
  ],
  ["no step is left", failed({ code: "tool_failed" }), [], "complete"],
])("in a plan, when %s", (_, failure, stepsLeft, verdict) => {
  expect(reflect([failure], { stepsLeft })).toMatchObject({ verdict })
})
