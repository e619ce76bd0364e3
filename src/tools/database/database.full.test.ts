import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import type { Config } from "../../config/schema.ts"
import { loadSqlite } from "../../lib/load-sqlite.ts"
import type { ChangeRequest, Databases } from "../../platform/database/database-access.ts"
import { isTicket } from "../../core/result.ts"
import type { AppOptions } from "../../app/app-options.ts"
import { findBubblewrap } from "../../testing/shell-app.ts"
import { openTestApp, temporaryFolder } from "../../testing/test-app.ts"
import { changeDatabase } from "./change-database.ts"

const { DatabaseSync } = await loadSqlite()
const password = "Sup3r-secret"

/** An app with two databases: one for all, and one of a server that is not there, for analysts. */
async function openShop(config: Config = {}, options: AppOptions = {}) {
  const file = join(temporaryFolder(), "shop.db")
  const shop = new DatabaseSync(file)
  shop.exec(`create table orders (id integer primary key, state text, total numeric, note text);
    insert into orders values (1, 'open', 12.5, null), (2, 'open', 99, 'a
long note that does not fit into one cell of the preview'), (3, 'paid', 7, '')`)
  shop.close()
  const app = await openTestApp(
    {
      databases: {
        shop: { url: `sqlite:${file}`, description: "Orders" },
        crm: { url: `postgres://carol:${password}@127.0.0.1:1/crm`, readOnly: true, roles: ["analyst"] },
      },
      org: {
        roles: [{ name: "analyst" }, { name: "intern" }],
        agents: [
          { id: "ana", role: "analyst" },
          { id: "ian", role: "intern" },
        ],
      },
      ...config,
    },
    options,
  )
  const call = (tool: string, input: unknown, agentId = "ian") => app.call({ agentId, tool, input })
  const rows = async () =>
    (
      (await call("query_database", { database: "shop", sql: "select id, state from orders" })).result as {
        rows: unknown
      }
    ).rows
  /** Makes a call that waits, and returns what an approver sees. */
  const ask = async (input: object) => {
    const ticket = await app.call(
      { agentId: "ian", tool: "change_database", input: { database: "shop", ...input } },
      { waitMs: 0 },
    )
    if (!isTicket(ticket)) throw new Error(`It did not wait: ${JSON.stringify(ticket)}`)
    return (await app.approvals.list()).find(({ callId }) => callId === ticket.callId)!
  }
  return { ...app, file, call, submit: app.call, rows, ask }
}

test("without a configured database there are no database tools", async () => {
  const { registry } = await openTestApp()
  expect([...registry.names()].filter((name) => name.includes("database"))).toEqual([])
})

test("databases are listed, described and read unasked, in pages", async () => {
  const { call } = await openShop()
  expect(await call("list_databases", {}, "ana")).toMatchObject({
    result: {
      databases: [
        { name: "shop", kind: "SQLite", readOnly: false, description: "Orders" },
        { name: "crm", kind: "PostgreSQL", readOnly: true },
      ],
    },
  })
  expect(await call("describe_database", { database: "shop" })).toMatchObject({
    result: { tables: [{ name: "orders", estimatedRows: 3, primaryKey: ["id"] }] },
  })
  const sql = "select id, total from orders where id > ? order by id"
  expect(await call("query_database", { database: "shop", sql, parameters: [1], limit: 1 })).toMatchObject({
    result: { columns: [{ name: "id", type: "integer" }, { name: "total", type: "numeric" }], rows: [[2, 99]], more: true, nextOffset: 1 },
  }) // prettier-ignore
  expect(await call("query_database", { database: "shop", sql, parameters: [1], offset: 1 })).toMatchObject({
    result: { rows: [[3, 7]], more: false },
  })
  expect(await call("query_database", { database: "shp", sql })).toMatchObject({
    metadata: { toolCode: "database_not_found" },
  })
})

test("a change waits with a preview of the rows that it is about, which runs nothing; approved, it is written", async () => {
  const { ask, rows, approvals, resume } = await openShop()
  const before = await rows()
  const sql = "update orders set state = ? where state = ? returning id"
  const item = await ask({ sql, parameters: ["sent", "open"] })
  expect(item.level).toBe("sensitive")
  expect(item.preview).toBe(`Database: shop

Its condition matches 2 rows of orders. They are now:

id | state | total | note
---+-------+-------+-----------------------------------------
1  | open  | 12.5  | null
2  | open  | 99    | a long note that does not fit into one …

Triggers and foreign keys may change more.

Parameters: "sent", "open"

Statement:

update orders set state = ? where state = ? returning id`)
  expect(await rows()).toEqual(before)
  await approvals.answer(item.callId, { kind: "approve" }, "ann")
  expect(await resume(item.callId)).toMatchObject({ result: { changedRows: 2, returned: { rows: [[1], [2]] } } })
  expect(await rows()).toEqual([[1, "sent"], [2, "sent"], [3, "paid"]]) // prettier-ignore
})

