import type { Answer } from "../../core/approval.ts"
import type { CallRequest } from "../../core/call.ts"
import { isTicket, type ToolResult } from "../../core/result.ts"
import { until } from "../test-app.ts"
import type { Failpoint, AppProcess, MarkTool } from "./app-process.ts"
import { endingOf, toolMarksIn, noteResult, type KillReport, type KillPlan } from "./kill-repeatedly.ts"

/** A failpoint in the lifecycle of a call, and what must be true of that call afterwards. */
export interface Transition {
  point: Failpoint
  scenario: ScenarioName
  afterKill: StateAfterKill
  /** The ending of the call after its caller came back for it. */
  ends: "nothing" | ExpectedEnding
  /** The number of runs of its tool by then. */
  runs: 0 | 1
}

/**
 * The state of a call for a new process: nothing, the call or its held result in the approval queue, its ending in the
 * audit log, or *open*: none of these, but it continues or ends when its caller comes back or the sweeper runs.
 */
export type StateAfterKill = "nothing" | "waiting" | "held" | "open" | ExpectedEnding

export type ExpectedEnding = "success" | "interrupted"

export type ScenarioName = keyof typeof scenarios

interface Scenario {
  tool: string
  /** Time the tool takes after it wrote its mark; otherwise it ends in the event-loop turn in which it began. */
  pauseMs?: number
  keyed?: boolean
  /** The caller does not wait for the answer. It comes back after the answer was given. */
  isLeft?: boolean
  /** The answers of people, in order. */
  answers?: readonly (readonly [by: string, answer: Answer])[]
}

const yes: Answer = { kind: "approve" }

const scenarios = {
  plain: { tool: "plain" },
  keyed: { tool: "plain", keyed: true },
  reading: { tool: "reading" },
  "reading for long": { tool: "reading", pauseMs: 20 },
  asked: { tool: "asked", answers: [["ann", yes]] },
  "asked with a key": { tool: "asked", keyed: true, answers: [["ann", yes]] },
  voted: {
    tool: "voted",
    answers: [
      ["ann", yes],
      ["ben", yes],
    ],
  },
  edited: {
    tool: "asked",
    answers: [
      ["ann", { kind: "edit", input: { note: "edited" } }],
      ["ben", yes],
    ],
  },
  remembered: { tool: "asked", isLeft: true, answers: [["ann", { kind: "approve", remember: "tool-session" }]] },
  held: { tool: "held", answers: [["ann", { kind: "release" }]] },
  "held with a key": { tool: "held", keyed: true, answers: [["ann", { kind: "release" }]] },
} satisfies Record<string, Scenario>

const tools: readonly MarkTool[] = [
  { name: "plain", permission: { level: "public" } },
  { name: "reading", effect: "read", permission: { level: "public" } },
  { name: "asked", permission: { level: "moderate" } },
  { name: "voted", permission: { level: "public" } },
  { name: "held", permission: { level: "public", requireResultApproval: "always" } },
]

const config = {
  org: { people: [{ id: "ann" }, { id: "ben" }] },
  rules: [{ ask: "voted", because: "Two people agree to it.", approvers: { count: 2 } }],
}

/** A call in progress, as its caller knows it. */
interface ScenarioCall {
  request: CallRequest & { sessionId: string }
  callId?: string
}

/** Makes one call after the other until the process is killed during one. Then it checks that call. */
export function killPlanOf(transition: Transition): KillPlan {
  const scenario: Scenario = scenarios[transition.scenario]
  const remembered: string[] = []
  let last: ScenarioCall | undefined
  return {
    point: transition.point,
    tools,
    config,
    async work(child, report) {
      for (;;) {
        last = newCall(scenario)
        noteResult(await runScenario(child, last, scenario, report, remembered), report)
      }
    },
    async check(child, report) {
      if (last !== undefined) await checkCall(last, transition, child, report)
      const sessions = new Set((await child.app.approvals.grants()).map(({ sessionId }) => sessionId))
      for (const session of remembered) {
        if (!sessions.has(session)) report.problems.push(`The answer remembered for session ${session} is gone.`)
      }
    },
  }
}

let callCount = 0

function newCall({ tool, keyed, pauseMs }: Scenario): ScenarioCall {
  const sessionId = `${tool}-${++callCount}`
  const input = { note: sessionId, ...(pauseMs === undefined ? {} : { pauseMs }) }
  const request = { agentId: "operator", tool, input, sessionId, taskId: sessionId }
  return { request: keyed === true ? { ...request, key: "the key" } : request }
}

