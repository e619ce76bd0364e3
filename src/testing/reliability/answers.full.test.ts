import { expect, test } from "vitest"
import type { AnswerResult, Answer } from "../../core/approval.ts"
import type { ToolResult } from "../../core/result.ts"
import { temporaryFolder } from "../test-app.ts"
import { times } from "../times.ts"
import { startApp, type AppProcess, type MarkTool } from "./app-process.ts"
import { toolMarksIn } from "./kill-repeatedly.ts"
import { runAtOnce } from "./run-at-once.ts"

const tools: readonly MarkTool[] = [
  { name: "asked", permission: { level: "moderate" } },
  { name: "voted", permission: { level: "public" } },
]
const config = {
  org: { people: [{ id: "ann" }, { id: "ben" }] },
  rules: [{ ask: "voted", because: "Two people agree to it.", approvers: { count: 2 } }],
}
const yes: Answer = { kind: "approve" }
const rounds = times(50, 500)
const fewRounds = times(20, 100)

/** One process that makes calls and two in which people answer, over one folder. */
async function openThree() {
  const dir = temporaryFolder()
  const open = () => startApp(dir, { tools, config })
  const [caller, first, second] = [await open(), await open(), await open()]
  const close = () => Promise.all([caller, first, second].map((child) => child.kill()))
  return { dir, caller, first, second, close }
}

/** Makes a call that waits for a person. With `stays` its caller waits for the result. */
async function ask(caller: AppProcess, tool: string, note: string, stays: boolean) {
  const request = { agentId: "operator", tool, input: { note }, sessionId: note }
  const ending = stays ? caller.app.call(request) : undefined
  if (!stays) await caller.app.call(request, { waitMs: 0 })
  return { callId: await caller.nextWaitingCall(tool), ending }
}

const runsOf = (dir: string, note: string) => toolMarksIn(dir).filter((mark) => mark.note === note).length

test(`two processes answer one approval at the same moment, ${rounds} times: one wins, the other learns who, the tool runs once`, async () => {
  const { dir, caller, first, second, close } = await openThree()
  const wins = { ann: 0, ben: 0 }
  let overlaps = 0
  for (let round = 0; round < rounds; round++) {
    const { callId, ending } = await ask(caller, "asked", `asked-${round}`, round % 5 !== 0)
    const { values, isOverlapping } = await runAtOnce<AnswerResult>([
      [first, "approvals.answer", callId, yes, "ann"],
      [second, "approvals.answer", callId, yes, "ben"],
    ])
    const [winner, loser] = values[0]!.ok ? (["ann", "ben"] as const) : (["ben", "ann"] as const)
    expect(values.map(({ ok }) => ok).sort()).toEqual([false, true])
    expect(values[loser === "ann" ? 0 : 1]!.sentence).toBe(`${winner} has answered already: yes.`)
    wins[winner]++
    if (isOverlapping) overlaps++
    // Without a waiting caller, both processes resume the call at once.
    const results = ending
      ? [await ending]
      : (
          await runAtOnce<ToolResult>([
            [first, "resume", callId],
            [second, "resume", callId],
          ])
        ).values
    for (const result of results) expect(result).toMatchObject({ callId, status: "success" })
  }
  const runs = toolMarksIn(dir)
  const rows = await caller.app.audit.list({ limit: 10_000 })
  console.log(
    `Two answers at once: ${rounds} calls, ann won ${wins.ann}, ben won ${wins.ben}, ${overlaps} times both answered at one time, ${runs.length} runs.`,
  )
  expect(runs).toHaveLength(rounds)
  expect(new Set(runs.map(({ note }) => note)).size).toBe(rounds)
  expect(rows).toHaveLength(rounds)
  expect(rows.every(({ status }) => status === "success")).toBe(true)
  expect(overlaps).toBeGreaterThan(0)
  expect(await first.app.audit.verify()).toMatchObject({ ok: true })
  await close()
})

test("approval and rejection at the same moment: the call ends as the accepted answer says", async () => {
  const { dir, caller, first, second, close } = await openThree()
  const accepted = { yes: 0, no: 0 }
  for (let round = 0; round < fewRounds; round++) {
    const note = `asked-${round}`
    const { callId, ending } = await ask(caller, "asked", note, true)
    const { values } = await runAtOnce<AnswerResult>([
      [first, "approvals.answer", callId, yes, "ann"],
      [second, "approvals.answer", callId, { kind: "reject", reason: "Not today." }, "ben"],
    ])
    expect(values.map(({ ok }) => ok).sort()).toEqual([false, true])
    const result = await ending!
    const isYes = values[0]!.ok
    accepted[isYes ? "yes" : "no"]++
    expect(result).toMatchObject(
      isYes ? { status: "success" } : { code: "approval_rejected", rejectReason: "Not today." },
    )
    expect(runsOf(dir, note)).toBe(isYes ? 1 : 0)
  }
  console.log(`A yes and a no at once: ${accepted.yes} times the yes was accepted, ${accepted.no} times the no.`)
  await close()
})

test("two votes at the same moment are both counted, and the tool runs once", async () => {
  const { dir, caller, first, second, close } = await openThree()
  for (let round = 0; round < fewRounds; round++) {
    const note = `voted-${round}`
    const { callId, ending } = await ask(caller, "voted", note, true)
    const { values } = await runAtOnce<AnswerResult>([
      [first, "approvals.answer", callId, yes, "ann"],
      [second, "approvals.answer", callId, yes, "ben"],
    ])
    expect(values.map((result) => result.ok && result.done).sort()).toEqual([false, true])
    expect(values.every(({ ok }) => ok)).toBe(true)
    expect(await ending!).toMatchObject({ status: "success" })
    expect(runsOf(dir, note)).toBe(1)
  }
  console.log(`Two votes at once: ${fewRounds} calls, ${toolMarksIn(dir).length} runs.`)
  await close()
})
