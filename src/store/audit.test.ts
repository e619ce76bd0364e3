import { copyFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { child, library } from "../testing/children.ts"
import { open, temporaryFolder, until } from "../testing/open.ts"
import { openDatabase, transaction } from "./database.ts"
import { recordKey } from "./key.ts"
import { verifyRecord } from "./verify.ts"

/** A closed record of thirty calls, to tamper with. */
async function closedRecord(): Promise<string> {
  const system = await open()
  for (let call = 0; call < 10; call++)
    await system.call({ agentId: "operator", tool: "json_parse", input: { text: `${call}` } })
  await system.callMany(
    Array.from({ length: 20 }, (_, call) => ({ agentId: "operator", tool: "json_parse", input: { text: `${call}` } })),
  )
  await system.close()
  return system.dir
}

const verifyAt = async (dir: string, head?: string) => {
  const system = await open({ data: { dir } }, { writes: "direct" })
  return system.audit.verify(head)
}

test("a look at a bad record leaves nothing open that stops the next write", async () => {
  const dir = await closedRecord()
  const [mine, other] = [
    await openDatabase(join(dir, "quartermaster.db")),
    await openDatabase(join(dir, "quartermaster.db")),
  ]
  mine.exec("delete from segments")
  expect(verifyRecord(mine, recordKey(dir))).toMatchObject({ ok: false })
  other.exec("create table elsewhere (x)")
  expect(() => transaction(mine, () => mine.exec("delete from ended"))).not.toThrow()
  mine.close()
  other.close()
})

test("an older copy of the record is found with a head kept elsewhere, and only with it", async () => {
  const dir = await closedRecord()
  const old = temporaryFolder()
  for (const file of readdirSync(dir))
    if (file !== "journal" && file !== "artifacts") copyFileSync(join(dir, file), join(old, file))
  const system = await open({ data: { dir } })
  await system.call({ agentId: "operator", tool: "current_time", input: {} })
  const head = await system.audit.head()
  expect(await system.audit.verify(head)).toMatchObject({ ok: true })
  expect(await verifyAt(old)).toMatchObject({ ok: true })
  expect(await verifyAt(old, head)).toMatchObject({
    ok: false,
    problem: expect.stringContaining("older than the head"),
  })
})

test("an id that several begin with shows none of them, and which they are can be asked", async () => {
  const system = await open()
  const made = ["1", "2", "3"].map((text) => system.call({ agentId: "operator", tool: "json_parse", input: { text } }))
  const ids = (await Promise.all(made)).map(({ callId }) => callId).sort()
  const [one = ""] = ids
  expect(await system.audit.show(one.slice(0, 2))).toEqual([])
  expect(await system.audit.beginningWith(one.slice(0, 2))).toEqual(ids)
  expect(await system.audit.beginningWith(one)).toEqual([one])
  expect(await system.audit.beginningWith("zz")).toEqual([])
  expect(await system.audit.show(one)).toHaveLength(2)
})

test("lists by agent, tool, status and time, newest first", async () => {
  const system = await open()
  await system.call({ agentId: "operator", tool: "json_parse", input: { text: "1" } })
  await system.call({ agentId: "operator", tool: "json_parse", input: { text: "{" } })
  await system.call({ agentId: "root", tool: "current_time", input: {} })
  await system.call({ agentId: "operator", tool: "current_time", input: {} })
  const tools = async (filter: object) =>
    (await system.audit.list(filter)).map((row) => `${row.agentId} ${row.tool} ${row.status}`)
  expect(await tools({ tool: "json_parse" })).toEqual(["operator json_parse error", "operator json_parse success"])
  expect(await tools({ agentId: "root" })).toEqual(["root current_time error"])
  expect(await tools({ status: "error", agentId: "operator" })).toEqual(["operator json_parse error"])
  expect(await tools({ since: Date.now() + 1000 })).toEqual([])
  expect(await tools({ limit: 1 })).toEqual(["operator current_time success"])
})

test("counts by tool, agent and ending, refused calls included [S4-98] [C-29]", async () => {
  const system = await open()
  await system.call({ agentId: "operator", tool: "json_parse", input: { text: "1" } })
  await system.call({ agentId: "operator", tool: "json_parse", input: { text: "{" } })
  await system.call({ agentId: "root", tool: "json_parse", input: { text: "1" } })
  expect(await system.audit.stats()).toMatchObject({
    total: 3,
    failures: 2,
    byTool: { json_parse: { count: 3, failures: 2 } },
    byAgent: { operator: { count: 2, failures: 1 }, root: { count: 1, failures: 1 } },
    byEnding: { success: 1, tool_failed: 1, tool_not_available: 1 },
  })
})

test("two systems on one folder write side by side, and each reads what both wrote", async () => {
  const one = await open()
  const two = await open({ data: { dir: one.dir } })
  const three = await open({ data: { dir: one.dir } }, { writes: "direct" })
  await Promise.all(
    [one, two, three].flatMap((system) =>
      Array.from({ length: 20 }, () => system.call({ agentId: "operator", tool: "current_time", input: {} })),
    ),
  )
  await one.settle()
  await two.settle()
  expect(await three.audit.list({ limit: 100 })).toHaveLength(60)
  expect(await one.audit.verify()).toMatchObject({ ok: true, chains: 3 })
})

test("ten systems that open a new folder at once find one database and one key", async () => {
  const dir = temporaryFolder()
  const systems = await Promise.all(Array.from({ length: 10 }, () => open({ data: { dir } }, { writes: "direct" })))
  await Promise.all(systems.map((system) => system.call({ agentId: "operator", tool: "current_time", input: {} })))
  expect(await systems[0]!.audit.verify()).toMatchObject({ ok: true, records: 20 })
})

test("a call whose process wrote directly and was killed is shown as interrupted, once", async () => {
  const dir = temporaryFolder()
  const {
    process: running,
    lines,
    ended,
  } = child(`
    import { createQuartermaster } from ${JSON.stringify(library)}
    const system = await createQuartermaster({ data: { dir: ${JSON.stringify(dir)} } }, { writes: "direct" })
    system.on("TOOL_CALL_REQUESTED", ({ callId }) => console.log(callId))
    await system.call({ agentId: "operator", tool: "sleep", input: { duration: 20 } })
  `)
  await until(() => lines.length > 0, "the tool runs")
  const system = await open({ data: { dir } })
  expect(await system.audit.list()).toEqual([])
  running.kill("SIGKILL")
  await ended
  for (let look = 0; look < 2; look++) {
    expect(await system.audit.list()).toMatchObject([{ callId: lines[0], code: "interrupted", tool: "sleep" }])
  }
  expect(await system.audit.verify()).toMatchObject({ ok: true })
})
