import { expect, test } from "vitest"
import type { DatabaseKind } from "./database-access.ts"
import type { ToolFailure } from "../../core/ending.ts"
import { affectedRows } from "./affected-rows.ts"
import { checkStatement } from "./check-statement.ts"
import { readTokens } from "./tokens.ts"

const codeOf = (sql: string, kind: DatabaseKind, use: "query" | "change", parameters: unknown[] = []) => {
  try {
    checkStatement({ sql, parameters }, kind, use)
    return "ok"
  } catch (error) {
    return (error as ToolFailure).toolCode
  }
}

test.each([
  ["select 1", "ok"],
  ["  -- a comment\n/* and another */ SELECT 1;; -- end", "ok"],
  ["select ';', \";\", `;`, [;] -- ;", "ok"],
  ["select 'it''s; fine' /* ; */", "ok"],
  ["select 1 /* never ends ; delete from t", "ok"],
  ["select 1; select 2", "several_statements"],
  ["select 'a\\'; delete from t; --'", "several_statements"],
  ["insert into t values (1)", "read_only"],
  ["attach 'x' as x", "statement_not_allowed"],
  ["/**/attach/**/'x' as x", "statement_not_allowed"],
  ['"select" 1', "statement_not_allowed"],
  ["; ;", "bad_sql"],
  ["explain query plan select 1", "ok"],
  ["explain pragma query_only = off", "statement_not_allowed"],
  ["explain delete from t", "statement_not_allowed"],
  ["select file from pragma_database_list", "statement_not_allowed"],
  ["select file from [Pragma_Database_List]", "statement_not_allowed"],
  ["select $1", "bad_parameters"],
  ["select :name", "bad_parameters"],
  ["select #a(]--)", "bad_parameters"],
  ["-- not the end\r; select 2\nselect 1", "ok"],
])("SQLite: %j as a query is %s", (sql, code) => {
  expect(codeOf(sql, "SQLite", "query")).toBe(code)
})

test.each([
  ["select $$;$$, $a$ ; $$ ; $a$, E'\\'; x', e'a\\\\'", "ok"],
  ["/* /* ; */ ; */ select 1", "ok"],
  ["/* /* */ select 1 */ do $$ begin end $$", "statement_not_allowed"],
  ["select E'\\'; delete from t", "ok"],
  ["select '\\'; delete from t", "several_statements"],
  ["copy t to program 'x'", "statement_not_allowed"],
  ["--\rcommit /*\n show x -- */", "statement_not_allowed"],
  ["set role x", "statement_not_allowed"],
  ["update t set a = 1", "read_only"],
])("PostgreSQL: %j as a query is %s", (sql, code) => {
  expect(codeOf(sql, "PostgreSQL", "query")).toBe(code)
})

test("a refusal says what to do", () => {
  const sentence = (sql: string, use: "query" | "change") => {
    try {
      return checkStatement({ sql, parameters: [] }, "SQLite", use)
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(sentence("delete from t", "query")).toBe("DELETE writes, and this tool only reads. Use change_database.")
  expect(sentence("select 1", "change")).toBe("SELECT only reads. Use query_database.")
  expect(sentence("pragma x", "query")).toBe(
    "A statement that begins with PRAGMA is not allowed here. Begin with one of: SELECT, WITH, VALUES, EXPLAIN.",
  )
  expect(sentence("select ?", "query")).toBe(
    "The SQL has placeholders for 1 value, and 'parameters' has 0. Give a value for each placeholder, and no others.",
  )
})

const affected = (sql: string, kind: DatabaseKind, parameters: unknown[] = []) =>
  affectedRows({ sql, parameters }, readTokens(sql, kind), kind)

test.each<[DatabaseKind, string, unknown[], ReturnType<typeof affected>]>([
  ["SQLite", "delete from orders", [], { table: "orders", from: "orders" }],
  ["SQLite", "update orders set a = ?, b = ? where c = ? or d = ? returning ?", [1, 2, 3, 4, 5], { table: "orders", from: "orders", condition: { sql: "c = ? or d = ?", parameters: [3, 4] } }],
  ["SQLite", "UPDATE main.[my orders] AS o SET a = (select b from t where 1) WHERE o.a = ?3 -- x", [1, 2, 3], { table: "main.[my orders]", from: "main.[my orders] AS o", condition: { sql: "o.a = ?1", parameters: [3] } }],
  ["PostgreSQL", "update only a.\"B\" x set c = $1 where x.where is distinct from $3 and $3 > $2", [1, 2, 3], { table: 'a."B"', from: 'only a."B" x', condition: { sql: "x.where is distinct from $1 and $1 > $2", parameters: [3, 2] } }],
  ["PostgreSQL", "delete from t where a = any(array[1, 2]) and b = ' where ' returning *", [], { table: "t", from: "t", condition: { sql: "a = any(array[1, 2]) and b = ' where '", parameters: [] } }],
  ["PostgreSQL", "update t set a = a is distinct from 1", [], { table: "t", from: "t" }],
])("%s: the rows of %j are known by its condition", (kind, sql, parameters, expected) => {
  expect(affected(sql, kind, parameters)).toEqual(expected)
}) // prettier-ignore

test.each([
  "insert into t values (1)",
  "create table t (a)",
  "with x as (select 1) delete from t where a in (select * from x)",
  "delete from t using u where t.a = u.a",
  "update t set a = 1 from u where t.a = u.a",
  "delete from t where a = 1 order by b limit 1",
  "update or replace t set a = 1 where b = 2",
  "delete from t where (a = 1",
  "delete from t where a = 1) or (1 = 1",
  "delete from t where",
  "delete from t where a = 'x",
  "update t where a = 1",
  "delete from t where (a = 1]",
  "update t set a = [1) where b = 2",
  "update t set a = 1where b = 2",
  "update t set a = b.distinct from u where c = 1",
])("the rows of %j are not known by a condition alone", (sql) => {
  expect(affected(sql, "PostgreSQL")).toBeUndefined()
  expect(affected(sql, "SQLite")).toBeUndefined()
})

test.each([
  "update t set a = E'x'\n'\\' where b = 1 --' where true",
  "delete from t where a = e'x'",
  "delete from t --\rwhere a = 1",
])("PostgreSQL: the rows of %j are not told, because servers and people may read it differently", (sql) => {
  expect(affected(sql, "PostgreSQL")).toBeUndefined()
})

test("only ASCII letters make a keyword", () => {
  expect(affected("delete from t where a = 1 or returnıng", "SQLite")?.condition?.sql).toBe("a = 1 or returnıng")
})
