import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/open.ts"
import type { AuditRow } from "../model/ports.ts"
import { firedFile, startHouse, type Failpoint, type MarkTool } from "./testing/house-process.ts"

const tools: readonly MarkTool[] = [
  { name: "plain", permission: { level: "public" } },
  { name: "held", permission: { level: "public", requireResultApproval: "always" } },
]

/** A reader stands still when it has moved the first journal, before it looks whose process is gone. */
const afterMoving: Failpoint = {
  name: "after a journal was moved",
  on: "sql",
  match: /^commit.*insert into segments/,
  when: "pause",
  thread: "main",
}

const call = (tool: string) => ({ agentId: "operator", tool, input: { note: tool } })

/** Whether the reader came to its failpoint, before it had read everything. */
function pausedWhile(reader: { paused(): Promise<void> }, reading: Promise<unknown>): Promise<boolean> {
  return Promise.race([reader.paused().then(() => true), reading.then(() => false)])
}

test("three processes that move the journals of dead ones at the same moment end each of their calls once", async () => {
  const dir = temporaryFolder()
  const houses = [await startHouse(dir), await startHouse(dir), await startHouse(dir)]
  const left: string[] = []
  for (let round = 0; round < 40; round++) {
    left.push(...(await houses[round % 3]!.orphans(5)))
    const moment = Date.now() + 20
    await Promise.all(houses.map((house) => house.at<AuditRow[]>(moment, "audit.list", [])))
  }
  const rows = await houses[0]!.app.audit.list({ limit: 10_000 })
  console.log(`Catching up at once: ${left.length} journals of dead processes, ${rows.length} calls ended.`)
  expect(rows.map(({ callId }) => callId).sort()).toEqual(left.sort())
  expect(new Set(rows.map(({ code }) => code))).toEqual(new Set(["interrupted"]))
  expect(await houses[1]!.app.audit.verify()).toMatchObject({ ok: true })
  expect(readdirSync(join(dir, "data", "journal"))).toEqual([])
  await Promise.all(houses.map((house) => house.kill()))
})

test("what a process wrote and was told as kept is there, though it was killed while another read its journal", async () => {
  const dir = temporaryFolder()
  const told: string[] = []
  let missed = 0
  for (let round = 0; round < 10; round++) {
    const writer = await startHouse(dir, { tools })
    const reader = await startHouse(dir, { tools, failpoint: afterMoving })
    told.push((await writer.app.call(call("plain"))).callId)
    await reader.arm()
    const reading = reader.app.audit.list()
    if (!(await pausedWhile(reader, reading))) {
      // The writer's own mover was faster, so there was nothing to be stopped at: once more.
      await Promise.all([reader.kill(), writer.kill()])
      expect(++missed).toBeLessThan(30)
      round--
      continue
    }
    for (let more = 0; more < 5; more++) told.push((await writer.app.call(call("plain"))).callId)
    await writer.kill()
    reader.goOn()
    await reading
    const rows = await reader.app.audit.list({ limit: 1000 })
    expect(told.filter((callId) => !rows.some((row) => row.callId === callId && row.status === "success"))).toEqual([])
    expect(await reader.app.audit.verify()).toMatchObject({ ok: true })
    await reader.kill()
    rmSync(firedFile(dir), { force: true })
  }
  console.log(`Killed while another read its journal: 10 times, ${told.length} calls told, all there.`)
})

test("a call that one process began and another ended has that one ending, though a third read the record meanwhile", async () => {
  const dir = temporaryFolder()
  let missed = 0
  for (let round = 0; round < 10; round++) {
    const beginner = await startHouse(dir, { tools, options: { writes: "direct" } })
    const { callId } = await beginner.app.submit(call("held"), { waitMs: 0 })
    await beginner.kill()
    const reader = await startHouse(dir, { tools, failpoint: afterMoving })
    const ender = await startHouse(dir, { tools })
    await ender.app.call(call("plain"))
    await reader.arm()
    const reading = reader.app.audit.list()
    if (!(await pausedWhile(reader, reading))) {
      await Promise.all([reader.kill(), ender.kill()])
      expect(++missed).toBeLessThan(30)
      round--
      continue
    }
    expect(await ender.app.desk.say(callId, { say: "release" }, "ann")).toMatchObject({ ok: true })
    expect(await ender.app.resume(callId)).toMatchObject({ status: "success" })
    reader.goOn()
    await reading
    const rows = await reader.app.audit.list({ limit: 1000 })
    expect(rows.filter((row) => row.callId === callId).map(({ status }) => status)).toEqual(["success"])
    await Promise.all([reader.kill(), ender.kill()])
    rmSync(firedFile(dir), { force: true })
  }
  console.log("Ended by another while a third read: 10 times, one ending each.")
})
