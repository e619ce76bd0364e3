import { copyFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openTestApp, temporaryFolder, tool } from "../testing/test-app.ts"
import { openDatabase, transaction } from "../store/sqlite/database.ts"
import { loadRecordKey } from "../store/sqlite/record-key.ts"
import { verifyAuditLog } from "./verify.ts"

/** A closed audit log of thirty calls, to tamper with. */
async function closedRecord(): Promise<string> {
  const system = await openTestApp()
  for (let call = 0; call < 10; call++)
    await system.call({ agentId: "operator", tool: "json_parse", input: { text: `${call}` } })
  await system.callMany(
    Array.from({ length: 20 }, (_, call) => ({ agentId: "operator", tool: "json_parse", input: { text: `${call}` } })),
  )
  await system.close()
  return system.dir
}

const verifyAt = async (dir: string, head?: string) => {
  const system = await openTestApp({ data: { dir } }, { writes: "direct" })
  return system.audit.verify(head)
}

test("verifying a bad audit log leaves nothing open that blocks the next write", async () => {
  const dir = await closedRecord()
  const [mine, other] = [
    await openDatabase(join(dir, "quartermaster.db")),
    await openDatabase(join(dir, "quartermaster.db")),
  ]
  mine.exec("delete from segments")
  expect(
    verifyAuditLog(
      mine,
      loadRecordKey(dir, () => true),
    ),
  ).toMatchObject({ ok: false })
  other.exec("create table elsewhere (x)")
  expect(() => transaction(mine, () => mine.exec("delete from ended"))).not.toThrow()
  mine.close()
  other.close()
})

test("an older copy of the audit log is noticed only with a checkpoint hash stored elsewhere", async () => {
  const dir = await closedRecord()
  const old = temporaryFolder()
  for (const file of readdirSync(dir))
    if (file !== "journal" && file !== "artifacts") copyFileSync(join(dir, file), join(old, file))
  const system = await openTestApp({ data: { dir } })
  await system.call({ agentId: "operator", tool: "current_time", input: {} })
  const head = await system.audit.head()
  expect(await system.audit.verify(head)).toMatchObject({ ok: true })
  expect(await verifyAt(old)).toMatchObject({ ok: true })
  expect(await verifyAt(old, head)).toMatchObject({
    ok: false,
    problem: expect.stringContaining("older than the checkpoint"),
  })
})

test("an ambiguous beginning of an id shows no call, and beginningWith lists the matching ids", async () => {
  const system = await openTestApp()
  const made = ["1", "2", "3"].map((text) => system.call({ agentId: "operator", tool: "json_parse", input: { text } }))
  const ids = (await Promise.all(made)).map(({ callId }) => callId).sort()
  const [one = ""] = ids
  expect(await system.audit.show(one.slice(0, 2))).toEqual([])
  expect(await system.audit.beginningWith(one.slice(0, 2))).toEqual(ids)
  expect(await system.audit.beginningWith(one)).toEqual([one])
  expect(await system.audit.beginningWith("zz")).toEqual([])
  expect(await system.audit.show(one)).toHaveLength(2)
})

test("the entries of many calls are those of each", async () => {
  const system = await openTestApp()
  const made = ["1", "{", "3"].map((text) => system.call({ agentId: "operator", tool: "json_parse", input: { text } }))
  const ids = (await Promise.all(made)).map(({ callId }) => callId)
  await system.settle()
  const found = await system.audit.showMany([...ids, "no such call"])
  expect([...found.keys()]).toEqual([...ids, "no such call"])
  for (const id of ids) expect(found.get(id)).toEqual(await system.audit.show(id))
  expect(found.get(ids[0]!)).not.toEqual([])
  expect(found.get("no such call")).toEqual([])
})

test("lists by agent, tool, status and time, newest first", async () => {
  const system = await openTestApp()
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

test("counts by tool, agent and ending, refused calls included", async () => {
  const system = await openTestApp()
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

test("two apps on one folder write at the same time, and each reads what both wrote", async () => {
  const one = await openTestApp()
  const two = await openTestApp({ data: { dir: one.dir } })
  const three = await openTestApp({ data: { dir: one.dir } }, { writes: "direct" })
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

test("the list is filtered by task, whether the call ran, was refused or is in another session", async () => {
  const app = await openTestApp()
  app.registry.register(tool({ execute: () => 1 }))
  const call = (name: string, taskId?: string) => app.call({ agentId: "operator", tool: name, input: {}, taskId })
  const ran = await call("probe", "t1")
  const refused = await call("no_such_tool", "t1")
  await call("probe", "t2")
  await call("probe")
  await app.settle()
  const listed = async (filter: Parameters<typeof app.audit.list>[0]) =>
    (await app.audit.list(filter)).map(({ callId }) => callId)
  expect(await listed({ taskId: "t1" })).toEqual([refused.callId, ran.callId])
  expect(await listed({ taskId: "t1", agentId: "operator", tool: "probe" })).toEqual([ran.callId])
  expect(await listed({ taskId: "t1", status: "unknown_tool" })).toEqual([refused.callId])
  expect(await listed({ taskId: "" })).toEqual([])
  expect((await app.audit.stats({ taskId: "t1" })).total).toBe(2)
  const exported = []
  for await (const { taskId } of app.audit.export({ taskId: "t2" })) exported.push(taskId)
  expect(exported).toEqual(["t2"])
  expect(await app.audit.verify()).toMatchObject({ ok: true })
})
