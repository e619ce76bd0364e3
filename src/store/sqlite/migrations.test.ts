import { expect, test } from "vitest"
import type { AuditEntry } from "../../core/audit-entry.ts"
import { openDatabase, type Database } from "./database.ts"
import { kyselyOver } from "./kysely.ts"
import { migrations } from "./migrations.ts"
import { currentVersion } from "./migrations-version.ts"
import { callEntries, withSecondConnection, writeEntries, openTestStore } from "../testing/test-store.ts"

const day = Date.UTC(2026, 0, 1)

test("an audit log of the first version gets roles and tasks from its lines and still verifies", async () => {
  const first = await openDatabase(":memory:")
  await migrations["001_core"]!.up(kyselyOver(first))
  const store = await openTestStore()
  const [start, end] = callEntries({ callId: "ran", at: day })
  const [, denied] = callEntries({ callId: "refused", at: day, code: "permission_denied", role: "a\0b" })
  const refused = { ...denied, taskId: "t1" }
  const withoutRole = { ...end, role: undefined } as AuditEntry
  await writeEntries(store, [
    start,
    withoutRole,
    refused,
    { kind: "note", callId: "x", at: day, text: '"kind":"end","role":1' },
  ])
  await store.audit.head()
  await store.close()
  await withSecondConnection(store.dir, (database) => backToFirst(database, first))

  const again = await openTestStore({ dataDir: store.dir })
  expect(again.database.prepare("pragma user_version").get()).toEqual({ user_version: currentVersion })
  expect(again.database.prepare("select call, role, task from ended order by place").all()).toEqual([
    { call: "ran", role: "", task: "" },
    { call: "refused", role: "a\\0b", task: "t1" },
  ])
  expect(await again.audit.verify()).toMatchObject({ ok: true, records: 4 })
})

/** Removes every table and column that the first version did not have. */
function backToFirst(database: Database, first: Database): void {
  const tables = (of: Database) =>
    namesIn(of, "select name from sqlite_schema where type = 'table' and name not like 'sqlite%'")
  const columns = (of: Database, table: string) => namesIn(of, `select name from pragma_table_info('${table}')`)
  const indexes = (of: Database) =>
    namesIn(of, "select name from sqlite_schema where type = 'index' and sql is not null")
  for (const index of indexes(database)) if (!indexes(first).includes(index)) database.exec(`drop index ${index}`)
  for (const table of tables(database)) {
    if (table.startsWith("kysely")) continue
    if (!tables(first).includes(table)) database.exec(`drop table ${table}`)
    else
      for (const column of columns(database, table))
        if (!columns(first, table).includes(column)) database.exec(`alter table ${table} drop column ${column}`)
  }
  database.exec("delete from kysely_migration where name <> '001_core'; pragma user_version = 1")
}

function namesIn(database: Database, sql: string): string[] {
  return (database.prepare(sql).all() as { name: string }[]).map((row) => row.name)
}

test("a preview of an older version, which is a text, is a preview of that text", async () => {
  const database = await openDatabase(":memory:")
  const db = kyselyOver(database)
  const names = Object.keys(migrations)
  const last = names.indexOf("008_previews_are_data")
  for (const name of names.slice(0, last)) await migrations[name]!.up(db)
  const columns = namesIn(database, "select name from pragma_table_info('calls') where \"notnull\" = 1")
  const insert = (id: string, preview: string | null) =>
    database
      .prepare(`insert into calls (${columns.join()}, preview) values (${columns.map(() => "?").join()}, ?)`)
      .run(...columns.map((name) => (name === "id" ? id : name === "input_digest" ? id : 0)), preview)
  insert("a", 'It says {"kind":"x"}\n')
  insert("b", null)
  await migrations["008_previews_are_data"]!.up(db)
  const [a, b] = database.prepare("select preview from calls order by id").all() as { preview: string }[]
  expect(JSON.parse(a!.preview)).toEqual({ kind: "text", text: 'It says {"kind":"x"}\n' })
  expect(b).toEqual({ preview: null })
})
