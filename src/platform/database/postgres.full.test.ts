import { createServer } from "node:net"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import type { ToolFailure } from "../../core/ending.ts"
import { until } from "../../testing/test-app.ts"
import { databaseContract } from "./database.contract.ts"
import { postgresDatabase } from "./postgres.ts"
import { postgresFolder, startPostgres, type TestServer } from "./testing.ts"

const signal = new AbortController().signal
const codeOf = (error: ToolFailure) => error.toolCode

describe.skipIf(postgresFolder === undefined)("a real PostgreSQL server", () => {
  let server: TestServer
  let count = 0
  beforeAll(async () => void (server = await startPostgres()))
  afterAll(() => server.stop())

  const sleeping = async () => {
    const [row] = await server.run("select count(*) from pg_stat_activity where wait_event = 'PgSleep'")
    return Number(row?.[0])
  }

  async function openPostgres() {
    const name = `test${++count}`
    await server.run(`create database ${name} owner agent`)
    const url = server.url("agent", name)
    const run = async (script: string) => void (await server.run(`set role agent; ${script}`, name))
    await run(`create sequence numbers;
      create function remove_all() returns int language plpgsql as $$ begin delete from orders; return 1; end $$`)
    const database = postgresDatabase({ name: "crm", url, timeoutMs: 30_000 })
    const query = (sql: string, parameters: unknown[] = [], stop = signal) =>
      database.query({ sql, parameters, limit: 100, offset: 0, signal: stop })
    return {
      name,
      database,
      query,
      run,
      endless: "select pg_sleep(600)",
      endlessChange: "update orders set state = 'x' where pg_sleep(case id when 3 then 600 else 0 end) is not null",
      isChanging: async () => (await sleeping()) > 0,
      placeholder: (number: number) => `$${number}`,
      dangerous: [
        "copy orders to program 'cat'",
        "copy orders from '/etc/passwd'",
        "select pg_read_file('/etc/passwd')",
        "insert into orders (id) select length(pg_read_file('/etc/passwd'))",
        "select query_to_xml('select pg_read_file(''/etc/passwd'')', true, true, '')",
        "select lo_import('/etc/passwd')",
        "select pg_ls_dir('/')",
        "do $$ begin delete from orders; end $$",
        "set transaction read write",
        "set role postgres",
        "reset all",
        "/* /* */ select 1 */ do $$ begin end $$",
        "--\rdo $$ begin delete from orders; end $$ /*\n select 1 -- */",
        "--\rcopy orders to program 'cat' /*\n delete from orders where id = 9 -- */",
        "--\rgrant all on orders to public /*\n delete from orders where id = 9 -- */",
      ],
    }
  }

  databaseContract("PostgreSQL", openPostgres)

  test("every type has its JSON value", async () => {
    const { query } = await openPostgres()
    const values = [
      ["9007199254740993::bigint", "bigint", "9007199254740993"],
      ["7::bigint", "bigint", 7],
      ["12.50::numeric(10,2)", "numeric(10,2)", "12.50"],
      ["0.1::float8", "double precision", 0.1],
      ["'NaN'::float8", "double precision", "NaN"],
      ["true", "boolean", true],
      ["'\\x00ff'::bytea", "bytea", "AP8="],
      ["'{\"a\":[1,null]}'::jsonb", "jsonb", { a: [1, null] }],
      ["'{\"a\":12345678901234567890}'::json", "json", '{"a":12345678901234567890}'],
      ["'null'::json", "json", null],
      ["timestamptz '2026-01-02 03:04:05.678901+02'", "timestamp with time zone", "2026-01-02T01:04:05.678901Z"],
      ["timestamp '2026-01-02 03:04:05'", "timestamp without time zone", "2026-01-02T03:04:05"],
      ["date '2026-01-02'", "date", "2026-01-02"],
      ["'infinity'::timestamptz", "timestamp with time zone", "infinity"],
      ["interval '1 day 2 hours'", "interval", "P1DT2H"],
      ["array[1, null, 3]", "integer[]", [1, null, 3]],
      [
        "array[['a', 'b,\"\\'], ['NULL', null]]",
        "text[]",
        [
          ["a", 'b,"\\'],
          ["NULL", null],
        ],
      ],
      ["'{}'::int[]", "integer[]", []],
      ["array[12.50, 1]::numeric[]", "numeric[]", ["12.50", "1"]],
      ["'1e20'::numeric", "numeric", "100000000000000000000"],
      ["gen_random_uuid() is null", "boolean", false],
      ["null::int", "integer", null],
      ["''::text", "text", ""],
    ] as const
    const { columns, rows } = await query(`select ${values.map(([sql], at) => `${sql} as c${at}`).join(", ")}`)
    expect(columns.map(({ type }, at) => [values[at]![0], type])).toEqual(values.map(([sql, type]) => [sql, type]))
    expect(rows[0]!.map((value, at) => [values[at]![0], value])).toEqual(values.map(([sql, , value]) => [sql, value]))
  })

  test("parameters of every kind arrive as they are", async () => {
    const { query } = await openPostgres()
    const sql = "select $1::int, $2::numeric, $3::bool, $4::text, $5::int[], $6::jsonb, $7::text"
    const { rows } = await query(sql, [1, "12345678901234567890.5", true, null, [1, 2], { a: [1] }, "x"])
    expect(rows).toEqual([[1, "12345678901234567890.5", true, null, [1, 2], { a: [1] }, "x"]])
  })

  test("EXPLAIN and SHOW read too, and settings of a statement do not outlive it", async () => {
    const { query } = await openPostgres()
    expect((await query("explain select 1")).rows.flat().join()).toContain("Result")
    expect(await query("show transaction_read_only")).toMatchObject({ rows: [["on"]] })
    await query("select set_config('search_path', 'pg_catalog', false)")
    expect((await query("show search_path")).rows).not.toEqual([["pg_catalog"]])
  })

  test("a stopped query is cancelled at the server", async () => {
    const { query, endless, database } = await openPostgres()
    const stop = new AbortController()
    const failed = query(endless, [], stop.signal).catch(codeOf)
    await until(async () => (await sleeping()) === 1, "the statement runs at the server")
    stop.abort()
    await database.close()
    expect(await sleeping()).toBe(0)
    expect(await failed).toBe("statement_stopped")
  })

  test("the server ends a statement by itself after the time limit", async () => {
    const { name } = await openPostgres()
    const impatient = postgresDatabase({ name: "crm", url: server.url("agent", name), timeoutMs: 50, graceMs: 50 })
    const failed = impatient.query({ sql: "select pg_sleep(600)", parameters: [], limit: 1, offset: 0, signal })
    expect(await failed.catch(codeOf)).toBe("statement_stopped")
  })

  test("a lock that is held is reported as locked, and can be tried again", async () => {
    const { name, run, query } = await openPostgres()
    await run("create table t (a int)")
    const holder = postgresDatabase({ name: "crm", url: server.url("agent", name), timeoutMs: 30_000 })
    const stop = new AbortController()
    const held = holder.change({ sql: "with x as (insert into t values (1)) select pg_sleep(600)", parameters: [], signal: stop.signal }).catch(codeOf) // prettier-ignore
    const locks = "select count(*) from pg_locks l join pg_class c on c.oid = l.relation where c.relname = 't'"
    await until(async () => (await server.run(locks, name))[0]?.[0] !== "0", "the lock is held")
    const hasty = postgresDatabase({ name: "crm", url: server.url("agent", name), timeoutMs: 100 })
    await expect(hasty.change({ sql: "alter table t add column b int", parameters: [], signal })).rejects.toMatchObject(
      { toolCode: "database_locked", transient: true },
    )
    stop.abort()
    expect(await held).toBe("statement_stopped")
    expect(await query("select * from t")).toMatchObject({ rows: [] })
  })

  test.each([
    ["a superuser", "superuser", ""],
    ["one who may read files of the server", "nosuperuser", "grant pg_read_server_files to privileged"],
    ["one who may run programs there", "nosuperuser", "grant pg_execute_server_program to privileged"],
  ])("%s is refused", async (_, attribute, grant) => {
    await server.run(`drop role if exists privileged; create role privileged login ${attribute}; ${grant}`)
    const url = server.url("agent", "postgres").replace("agent", "privileged")
    const privileged = postgresDatabase({ name: "crm", url, timeoutMs: 30_000 })
    const failed = privileged.query({ sql: "select 1", parameters: [], limit: 1, offset: 0, signal })
    expect(await failed.catch(codeOf)).toBe("user_has_server_rights")
  })

  test("a user who may open connections from the server with dblink is refused", async ({ skip }) => {
    const { name, query } = await openPostgres()
    const [found] = await server.run("select from pg_available_extensions where name = 'dblink'")
    if (found === undefined) skip()
    await server.run("create extension dblink", name)
    expect(await query("select 1").catch(codeOf)).toBe("user_has_server_rights")
    await server.run("revoke execute on all functions in schema public from public", name)
    expect(await query("select 1")).toMatchObject({ rows: [[1]] })
  })

  test("an answer that is too large ends the statement, before it fills the memory", async () => {
    const { query, run, database } = await openPostgres()
    const expected = { toolCode: "row_too_large", message: expect.stringContaining("more than 32 MB") as string }
    await expect(query("select repeat('x', 60000000)")).rejects.toMatchObject(expected)
    await expect(query("select cast(repeat('x', 60000000) as int)")).rejects.toMatchObject(expected)
    await run("create table t (a int)")
    const sql = "insert into t select i from generate_series(1, 60) i returning repeat('x', 1000000)"
    await expect(database.change({ sql, parameters: [], signal })).rejects.toMatchObject(expected)
    expect(await query("select count(*) from t")).toMatchObject({ rows: [[0]] })
  })

  test("large rows come in pages, and rows that are not kept do not count", async () => {
    const { query, run, database } = await openPostgres()
    const { rows, more } = await query("select i, repeat('x', 400000) from generate_series(1, 200) i")
    expect(rows.map(([id]) => id)).toEqual([1, 2, 3, 4])
    expect(more).toBe(true)
    await run("create table t (a int)")
    const sql = "insert into t select i from generate_series(1, 1000) i returning a, repeat('x', 40000)"
    expect(await database.change({ sql, parameters: [], signal })).toMatchObject({
      changedRows: 1000,
      returned: { more: true },
    })
  })

  test("at most eight connections are open at once, and all calls get their answers", async () => {
    const { query } = await openPostgres()
    const active = "select count(*) from pg_stat_activity where datname = current_database() and state = 'active'"
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        query(`select (${active}) from pg_sleep(0.3)`, [], new AbortController().signal),
      ),
    )
    const counts = answers.map(({ rows }) => Number(rows[0]?.[0]))
    expect(counts).toHaveLength(12)
    expect(Math.max(...counts)).toBeLessThanOrEqual(8)
  })

  test("a server that dies during a statement is reported, and used again when it answers", async () => {
    const { query, endless } = await openPostgres()
    const failed = query(endless).catch((error: ToolFailure) => error)
    const kill = `select count(pg_terminate_backend(pid)) from pg_stat_activity where wait_event = 'PgSleep'` // prettier-ignore
    await until(async () => (await server.run(kill))[0]?.[0] === "1", "the connection was ended")
    expect(await failed).toMatchObject({ toolCode: "database_unreachable", transient: true })
    expect(await query("select 1")).toMatchObject({ rows: [[1]] })
  })

  test("no failure repeats the address, the user or the password", async () => {
    await server.run("drop database if exists nowhere")
    const silent = createServer(() => {}).listen(0, "127.0.0.1")
    onTestFinished(() => void silent.close())
    await new Promise((resolve) => silent.once("listening", resolve))
    const { port } = silent.address() as { port: number }
    const dead = [
      server.url("agent", "nowhere"),
      server.url("agent", "postgres").replace("agent", "nobody4711"),
      "postgres://carol:Hidden%20123@127.0.0.1:1/crm",
      "postgres://carol:Hidden%20123@/crm?host=/nowhere",
      `postgres://carol:Hidden%20123@127.0.0.1:${port}/crm`,
    ]
    for (const url of dead) {
      const database = postgresDatabase({ name: "crm", url, timeoutMs: 30_000, connectMs: 300 })
      const failed = database.query({ sql: "select 1", parameters: [], limit: 1, offset: 0, signal })
      const { toolCode, message } = await failed.then(() => ({}), (error: ToolFailure) => error) as ToolFailure // prettier-ignore
      expect([url, toolCode]).toEqual([url, "database_unreachable"])
      expect(message).not.toMatch(/nowhere|nobody|carol|Hidden|secret|127\.0|postgres:|agent/)
    }
  })
})
