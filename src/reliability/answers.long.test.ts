import { expect, test } from "vitest"
import type { Heard, Saying } from "../model/approval.ts"
import type { ToolResult } from "../model/result.ts"
import { temporaryFolder } from "../testing/open.ts"
import { startHouse, type HouseProcess, type MarkTool } from "./testing/house-process.ts"
import { marksIn } from "./testing/kill.ts"
import { meet } from "./testing/meet.ts"

const tools: readonly MarkTool[] = [
  { name: "asked", permission: { level: "moderate" } },
  { name: "voted", permission: { level: "public" } },
]
const config = {
  org: { people: [{ id: "ann" }, { id: "ben" }] },
  rules: [{ ask: "voted", because: "Two people agree to it.", approvers: { count: 2 } }],
}
const yes: Saying = { say: "approve" }

/** One process that calls and two at which people answer, over one folder. */
async function openThree() {
  const dir = temporaryFolder()
  const open = () => startHouse(dir, { tools, config })
  const [caller, one, other] = [await open(), await open(), await open()]
  const close = () => Promise.all([caller, one, other].map((house) => house.kill()))
  return { dir, caller, one, other, close }
}

/** A call that waits: with its process there to go on, or with nobody. */
async function ask(caller: HouseProcess, tool: string, note: string, stays: boolean) {
  const request = { agentId: "operator", tool, input: { note }, sessionId: note }
  const ending = stays ? caller.app.call(request) : undefined
  if (!stays) await caller.app.submit(request, { waitMs: 0 })
  return { callId: await caller.waiting(tool), ending }
}

const runsOf = (dir: string, note: string) => marksIn(dir).filter((mark) => mark.note === note).length

test("two processes answer one approval at the same moment, 500 times: one wins, the other hears who, the tool runs once", async () => {
  const { dir, caller, one, other, close } = await openThree()
  const wins = { ann: 0, ben: 0 }
  let met = 0
  for (let round = 0; round < 500; round++) {
    const { callId, ending } = await ask(caller, "asked", `asked-${round}`, round % 5 !== 0)
    const { values, isOverlapping } = await meet<Heard>([
      [one, "desk.say", callId, yes, "ann"],
      [other, "desk.say", callId, yes, "ben"],
    ])
    const [winner, loser] = values[0]!.ok ? (["ann", "ben"] as const) : (["ben", "ann"] as const)
    expect(values.map(({ ok }) => ok).sort()).toEqual([false, true])
    expect(values[loser === "ann" ? 0 : 1]!.sentence).toBe(`${winner} has answered already: yes.`)
    wins[winner]++
    if (isOverlapping) met++
    // Where nobody waits for it, both go on with it at once.
    const results = ending
      ? [await ending]
      : (
          await meet<ToolResult>([
            [one, "resume", callId],
            [other, "resume", callId],
          ])
        ).values
    for (const result of results) expect(result).toMatchObject({ callId, status: "success" })
  }
  const runs = marksIn(dir)
  const rows = await caller.app.audit.list({ limit: 10_000 })
  console.log(
    `Two answers at once: 500 calls, ann won ${wins.ann}, ben won ${wins.ben}, ${met} times both spoke at one time, ${runs.length} runs.`,
  )
  expect(runs).toHaveLength(500)
  expect(new Set(runs.map(({ note }) => note)).size).toBe(500)
  expect(rows).toHaveLength(500)
  expect(rows.every(({ status }) => status === "success")).toBe(true)
  expect(met).toBeGreaterThan(0)
  expect(await one.app.audit.verify()).toMatchObject({ ok: true })
  await close()
})

test("a yes and a no at the same moment: the call ends as the one says that was heard", async () => {
  const { dir, caller, one, other, close } = await openThree()
  const heard = { yes: 0, no: 0 }
  for (let round = 0; round < 100; round++) {
    const note = `asked-${round}`
    const { callId, ending } = await ask(caller, "asked", note, true)
    const { values } = await meet<Heard>([
      [one, "desk.say", callId, yes, "ann"],
      [other, "desk.say", callId, { say: "reject", reason: "Not today." }, "ben"],
    ])
    expect(values.map(({ ok }) => ok).sort()).toEqual([false, true])
    const result = await ending!
    const isYes = values[0]!.ok
    heard[isYes ? "yes" : "no"]++
    expect(result).toMatchObject(
      isYes ? { status: "success" } : { code: "approval_rejected", rejectReason: "Not today." },
    )
    expect(runsOf(dir, note)).toBe(isYes ? 1 : 0)
  }
  console.log(`A yes and a no at once: ${heard.yes} times the yes was heard, ${heard.no} times the no.`)
  await close()
})

test("two votes at the same moment are both counted, and the tool runs once", async () => {
  const { dir, caller, one, other, close } = await openThree()
  for (let round = 0; round < 100; round++) {
    const note = `voted-${round}`
    const { callId, ending } = await ask(caller, "voted", note, true)
    const { values } = await meet<Heard>([
      [one, "desk.say", callId, yes, "ann"],
      [other, "desk.say", callId, yes, "ben"],
    ])
    expect(values.map((heard) => heard.ok && heard.done).sort()).toEqual([false, true])
    expect(values.every(({ ok }) => ok)).toBe(true)
    expect(await ending!).toMatchObject({ status: "success" })
    expect(runsOf(dir, note)).toBe(1)
  }
  console.log(`Two votes at once: 100 calls, ${marksIn(dir).length} runs.`)
  await close()
})
