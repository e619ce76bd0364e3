import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { silentLogger } from "../../core/logger.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { Audit } from "../../audit/audit.ts"
import { parseFrames, wholeFramesLength } from "./frames.ts"
import { Journal } from "./journal.ts"
import { openStore } from "./store.ts"
import { deadOwner, someStart, someEnd, openAuditTables, writeDeadJournal } from "../testing/journal.ts"

test("a journal cut at every byte of its last ten records loses nothing that was acknowledged before the cut", async () => {
  const table = await openAuditTables()
  const { file, text, acknowledged } = await writeDeadJournal(table.journalDir, table.key)
  const from = acknowledged.at(-11)!
  for (let cut = from; cut <= text.length; cut += 1) {
    const fresh = cut % 40 === 0 || acknowledged.includes(cut) || acknowledged.includes(cut + 1)
    const whole = wholeFramesLength(text.subarray(0, cut).toString("utf8"))
    const kept = acknowledged.filter((size) => size <= cut).length
    const lines = [...parseFrames(text.subarray(0, cut).toString("utf8").slice(0, whole))].flatMap(
      (frame) => frame.lines,
    )
    expect(lines.length - 1).toBe(kept)
    if (!fresh) continue
    // The whole recovery: another process finds the journal, moves it and ends its calls.
    const again = await openAuditTables()
    rmSync(join(again.journalDir, "..", "record.key"))
    writeFileSync(join(again.journalDir, file.split("/").at(-1)!), text.subarray(0, cut))
    const audit = new Audit(again.database, table.key, again.journalDir)
    const rows = await audit.list({ limit: 100 })
    const starts = acknowledged.slice(0, kept).filter((_, index) => index % 2 === 0).length
    expect(rows).toHaveLength(starts)
    const ended = acknowledged.slice(0, kept).filter((_, index) => index % 2 === 1).length
    expect(rows.filter((row) => row.status === "success")).toHaveLength(ended)
    expect(rows.filter((row) => row.code === "interrupted")).toHaveLength(starts - ended)
    expect(await audit.verify()).toMatchObject({ ok: true })
    expect(readdirSync(again.journalDir)).toEqual([])
  }
}, 60_000)

test("an entry larger than one batch is moved", async () => {
  const table = await openAuditTables()
  const journal = new Journal(table.journalDir, table.key, deadOwner, () => {})
  await journal.write({ ...someStart("big"), input: "x".repeat(9_000_000) }, "crash")
  await journal.write(someEnd("big"), "crash")
  journal.close()
  expect(await table.audit.list()).toMatchObject([{ callId: "big", status: "success" }])
  expect((await table.audit.show("big")).map((entry) => entry.kind)).toEqual(["start", "end"])
})

test("when several readers move the same journal at once, every line arrives once", async () => {
  const dataDir = temporaryFolder()
  const stores = []
  for (const owner of ["one", "two", "three"])
    stores.push(await openStore({ dataDir, owner, logger: silentLogger, writes: "direct" }))
  for (const store of stores) onTestFinished(() => store.close())
  const { key, journalDir } = stores[0]!
  const journal = new Journal(journalDir, key, (await import("./owner.ts")).newOwnerName(), () => {})
  const audits = stores.map((store) => new Audit(store.database, store.key, store.journalDir))
  for (let call = 0; call < 60; call++) {
    await journal.write(someStart(`c${call}`), "crash")
    await journal.write(someEnd(`c${call}`), "crash")
    await Promise.all(audits.map((audit) => audit.catchUp()))
  }
  expect(await audits[0]!.list({ limit: 100 })).toHaveLength(60)
  expect(await audits[1]!.verify()).toMatchObject({ ok: true, records: 121 })
  journal.close()
})
