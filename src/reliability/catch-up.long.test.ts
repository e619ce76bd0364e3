import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/open.ts"
import type { AuditRow } from "../model/ports.ts"
import { startHouse } from "./testing/house-process.ts"

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
