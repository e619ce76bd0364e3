import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { loadSqlite } from "../../lib/load-sqlite.ts"
import type { DatabaseKind, Statement } from "./database-access.ts"
import { affectedRows, selectOf, type AffectedRows } from "./affected-rows.ts"
import { checkStatement, placeholdersOf } from "./check-statement.ts"
import { postgresFolder, startPostgres, testClient, type TestServer } from "./testing.ts"
import { readTokens } from "./tokens.ts"

const one = (...pieces: string[]) => fc.constantFrom(...pieces)
const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(""))
const some = (part: fc.Arbitrary<string>) => one("", " ").chain((gap) => fc.oneof(fc.constant(gap), part, joined(part, part))) // prettier-ignore

const gap = one(" ", " ", " ", "\n", "\r", "\v", "\f", "\u2028", "\ufeff", "/**/", "--\n", "--\r", "--\r\n")
const string = joined(
  one("", "E", "e", "n", "U&", "x", "b"),
  one("''", "'1'", "'\\'", "'\\''", "'a''b'"),
  one("", "\n", " ", "--\n", "--\r"),
  one("", "'\\'", "'1'", "'\\''"),
)
const variable = joined(one("#", "@", "$", ":", "?", "?1", "$1"), one("", "a", "1"), one("", "(", "::", "$$"), one("", "]", ")")) // prettier-ignore
const value = fc.oneof(string, variable, fc.constant("'x'"), one("1", "1.", "1e", "1e5", "0x1", "1_0", "note", '"note"', "`note`", "[note]", "(1)", "array[1]", "$$x$$", "$a$x$a$")) // prettier-ignore
const trick = one(
  ..."' '' '\\' \" ` [ ] ( ) -- /* */ $$ $a$ \\ ; , || :: /*/**/".split(" "),
  "\n",
  "\r",
  "E'",
  "is distinct from ",
  "returning ",
  "returnıng ",
  "and ",
  "or ",
  "not ",
  "from customers ",
)
/** Ends what the line before may have begun, in a comment. */
const hiddenEnd = one("--'", "--)", "--]", '--"', "--`", "--*/", "--$$")
const condition = joined(one("where", "WHERE"), one(" ", " ", "/**/", "/**/", "\n", "\r"), one("id=1", "id=2", "true", "1=1", "id in(1,3)", "(id=3)")) // prettier-ignore
const head = fc.oneof(
  joined(one("update orders set note=", "update orders as o set id=id,note="), value),
  joined(one("delete from", "delete from only", "DELETE/**/FROM"), gap, one("orders", '"orders"', "[orders]")),
)
/** Texts that a careless reader cuts in other places than the database does. */
const texts = joined(fc.option(gap, { nil: "" }), head, some(fc.oneof(gap, trick)), condition, some(fc.oneof(trick, hiddenEnd)), fc.option(condition, { nil: "" }), some(trick)) // prettier-ignore

/** Read wrongly once: a comment that ends at a carriage return, an escape in a string's second line, a name with brackets. */
const known = [
  "--\r delete from customers /*\n delete from orders where id = 1 -- */",
  "update orders set note = E'x'\n'\\' where id = 1 --' where true",
  "update orders set note=#a(]where/**/id=1--)where 1",
]

const setUp = `create table customers (id integer); insert into customers values (1), (2);
  create table orders (id integer primary key, note text); insert into orders values (1, '1'), (2, '2'), (3, 'x'), (4, 'y');
  create table changed (owner text, id integer)`

/** The rows that a preview shows; undefined when there is none. */
function previewOf(sql: string, kind: DatabaseKind): { affected: AffectedRows; statement: Statement } | undefined {
  try {
    const numbers = placeholdersOf(readTokens(sql, kind)).map(({ number }) => number)
    const statement = { sql, parameters: Array.from({ length: Math.max(0, ...numbers) }, () => 1) }
    const affected = affectedRows(statement, checkStatement(statement, kind, "change"), kind)
    return affected === undefined ? undefined : { affected, statement }
  } catch {
    return undefined
  }
}

test("SQLite: a preview shows exactly the rows that the statement changes", async () => {
  const { DatabaseSync } = await loadSqlite()
  const database = new DatabaseSync(":memory:")
  database.exec(setUp)
  for (const table of ["orders", "customers"])
    for (const event of ["update", "delete"])
      database.exec(`create trigger ${table}_${event} after ${event} on ${table} begin insert into changed values ('${table}', old.id); end`) // prettier-ignore
  const rows = ({ sql, parameters }: Statement) => database.prepare(sql).all(...(parameters as number[])) as { id: number }[] // prettier-ignore
  let compared = 0
  fc.assert(
    fc.property(texts, (sql) => {
      const preview = previewOf(sql, "SQLite")
      if (preview === undefined) return
      database.exec("begin")
      try {
        const shown = rows(selectOf(preview.affected, "id")).map(({ id }) => `orders ${id}`)
        rows(preview.statement)
        const changed = database.prepare("select owner || ' ' || id as row from changed order by id").all()
        compared++
        expect(changed.map(({ row }) => row)).toEqual(shown.toSorted())
      } catch (error) {
        if ((error as { code?: string }).code === "ERR_SQLITE_ERROR") return
        throw error
      } finally {
        database.exec("rollback")
      }
    }),
    { numRuns: 15_000, examples: known.map((sql): [string] => [sql]) },
  )
  expect(compared).toBeGreaterThan(500)
  database.close()
})

describe.skipIf(postgresFolder === undefined)("a real PostgreSQL server", () => {
  let server: TestServer
  beforeAll(async () => void (server = await startPostgres()))
  afterAll(() => server.stop())

  test("PostgreSQL: a preview shows exactly the rows that the statement changes", async () => {
    await server.run(`${setUp};
      create function note_change() returns trigger language plpgsql as $$ begin insert into changed values (tg_table_name, old.id); return null; end $$;
      create trigger noted after update or delete on orders for each row execute function note_change();
      create trigger noted after update or delete on customers for each row execute function note_change()`)
    const client = testClient(server.url("postgres", "postgres"))
    await client.connect()
    onTestFinished(() => client.end())
    const rows = async ({ sql, parameters }: Statement) => {
      const given = { text: sql, values: [...parameters], rowMode: "array", queryMode: "extended" } as const
      return ((await client.query(given)).rows ?? []).map((row) => row.join(" "))
    }
    let compared = 0
    const compare = async (sql: string) => {
      const preview = previewOf(sql, "PostgreSQL")
      if (preview === undefined) return
      await rows({ sql: "begin", parameters: [] })
      try {
        const shown = await rows(selectOf(preview.affected, "'orders', id"))
        await rows(preview.statement)
        const changed = await rows({ sql: "select owner, id from changed order by id", parameters: [] })
        compared++
        expect(changed).toEqual(shown.toSorted())
      } catch (error) {
        if (error instanceof Error && "severity" in error) return
        throw error
      } finally {
        await rows({ sql: "rollback", parameters: [] })
      }
    }
    await fc.assert(fc.asyncProperty(texts, compare), {
      numRuns: 10_000,
      examples: known.map((sql): [string] => [sql]),
    })
    expect(compared).toBeGreaterThan(100)
  })
})
