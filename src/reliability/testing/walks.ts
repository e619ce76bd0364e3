import type { Saying } from "../../model/approval.ts"
import type { CallRequest } from "../../model/call.ts"
import { isTicket, type ToolResult } from "../../model/result.ts"
import { until } from "../../testing/open.ts"
import type { Failpoint, HouseProcess, MarkTool } from "./house-process.ts"
import { endingOf, marksIn, note, type Known, type Plan } from "./kill.ts"

/** A failpoint on the way of one call, and what must be found of that call afterwards. */
export interface Arrow {
  point: Failpoint
  walk: WalkName
  leaves: Left
  /** How the call has ended once somebody came back for it. */
  ends: "nothing" | Ending
  /** How often its tool ran by then. */
  runs: 0 | 1
}

/**
 * What a fresh process finds of a call: nothing, the call or its result at the desk, its ending in the record, or *open*:
 * none of these, but it goes on or ends as soon as somebody comes back for it or the sweeper looks.
 */
export type Left = "nothing" | "waiting" | "held" | "open" | Ending

export type Ending = "success" | "interrupted"

export type WalkName = keyof typeof walks

interface Walk {
  tool: string
  keyed?: boolean
  /** Nobody waits for the answer; somebody comes back when it was given. */
  isLeft?: boolean
  /** What people say, one after the other. */
  says?: readonly (readonly [by: string, saying: Saying])[]
}

const yes: Saying = { say: "approve" }

const walks = {
  plain: { tool: "plain" },
  keyed: { tool: "plain", keyed: true },
  asked: { tool: "asked", says: [["ann", yes]] },
  "asked with a key": { tool: "asked", keyed: true, says: [["ann", yes]] },
  voted: {
    tool: "voted",
    says: [
      ["ann", yes],
      ["ben", yes],
    ],
  },
  edited: {
    tool: "asked",
    says: [
      ["ann", { say: "edit", input: { note: "edited" } }],
      ["ben", yes],
    ],
  },
  remembered: { tool: "asked", isLeft: true, says: [["ann", { say: "approve", remember: "tool-session" }]] },
  held: { tool: "held", says: [["ann", { say: "release" }]] },
  "held with a key": { tool: "held", keyed: true, says: [["ann", { say: "release" }]] },
} satisfies Record<string, Walk>

const tools: readonly MarkTool[] = [
  { name: "plain", permission: { level: "public" } },
  { name: "asked", permission: { level: "moderate" } },
  { name: "voted", permission: { level: "public" } },
  { name: "held", permission: { level: "public", requireResultApproval: "always" } },
]

const config = {
  org: { people: [{ id: "ann" }, { id: "ben" }] },
  rules: [{ ask: "voted", because: "Two people agree to it.", approvers: { count: 2 } }],
}

/** One call on its way, as far as its caller knows of it. */
interface Turn {
  request: CallRequest & { sessionId: string }
  callId?: string
}

/** One call after the other until the process is killed on the way of one; then that one is looked for. */
export function planOf(arrow: Arrow): Plan {
  const walk: Walk = walks[arrow.walk]
  const remembered: string[] = []
  let last: Turn | undefined
  return {
    point: arrow.point,
    tools,
    config,
    async walk(house, known) {
      for (;;) {
        last = newTurn(walk)
        note(await takeTurn(house, last, walk, known, remembered), known)
      }
    },
    async look(house, known) {
      if (last !== undefined) await lookFor(last, arrow, house, known)
      const kept = new Set((await house.app.desk.grants()).map(({ sessionId }) => sessionId))
      for (const session of remembered) {
        if (!kept.has(session)) known.problems.push(`The answer remembered for session ${session} is gone.`)
      }
    },
  }
}

let turns = 0

function newTurn({ tool, keyed }: Walk): Turn {
  const sessionId = `${tool}-${++turns}`
  const request = { agentId: "operator", tool, input: { note: sessionId }, sessionId, taskId: sessionId }
  return { request: keyed === true ? { ...request, key: "the key" } : request }
}

async function takeTurn(house: HouseProcess, turn: Turn, walk: Walk, known: Known, remembered: string[]) {
  const { request } = turn
  const { says = [], isLeft = false } = walk
  const pending = isLeft ? house.app.submit(request, { waitMs: 0 }) : house.app.call(request)
  pending.catch(() => {})
  let isShown = false
  for (const [by, saying] of says) {
    if (!isShown) turn.callId = await house.waiting(request.tool)
    const heard = await house.app.desk.say(turn.callId!, saying, by)
    if (!heard.ok) known.problems.push(`${by} was not heard: ${heard.sentence}`)
    isShown = saying.say !== "edit"
    if (saying.say === "approve" && saying.remember !== undefined) remembered.push(request.sessionId)
  }
  const ended = await pending
  return (isTicket(ended) ? await house.app.resume(ended.callId) : ended) as ToolResult
}