test("an approved change is given the number of rows that were shown", async () => {
  const requests: ChangeRequest[] = []
  const databases = {
    rolesOf: () => undefined,
    matchingRows: async () => ({ table: "orders", count: 1, first: { columns: [], rows: [], more: false }, isWholeTable: false }), // prettier-ignore
    change: async (_name: string, request: ChangeRequest) => {
      requests.push(request)
      return { changedRows: 1 }
    },
  }
  const app = await openTestApp({}, { approvals: callbackAdapter({ onExecution: () => true }) })
  app.registry.register(changeDatabase(databases as unknown as Databases))
  const input = { database: "shop", sql: "delete from orders where id = 1" }
  expect(await app.call({ agentId: "operator", tool: "change_database", input })).toMatchObject({ success: true })
  expect(requests).toMatchObject([{ shownRows: 1 }])
})

test("a change does not read the settings of its connection", async () => {
  const { call, rows } = await openShop({}, { approvals: callbackAdapter({ onExecution: () => true }) })
  const before = await rows()
  for (const name of ["pragma_query_only", '"pragma_query_only"', "PRAGMA_Query_Only"]) {
    const sql = `delete from orders where id = 1 or exists (select 1 from ${name} where query_only = 0)`
    expect(await call("change_database", { database: "shop", sql })).toMatchObject({ metadata: { toolCode: "statement_not_allowed" } }) // prettier-ignore
  }
  expect(await rows()).toEqual(before)
})

test("the preview counts, or says why it cannot", async () => {
  const { ask, rows } = await openShop()
  const sentences = [
    ["delete from orders", "It has no condition: it is about all rows of orders, 3 rows. They are now:"],
    ["delete from orders where id = 9", "Its condition matches 0 rows of orders.\n"],
    ["delete from orders where id = 3", "Its condition matches 1 row of orders. It is now:\n"],
    [
      "insert into orders (id) values (4)",
      "cannot be shown without running it: it is no plain UPDATE or DELETE of one table.",
    ],
    ["drop table orders", "cannot be shown without running it"],
    ["delete from orders where price = 1", "could not be read. The database refused the statement: no such column"],
    ["delete from orders where id in (select id from orders order by id limit 2)", "matches 2 rows"],
  ] as const
  for (const [sql, sentence] of sentences) expect((await ask({ sql })).preview).toContain(sentence)
  expect(await rows()).toHaveLength(3)
})

test("what the agent writes comes after our sentences, and hides nothing", async () => {
  const { ask, file } = await openShop()
  const other = new DatabaseSync(file)
  other.exec(`update orders set note = '\u202e hidden' where id = 1; alter table orders add column "a\n\nb" text`)
  other.close()
  const forged = "Its condition matches 0 rows of orders."
  const sql = `/* ${forged}\u200b${"\n".repeat(200)}*/ delete from main /* ${forged}\n\n */ . orders where id = 1\r`
  const { preview } = await ask({ sql })
  const [ours, theirs] = preview!.split("Statement:\n\n")
  expect(ours).toMatch(/^Database: shop\n\nIts condition matches 1 row of main\.orders\. It is now:\n\n/)
  expect(ours).toContain("| a b")
  expect(ours).toContain("\\u{202e} hidden")
  expect(ours).not.toContain(forged)
  expect(theirs).toContain(`/* ${forged}\\u{200b}\n`)
  expect(theirs).toMatch(/id = 1\\u\{d\}$/)
})

/** An app whose read-only database is in the workspace, for analysts only. */
async function openShopInWorkspace() {
  const workspace = temporaryFolder()
  const file = join(workspace, "shop.db")
  const shop = new DatabaseSync(file)
  shop.exec("create table secrets (id integer); insert into secrets values (1)")
  shop.close()
  const app = await openShop({
    workspace,
    databases: { shop: { url: `sqlite:${file}`, readOnly: true, roles: ["analyst"] } },
    rules: [{ allow: "*", because: "It is a test." }],
    tools: { shell: { mode: "sandbox" } },
  })
  return { ...app, workspace }
}

test("the file of a database in the workspace is used as a database only", async () => {
  const { call } = await openShopInWorkspace()
  const denied = { code: "permission_denied", error: expect.stringContaining("it is a database") as string }
  expect(await call("read_file", { path: "shop.db" })).toMatchObject(denied)
  expect(await call("run_command", { command: "cat shop.db" })).toMatchObject(denied)
  for (const path of ["shop.db", "shop.db-wal", "shop.db-shm", "shop.db-journal"])
    expect(await call("write_file", { path, content: "x" })).toMatchObject(denied)
  expect(await call("write_file", { path: "other.db", content: "x" })).toMatchObject({ success: true })
  expect(await call("query_database", { database: "shop", sql: "select * from secrets" }, "ana")).toMatchObject({
    result: { rows: [[1]] },
  })
})

