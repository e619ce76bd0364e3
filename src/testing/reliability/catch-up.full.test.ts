import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../test-app.ts"
import { times } from "../times.ts"
import type { AuditRow } from "../../store/port.ts"
import { firedFile, startApp, type Failpoint, type MarkTool } from "./app-process.ts"

const tools: readonly MarkTool[] = [
  { name: "plain", permission: { level: "public" } },
  { name: "held", permission: { level: "public", requireResultApproval: "always" } },
]

/** Pauses a reader after it moved the first journal, before it checks which processes are dead. */
const afterMoving: Failpoint = {
  name: "after a journal was moved",
  on: "sql",
  match: /^commit.*insert into segments/,
  when: "pause",
  thread: "main",
}

const rounds = times(2, 10)

const call = (tool: string) => ({ agentId: "operator", tool, input: { note: tool } })

/** Reports whether the reader reached its failpoint before it had read everything. */
function pausedWhile(reader: { waitForPause(): Promise<void> }, reading: Promise<unknown>): Promise<boolean> {
  return Promise.race([reader.waitForPause().then(() => true), reading.then(() => false)])
}

test("three processes that move the journals of dead processes at the same moment end each call once", async () => {
  const dir = temporaryFolder()
  const children = [await startApp(dir), await startApp(dir), await startApp(dir)]
  const left: string[] = []
  for (let round = 0; round < times(10, 40); round++) {
    left.push(...(await children[round % 3]!.leaveOrphans(5)))
    const moment = Date.now() + 20
    await Promise.all(children.map((child) => child.runAt<AuditRow[]>(moment, "audit.list", [])))
  }
  const rows = await children[0]!.app.audit.list({ limit: 10_000 })
  console.log(`Catching up at once: ${left.length} journals of dead processes, ${rows.length} calls ended.`)
  expect(rows.map(({ callId }) => callId).sort()).toEqual(left.sort())
  expect(new Set(rows.map(({ code }) => code))).toEqual(new Set(["interrupted"]))
  expect(await children[1]!.app.audit.verify()).toMatchObject({ ok: true })
  expect(readdirSync(join(dir, "data", "journal"))).toEqual([])
  await Promise.all(children.map((child) => child.kill()))
})

test("what a process acknowledged is stored, although it was killed while another read its journal", async () => {
  const dir = temporaryFolder()
  const acknowledged: string[] = []
  let missed = 0
  for (let round = 0; round < rounds; round++) {
    const writer = await startApp(dir, { tools })
    const reader = await startApp(dir, { tools, failpoint: afterMoving })
    acknowledged.push((await writer.app.call(call("plain"))).callId)
    await reader.arm()
    const reading = reader.app.audit.list()
    if (!(await pausedWhile(reader, reading))) {
      // The writer's own mover was faster, so the failpoint was not reached. Try again.
      await Promise.all([reader.kill(), writer.kill()])
      expect(++missed).toBeLessThan(30)
      round--
      continue
    }
    for (let more = 0; more < 5; more++) acknowledged.push((await writer.app.call(call("plain"))).callId)
    await writer.kill()
    reader.unpause()
    await reading
    const rows = await reader.app.audit.list({ limit: 1000 })
    expect(
      acknowledged.filter((callId) => !rows.some((row) => row.callId === callId && row.status === "success")),
    ).toEqual([])
    expect(await reader.app.audit.verify()).toMatchObject({ ok: true })
    await reader.kill()
    rmSync(firedFile(dir), { force: true })
  }
  console.log(
    `Killed while another read its journal: ${rounds} times, ${acknowledged.length} calls acknowledged, all stored.`,
  )
})

test("a call that one process began and another ended has one ending, although a third read the audit log meanwhile", async () => {
  const dir = temporaryFolder()
  let missed = 0
  for (let round = 0; round < rounds; round++) {
    const beginner = await startApp(dir, { tools, options: { writes: "direct" } })
    const { callId } = await beginner.app.call(call("held"), { waitMs: 0 })
    await beginner.kill()
    const reader = await startApp(dir, { tools, failpoint: afterMoving })
    const ender = await startApp(dir, { tools })
    await ender.app.call(call("plain"))
    await reader.arm()
    const reading = reader.app.audit.list()
    if (!(await pausedWhile(reader, reading))) {
      await Promise.all([reader.kill(), ender.kill()])
      expect(++missed).toBeLessThan(30)
      round--
      continue
    }
    expect(await ender.app.approvals.answer(callId, { kind: "release" }, "ann")).toMatchObject({ ok: true })
    expect(await ender.app.resume(callId)).toMatchObject({ status: "success" })
    reader.unpause()
    await reading
    const rows = await reader.app.audit.list({ limit: 1000 })
    expect(rows.filter((row) => row.callId === callId).map(({ status }) => status)).toEqual(["success"])
    await Promise.all([reader.kill(), ender.kill()])
    rmSync(firedFile(dir), { force: true })
  }
  console.log(`Ended by another while a third read: ${rounds} times, one ending each.`)
})