async function lookFor(turn: Turn, arrow: Arrow, house: HouseProcess, known: Known): Promise<void> {
  const { tool, sessionId } = turn.request
  const problem = (sentence: string) =>
    known.problems.push(`After kill ${known.counted.kills}, call ${turn.callId ?? "?"} of ${sessionId}: ${sentence}`)
  const endings = async () =>
    (await house.exported({ tool })).filter((call) => call.sessionId === sessionId).map(endingOf)

  const sweeps = known.counted.kills % 2 === 1 && arrow.leaves === "open" && arrow.ends === "interrupted"
  if (sweeps) await until(async () => (await endings()).length > 0, "the sweeper ends the call")
  const found = await endings()
  const item = (await house.app.desk.list()).find((each) => each.sessionId === sessionId)
  const leaves = found[0] ?? (item === undefined ? "open" : item.kind === "call" ? "waiting" : "held")
  const expected = sweeps ? "interrupted" : arrow.leaves === "nothing" ? "open" : arrow.leaves
  if (leaves !== expected) problem(`it was left ${leaves}, not ${expected}.`)
  if (found.length > 0 && item !== undefined) problem("it has ended and still stands at the desk.")
  if (item !== undefined) turn.callId = item.callId

  const result = await comeBack(turn, house, problem)
  const ends = await endings()
  if (ends.length > 1 || (ends[0] ?? "nothing") !== arrow.ends)
    problem(`it ended as ${ends.join()}, not ${arrow.ends}.`)
  if (result !== undefined && endingOf(result) !== arrow.ends) problem(`who came back heard ${endingOf(result)}.`)
  const ran = marksIn(known.dir).filter(({ callId }) => callId === (result?.callId ?? turn.callId))
  const runs = result === undefined ? marksIn(known.dir).filter((mark) => mark.note === sessionId) : ran
  if (runs.length !== arrow.runs) problem(`it ran ${runs.length} times, not ${arrow.runs}.`)
  if (arrow.walk === "edited" && runs[0] !== undefined && runs[0].note !== "edited") problem("the old input ran.")
  await lookForAnswers(result, walks[arrow.walk], house, problem)
}

/** Who agreed to a call that ran, or let its result out, stands in the record of the call. */
async function lookForAnswers(
  result: ToolResult | undefined,
  { says = [] }: Walk,
  house: HouseProcess,
  problem: (sentence: string) => void,
): Promise<void> {
  if (result?.success !== true || says.length === 0) return
  const steps = await house.app.audit.show(result.callId)
  const kind = says.some(([, saying]) => saying.say === "release") ? "released" : "answered"
  const found = steps.some((step) => step.kind === kind && (step.by ?? "") !== "")
  if (!found) problem(`its record does not say who agreed: ${steps.map((step) => step.kind).join(", ")}.`)
}

/** Goes on with a call as its caller would, with the people at the desk saying yes; undefined when there is no way back. */
async function comeBack(
  turn: Turn,
  house: HouseProcess,
  problem: (sentence: string) => void,
): Promise<ToolResult | undefined> {
  const { sessionId, key } = turn.request
  for (let attempt = 0; attempt < 10; attempt++) {
    const item = (await house.app.desk.list()).find((each) => each.sessionId === sessionId)
    if (item !== undefined) {
      const by = item.votes.some((vote) => vote.by === "ann") ? "ben" : "ann"
      const saying: Saying = item.kind === "call" ? yes : { say: "release" }
      const heard = await house.app.desk.say(item.callId, saying, by, item.revision)
      if (!heard.ok) problem(`${by} was not heard: ${heard.sentence}`)
      if (heard.ok && !heard.done) continue
    }
    if (turn.callId === undefined && key === undefined) return undefined
    const outcome =
      turn.callId === undefined
        ? await house.app.submit(turn.request, { waitMs: 200 })
        : await house.app.resume(turn.callId, { waitMs: 200 })
    if (!isTicket(outcome)) return outcome
    turn.callId = outcome.callId
  }
  problem("it never ended, though somebody came back for it.")
  return undefined
}
