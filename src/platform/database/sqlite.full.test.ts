import { copyFileSync, linkSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { loadSqlite } from "../../lib/load-sqlite.ts"
import type { ToolFailure } from "../../core/ending.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { databaseContract, type TestDatabase } from "./database.contract.ts"
import { sqliteDatabase } from "./sqlite.ts"
import { SqliteProcesses } from "./sqlite-processes.ts"

const { DatabaseSync } = await loadSqlite()
const processes = new SqliteProcesses()
afterAll(() => processes.close())

async function openSqlite(options: { lockMs?: number } = {}) {
  const folder = temporaryFolder()
  const path = join(folder, "shop.db")
  const dataFolder = join(folder, "data")
  mkdirSync(dataFolder)
  const workspace = join(folder, "workspace")
  mkdirSync(workspace)
  const run = async (script: string) => {
    const other = new DatabaseSync(path)
    other.exec(script)
    other.close()
  }
  await run("vacuum")
  const open = (given: string) =>
    sqliteDatabase({ name: "shop", path: given, dataFolder, workspace, processes, ...options })
  const other = join(folder, "other.db")
  copyFileSync(path, other)
  const opened: TestDatabase = {
    database: open(path),
    run,
    endlessChange:
      "insert into orders (id, state) with recursive n (i) as (select 10 union all select i + 1 from n) select i, 'x' from n",
    isChanging: async () => statSync(path).size > 5_000_000,
    endless: "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n",
    placeholder: () => "?",
    dangerous: [
      `attach '${other}' as other`,
      `/* x */ ATTACH database '${other}' as other`,
      "select load_extension('x')",
      "insert into orders (id) values (load_extension('x'))",
      `vacuum into '${join(folder, "copy.db")}'`,
      "pragma query_only = off",
      "pragma writable_schema = on",
      "savepoint x",
    ],
  }
  const query = (sql: string, parameters: unknown[] = [], database = opened.database) =>
    database.query({ sql, parameters, limit: 100, offset: 0, signal: AbortSignal.timeout(60_000) })
  return { ...opened, folder, dataFolder, workspace, path, open, query }
}

const codeOf = (error: ToolFailure) => error.toolCode

databaseContract("SQLite", openSqlite)

test("every type of SQLite has its JSON value", async () => {
  const { run, query } = await openSqlite()
  await run(`create table t (a integer, b real, c text, d blob, e json, f numeric, g);
    insert into t values (9007199254740993, 1.5, 'ü', x'00ff', '{"x":[1]}', 12.5, null), (7, 9e999, '', x'', 'no json', 'text', 1)`)
  const { columns, rows } = await query("select * from t order by a desc")
  expect(columns.map(({ type }) => type)).toEqual(["integer", "real", "text", "blob", "json", "numeric", ""])
  expect(rows).toEqual([
    ["9007199254740993", 1.5, "ü", "AP8=", { x: [1] }, 12.5, null],
    [7, "Infinity", "", "", "no json", "text", 1],
  ])
})

test.each(["?", "?1"])("the placeholder %s takes values of every kind", async (mark) => {
  const { query } = await openSqlite()
  const list = [1, 1.5, true, null, "x", [1], { a: 1 }]
  const marks = list.map((_, index) => (mark === "?" ? "?" : `${mark[0]}${index + 1}`))
  const { rows } = await query(`select ${marks.join(", ")}`, list)
  expect(rows).toEqual([[1, 1.5, 1, null, "x", "[1]", '{"a":1}']])
  expect(await query("select typeof(?)", [1])).toMatchObject({ rows: [["integer"]] })
  expect(await query("select :name", ["x"]).catch(codeOf)).toBe("bad_parameters")
  expect(await query("select ?, ?1", ["x"]).catch(codeOf)).toBe("bad_parameters")
})

test("a locked database is reported as locked, and can be tried again", async () => {
  const { run, path, query, database } = await openSqlite({ lockMs: 50 })
  await run("create table t (a)")
  const other = new DatabaseSync(path)
  other.exec("begin exclusive")
  const change = { sql: "insert into t values (1)", parameters: [], signal: AbortSignal.timeout(60_000) }
  const expected = { toolCode: "database_locked", transient: true }
  await expect(query("select * from t")).rejects.toMatchObject(expected)
  await expect(database.change(change)).rejects.toMatchObject(expected)
  other.close()
  expect(await database.change(change)).toEqual({ changedRows: 1 })
})

test("our own store is not opened: in its folder, by a link, a link to the folder, or a second name", async () => {
  const { folder, dataFolder, path, open, query } = await openSqlite()
  const own = join(dataFolder, "quartermaster.db")
  copyFileSync(path, own)
  symlinkSync(own, join(folder, "link.db"))
  symlinkSync(dataFolder, join(folder, "linked"))
  linkSync(own, join(folder, "second.db"))
  const spellings = [own, join(dataFolder, "..", "data", "quartermaster.db"), `${dataFolder}/./quartermaster.db`]
  const links = ["link.db", "linked/quartermaster.db", "second.db"].map((name) => join(folder, name))
  for (const written of [...spellings, ...links])
    expect([written, await query("select 1", [], open(written)).catch(codeOf)]).toEqual([written, "own_data"])
  expect(await query("select 1", [], open(path))).toMatchObject({ rows: [[1]] })
})

test("a link in the workspace does not lead out of it: an agent could have made it", async () => {
  const { workspace, path, open, query } = await openSqlite()
  const inside = join(workspace, "shop.db")
  copyFileSync(path, inside)
  symlinkSync(path, join(workspace, "out.db"))
  symlinkSync(inside, join(workspace, "in.db"))
  expect(await query("select 1", [], open(join(workspace, "out.db"))).catch(codeOf)).toBe("path_outside_workspace")
  for (const file of [inside, join(workspace, "in.db"), path])
    expect(await query("select 1", [], open(file))).toMatchObject({ rows: [[1]] })
})

test("a file that was put in the place of the checked one is not used", async () => {
  const { folder, path } = await openSqlite()
  const { dev, ino } = statSync(path)
  const other = join(folder, "other.db")
  const job = { kind: "query", sql: "select 1", values: [], limit: 1, offset: 0, lockMs: 50 } as const
  const answer = (file: string) =>
    processes.run({ ...job, file: { path: file, dev, ino } }, AbortSignal.timeout(60_000))
  expect(await answer(path)).toMatchObject({ result: { rows: [[1]] } })
  expect(await answer(other)).toMatchObject({ errcode: 14 })
})

test("a file that is not there is not made, and one that is no database is refused", async () => {
  const { folder, open, query } = await openSqlite()
  const text = join(folder, "text.db")
  writeFileSync(text, "This is a text and not a database.".repeat(50))
  const missing = open(join(folder, "missing.db"))
  const create = { sql: "create table t (a)", parameters: [], signal: AbortSignal.timeout(60_000) }
  expect(await missing.change(create).catch(codeOf)).toBe("database_not_found")
  expect(await query("select 1", [], open(text)).catch(codeOf)).toBe("database_unreachable")
})

test("a statement that needs too much memory or gives too large a row fails, and the next one runs", async () => {
  const { query } = await openSqlite()
  // Endless, so that only the limit ends it.
  const large = `with recursive n (i) as (select 1 union all select i + 1 from n)
    select count(*) from n where length(hex(zeroblob(400000000 + i))) = 0`
  expect(await query(large).catch(codeOf)).toBe("database_failed")
  expect(await query("select zeroblob(3000000)").catch(codeOf)).toBe("row_too_large")
  expect(await query("select 1")).toMatchObject({ rows: [[1]] })
})

test("more statements at once than processes all get their answers", async () => {
  const { query } = await openSqlite()
  const answers = await Promise.all(Array.from({ length: 9 }, (_, index) => query("select ?", [index])))
  expect(answers.map(({ rows }) => rows[0]?.[0])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
})