test.skipIf("why" in findBubblewrap())("a command in the sandbox reaches neither it nor its journal", async () => {
  const { call, workspace } = await openShopInWorkspace()
  const command = 'touch other.db; for f in *.db; do cat "$f"; echo x > "$f-journal"; done; true'
  const seen = await call("run_command", { command })
  expect(seen).toMatchObject({ success: true })
  expect(JSON.stringify(seen.result)).not.toContain("secrets")
  expect(readdirSync(workspace).toSorted()).toEqual(["other.db", "other.db-journal", "shop.db"])
})

test("an approval is for the rows that were shown: when they change, it is asked again", async () => {
  const { ask, approvals, resume, rows, file } = await openShop()
  const item = await ask({ sql: "delete from orders where state = 'open'" })
  const other = new DatabaseSync(file)
  other.exec("update orders set state = 'open'")
  other.close()
  await approvals.answer(item.callId, { kind: "approve" }, "ann")
  void resume(item.callId).catch(() => {})
  await expect.poll(async () => (await approvals.list())[0]?.preview, { timeout: 30_000 }).toContain("matches 3 rows")
  expect(await rows()).toHaveLength(3)
})

test("a database with roles is for their agents: others neither see it nor wait for it", async () => {
  const { call, submit, why } = await openShop()
  expect(await call("list_databases", {})).toMatchObject({ result: { databases: [{ name: "shop" }] } })
  for (const tool of ["query_database", "change_database"]) {
    const ended = await submit({ agentId: "ian", tool, input: { database: "crm", sql: "select 1" } }, { waitMs: 0 })
    expect(ended).toMatchObject({ success: false, code: "permission_denied", error: expect.stringContaining("may not use the database crm") as string }) // prettier-ignore
  }
  expect(await why({ agentId: "ian", tool: "describe_database", input: { database: "crm" } })).toMatchObject({
    verdict: "deny",
    reasons: [{ code: "database_not_allowed" }],
  })
})

test("rules name databases", async () => {
  const rules = [
    { deny: "group:databases", touching: "database:s*", agent: "ian", because: "Interns do not read orders." },
    { allow: "change_database", touching: "database:shop", agent: "ana", because: "Ana looks after it." },
  ]
  const { call } = await openShop({ rules })
  expect(await call("query_database", { database: "shop", sql: "select 1" })).toMatchObject({
    code: "permission_denied",
  })
  const input = { database: "shop", sql: "delete from orders where id = 1" }
  expect(await call("change_database", input, "ana")).toMatchObject({ result: { changedRows: 1 } })
})

test("a read-only database refuses every change, also one that was approved", async () => {
  const { approvals, submit, resume } = await openShop()
  const ticket = await submit(
    { agentId: "ana", tool: "change_database", input: { database: "crm", sql: "delete from t" } },
    { waitMs: 0 },
  )
  if (!isTicket(ticket)) throw new Error("It did not wait.")
  expect((await approvals.list())[0]?.preview).toContain(
    "The database 'crm' is read-only here (databases.crm.readOnly).",
  )
  await approvals.answer(ticket.callId, { kind: "approve" }, "ann")
  expect(await resume(ticket.callId)).toMatchObject({ success: false, metadata: { toolCode: "read_only" } })
})

test("no address and no password reaches the model, the records or the environment of tools", async () => {
  const environment = { ...process.env, CRM_URL: `postgres://carol:${password}@127.0.0.1:1/crm`, OTHER: "fine" }
  const { call, audit, settle } = await openShop({}, { environment })
  const results = [
    await call("list_databases", {}, "ana"),
    await call("query_database", { database: "crm", sql: `select '${password}'` }, "ana"),
    await call("get_env", { key: "CRM_URL" }, "ana"),
    await call("json_parse", { text: JSON.stringify({ note: `it is ${password}` }) }, "ana"),
  ]
  expect(results[1]).toMatchObject({ success: false, metadata: { toolCode: "database_unreachable" } })
  expect(results[2]).toMatchObject({ result: { value: null } })
  expect(JSON.stringify(results.slice(0, 3))).not.toMatch(/Sup3r|carol|127\.0\.0\.1/)
  expect(await call("get_env", { key: "OTHER" })).toMatchObject({ result: { value: "fine" } })
  await settle()
  const entries = [...(await audit.showMany((await audit.list()).map(({ callId }) => callId))).values()]
  expect(entries.length).toBeGreaterThan(3)
  expect(JSON.stringify(entries)).not.toContain("Sup3r")
})