async function runScenario(
  child: AppProcess,
  call: ScenarioCall,
  scenario: Scenario,
  report: KillReport,
  remembered: string[],
) {
  const { request } = call
  const { answers = [], isLeft = false } = scenario
  const pending = isLeft ? child.app.call(request, { waitMs: 0 }) : child.app.call(request)
  pending.catch(() => {})
  let isShown = false
  for (const [by, answer] of answers) {
    if (!isShown) call.callId = await child.nextWaitingCall(request.tool)
    const answered = await child.app.approvals.answer(call.callId!, answer, by)
    if (!answered.ok) report.problems.push(`${by} could not answer: ${answered.sentence}`)
    isShown = answer.kind !== "edit"
    if (answer.kind === "approve" && answer.remember !== undefined) remembered.push(request.sessionId)
  }
  const ended = await pending
  return (isTicket(ended) ? await child.app.resume(ended.callId) : ended) as ToolResult
}

async function checkCall(
  call: ScenarioCall,
  transition: Transition,
  child: AppProcess,
  report: KillReport,
): Promise<void> {
  const { tool, sessionId } = call.request
  const problem = (sentence: string) =>
    report.problems.push(`After kill ${report.counts.kills}, call ${call.callId ?? "?"} of ${sessionId}: ${sentence}`)
  const endings = async () =>
    (await child.exported({ tool })).filter((call) => call.sessionId === sessionId).map(endingOf)

  const sweeps = report.counts.kills % 2 === 1 && transition.afterKill === "open" && transition.ends === "interrupted"
  if (sweeps) await until(async () => (await endings()).length > 0, "the sweeper ends the call")
  const found = await endings()
  const item = (await child.app.approvals.list()).find((pending) => pending.sessionId === sessionId)
  const state = found[0] ?? (item === undefined ? "open" : item.kind === "call" ? "waiting" : "held")
  const expected = sweeps ? "interrupted" : transition.afterKill === "nothing" ? "open" : transition.afterKill
  if (state !== expected) problem(`after the kill it was ${state}, not ${expected}.`)
  if (found.length > 0 && item !== undefined) problem("it has ended and is still in the approval queue.")
  if (item !== undefined) call.callId = item.callId

  const result = await resumeCall(call, child, problem)
  const ends = await endings()
  if (ends.length > 1 || (ends[0] ?? "nothing") !== transition.ends)
    problem(`it ended as ${ends.join()}, not ${transition.ends}.`)
  if (result !== undefined && endingOf(result) !== transition.ends)
    problem(`the caller who came back got ${endingOf(result)}.`)
  const ran = toolMarksIn(report.dir).filter(({ callId }) => callId === (result?.callId ?? call.callId))
  const runs = result === undefined ? toolMarksIn(report.dir).filter((mark) => mark.note === sessionId) : ran
  if (runs.length !== transition.runs) problem(`it ran ${runs.length} times, not ${transition.runs}.`)
  if (transition.scenario === "edited" && runs[0] !== undefined && runs[0].note !== "edited")
    problem("the old input ran.")
  await checkAnswersRecorded(result, scenarios[transition.scenario], child, problem)
}

/** Checks that the audit log says who approved a call that ran, or released its result. */
async function checkAnswersRecorded(
  result: ToolResult | undefined,
  { answers = [] }: Scenario,
  child: AppProcess,
  problem: (sentence: string) => void,
): Promise<void> {
  if (result?.success !== true || answers.length === 0) return
  const steps = await child.app.audit.show(result.callId)
  const kind = answers.some(([, answer]) => answer.kind === "release") ? "released" : "answered"
  const found = steps.some((step) => step.kind === kind && (step.by ?? "") !== "")
  if (!found) problem(`the audit log does not say who agreed: ${steps.map((step) => step.kind).join(", ")}.`)
}

/** Continues a call as its caller would while people approve it; undefined when the caller cannot come back. */
async function resumeCall(
  call: ScenarioCall,
  child: AppProcess,
  problem: (sentence: string) => void,
): Promise<ToolResult | undefined> {
  const { sessionId, key } = call.request
  for (let attempt = 0; attempt < 10; attempt++) {
    const item = (await child.app.approvals.list()).find((pending) => pending.sessionId === sessionId)
    if (item !== undefined) {
      const by = item.votes.some((vote) => vote.by === "ann") ? "ben" : "ann"
      const answer: Answer = item.kind === "call" ? yes : { kind: "release" }
      const answered = await child.app.approvals.answer(item.callId, answer, by, item.revision)
      if (!answered.ok) problem(`${by} could not answer: ${answered.sentence}`)
      if (answered.ok && !answered.done) continue
    }
    if (call.callId === undefined && key === undefined) return undefined
    const outcome =
      call.callId === undefined
        ? await child.app.call(call.request, { waitMs: 200 })
        : await child.app.resume(call.callId, { waitMs: 200 })
    if (!isTicket(outcome)) return outcome
    call.callId = outcome.callId
  }
  problem("it never ended, although its caller came back for it.")
  return undefined
}
