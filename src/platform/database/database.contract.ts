import { describe, expect, test } from "vitest"
import type { ToolFailure } from "../../core/ending.ts"
import type { Database, QueryRequest } from "./database-access.ts"
import { until } from "../../testing/test-app.ts"

/** A database to test, and a way to run a script on it that is not the tested one. */
export interface TestDatabase {
  readonly database: Database
  /** Runs statements that are ours, on another connection. */
  run(script: string): Promise<void>
  /** A statement that runs for minutes. */
  readonly endless: string
  /** A change of orders that runs for minutes. */
  readonly endlessChange: string
  /** Reports whether the endless change has written something. */
  isChanging(): Promise<boolean>
  /** Returns a placeholder in the form of this database. */
  placeholder(number: number): string
  /** Statements that must be refused both in queries and in changes. */
  readonly dangerous: readonly string[]
}

const tables = `
  create table customers (id integer primary key, name varchar(40) not null unique);
  create table orders (id integer primary key, customer integer references customers (id), state varchar(10) default 'open', total numeric(10, 2));
  insert into customers values (1, 'Ann'), (2, 'Bo');
  insert into orders values (1, 1, 'open', 12.50), (2, 1, 'open', 99), (3, 2, 'paid', 7)`

/** The contract of every kind of database. `open` gives an empty one. */
export function databaseContract(name: string, open: () => Promise<TestDatabase>): void {
  const withTables = async () => {
    const opened = await open()
    await opened.run(tables)
    const { database, placeholder } = opened
    const query = (sql: string, parameters: unknown[] = [], more: Partial<QueryRequest> = {}) =>
      database.query({ sql, parameters, limit: 100, offset: 0, signal: new AbortController().signal, ...more })
    const change = (sql: string, parameters: unknown[] = [], signal = new AbortController().signal) =>
      database.change({ sql, parameters, signal })
    const ids = async () => (await query("select id from orders order by id")).rows.flat()
    return { ...opened, placeholder, query, change, ids }
  }
  const codeOf = (error: ToolFailure) => error.toolCode

  describe(name, () => {
    test("rows come with the names and types of their columns, in pages", async () => {
      const { query } = await withTables()
      const page = await query("select id, state from orders order by id", [], { limit: 2 })
      expect(page.columns.map((column) => column.name)).toEqual(["id", "state"])
      expect(page.columns[0]?.type).toBe("integer")
      expect(page).toMatchObject({ rows: [[1, "open"], [2, "open"]], more: true }) // prettier-ignore
      const last = await query("select id, state from orders order by id;", [], { limit: 2, offset: 2 })
      expect(last).toMatchObject({ rows: [[3, "paid"]], more: false })
      expect(await query("select id, 1 as id from orders where id = 4")).toMatchObject({ rows: [], more: false })
    })

    test("of a million rows only those asked for are read", async () => {
      const { query } = await withTables()
      const million =
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000) select i from n"
      expect(await query(million, [], { limit: 3 })).toMatchObject({ rows: [[1], [2], [3]], more: true })
      expect(await query(million, [], { limit: 1, offset: 5000 })).toMatchObject({ rows: [[5001]], more: true })
    })

    test("tables are described with columns, keys and estimates", async () => {
      const { database, run } = await withTables()
      await run("create view cheap as select id from orders where total < 10; analyze")
      const signal = new AbortController().signal
      const { tables: found, more } = await database.describe({ limit: 50, offset: 0, signal })
      expect(found.map((table) => [table.name, table.kind, table.estimatedRows])).toEqual([
        ["cheap", "view", null],
        ["customers", "table", 2],
        ["orders", "table", 3],
      ])
      expect(more).toBe(false)
      expect(found[1]).toMatchObject({ primaryKey: ["id"], unique: [["name"]], foreignKeys: [] })
      const [orders] = (await database.describe({ table: "orders", limit: 1, offset: 0, signal })).tables
      expect(orders).toMatchObject({
        columns: [{ name: "id", type: "integer" }, { name: "customer", nullable: true }, { name: "state" }, { name: "total", type: /numeric\(10, ?2\)/ }].map((column) => ({ ...column, ...(column.type instanceof RegExp ? { type: expect.stringMatching(column.type) as string } : {}) })), // prettier-ignore
        foreignKeys: [{ columns: ["customer"], table: "customers", references: ["id"] }],
      })
      expect(await database.describe({ limit: 2, offset: 0, signal })).toMatchObject({ more: true })
    })

    test("a parameter is a value, whatever is in it", async () => {
      const { query, change, ids, placeholder } = await withTables()
      for (const value of ["'; drop table orders; --", "x' or '1' = '1", 'a" -- \\', "1 or 1=1", "\\'; commit; --"]) {
        expect(await query(`select ${cast(name, placeholder(1))} as value`, [value])).toMatchObject({ rows: [[value]] })
        expect(await query(`select id from orders where state = ${placeholder(1)}`, [value])).toMatchObject({
          rows: [],
        })
        expect(await change(`update orders set state = state where state = ${placeholder(1)}`, [value])).toMatchObject({
          changedRows: 0,
        })
      }
      expect(await ids()).toEqual([1, 2, 3])
    })

    test.each([
      ["too few", []],
      ["too many", [1, 2]],
    ])("%s parameters are refused, not taken as null", async (_, parameters) => {
      const { change, ids, placeholder } = await withTables()
      const failed = change(`delete from orders where id = ${placeholder(1)}`, parameters).catch(codeOf)
      expect(await failed).toBe("bad_parameters")
      expect(await ids()).toEqual([1, 2, 3])
    })

    test("a change is written whole or not at all, and counts its rows", async () => {
      const { query, change, ids, placeholder } = await withTables()
      const paid = `update orders set state = ${placeholder(1)} where id < ${placeholder(2)}`
      expect(await change(paid, ["paid", 3])).toEqual({ changedRows: 2 })
      expect(await query("select count(*) from orders where state = 'paid'")).toMatchObject({ rows: [[3]] })
      expect(await change("delete from orders where id = 3 returning id, state")).toMatchObject({
        changedRows: 1,
        returned: { rows: [[3, "paid"]], more: false },
      })
      const twice = change("insert into orders (id) values (4), (5), (1)").catch(codeOf)
      expect(await twice).toBe("sql_error")
      expect(await ids()).toEqual([1, 2])
    })

    test("a query cannot write: the database refuses it", async () => {
      const { query, ids } = await withTables()
      for (const sql of writingQueries(name)) {
        const error = await query(sql).then(() => undefined, (one: ToolFailure) => one) // prettier-ignore
        expect([sql, error?.toolCode]).toEqual([
          sql,
          expect.stringMatching(name === "SQLite" ? /^read_only$/ : /^(read_only|sql_error)$/),
        ])
      }
      expect(await ids()).toEqual([1, 2, 3])
    })

    test("several statements, and statements that reach further, are refused", async () => {
      const { query, change, ids, dangerous } = await withTables()
      for (const sql of [
        "select 1; delete from orders",
        "delete from orders; select 1",
        "select 1; -- x\n; select 2",
      ]) {
        expect([sql, await query(sql).catch(codeOf)]).toEqual([sql, "several_statements"])
        expect([sql, await change(sql).catch(codeOf)]).toEqual([sql, "several_statements"])
      }
      for (const sql of ["", "--", "commit", "begin", "/* select */ rollback", "\0select 1", ...dangerous]) {
        for (const run of [query, change]) {
          const error = await run(sql).then(() => undefined, (one: ToolFailure) => one) // prettier-ignore
          expect([sql, error?.toolCode]).toEqual([sql, expect.stringMatching(/_not_allowed|bad_sql|not_permitted|sql_error|read_only/)]) // prettier-ignore
        }
      }
      expect(await ids()).toEqual([1, 2, 3])
    })

    test("a change of more rows than were shown is rolled back; of as many or fewer it is written", async () => {
      const { database, ids } = await withTables()
      const signal = new AbortController().signal
      const remove = (sql: string, shownRows: number) => database.change({ sql, parameters: [], shownRows, signal })
      expect(await remove("delete from orders where id > 1", 1).catch(codeOf)).toBe("more_rows")
      expect(await ids()).toEqual([1, 2, 3])
      expect(await remove("delete from orders where id > 1", 2)).toMatchObject({ changedRows: 2 })
      expect(await remove("delete from orders where id > 1", 1)).toMatchObject({ changedRows: 0 })
    })

    test("a change does not read the settings of its connection", async () => {
      const { change, ids } = await withTables()
      const settings = ["pragma_query_only", '"PRAGMA_query_only"', "current_setting('transaction_read_only')", "pg_settings"] // prettier-ignore
      for (const setting of settings) {
        const sql = `delete from orders where id = 1 or exists (select 1 from ${setting})`
        expect([sql, await change(sql).catch(codeOf)]).toEqual([sql, expect.stringMatching(/statement_not_allowed|sql_error/)]) // prettier-ignore
      }
      expect(await ids()).toEqual([1, 2, 3])
    })

    test("a change that is stopped leaves nothing, and queries run after it", async () => {
      const { change, ids, endlessChange, isChanging } = await withTables()
      const stop = new AbortController()
      const failed = change(endlessChange, [], stop.signal).catch(codeOf)
      await until(isChanging, "the change has written something")
      stop.abort()
      expect(await failed).toBe("statement_stopped")
      expect(await ids()).toEqual([1, 2, 3])
      expect(await change("delete from orders where id = 3")).toEqual({ changedRows: 1 })
    })

    test("a statement that is stopped ends, and the next one runs", async () => {
      const { query, ids, endless } = await withTables()
      const stop = new AbortController()
      const failed = query(endless, [], { signal: stop.signal }).catch(codeOf)
      setTimeout(() => stop.abort(), 200)
      expect(await failed).toBe("statement_stopped")
      expect(await ids()).toEqual([1, 2, 3])
      expect(await query("select 1", [], { signal: stop.signal }).catch(codeOf)).toBe("statement_stopped")
    })
  })
}

const cast = (name: string, placeholder: string) => (name === "PostgreSQL" ? `${placeholder}::text` : placeholder)

function writingQueries(name: string): string[] {
  const writes = ["explain analyze delete from orders", "with x as (select 1) delete from orders"]
  return name === "PostgreSQL"
    ? [
        ...writes,
        "with gone as (delete from orders returning id) select id from gone",
        "select nextval('numbers')",
        "select remove_all()",
        "select id from orders for update",
        "select * into copied from orders",
        "select set_config('transaction_read_only', 'off', false), remove_all()",
      ]
    : [writes[1]!, "with x as (select 1) update orders set state = 'x'"]
}
