import { failure } from "../../core/ending.ts"
import type { Change, Column, Database, RowPage, Statement } from "./database-access.ts"
import { checkStatement, moreRowsFailure } from "./check-statement.ts"
import { checkRowSize, PageBuilder, pageLimits, rowSize } from "./page-builder.ts"
import { withClient, type PostgresClient, type PostgresField, type PostgresOptions } from "./postgres-client.ts"
import { describeTables } from "./postgres-tables.ts"
import { jsonValue, type ValueType } from "./postgres-values.ts"
import { Slots } from "./slots.ts"

/** Limit of connections to one database at once. Further calls wait. */
const maxConnections = 8

/** The number of rows asked for at once: few at first, because they may be large. */
const batch = { first: 4, most: 100, characters: 4_000_000 }

/** A PostgreSQL server. Each call has a connection of its own. Queries run in a read-only transaction. */
export function postgresDatabase(options: PostgresOptions): Database {
  const running = new Set<Promise<unknown>>()
  const slots = new Slots(maxConnections)
  const inTransaction: typeof withClient = (given, signal, ...rest) => {
    const work = slots.run(signal, () => withClient(given, signal, ...rest))
    running.add(work)
    void work.catch(() => {}).finally(() => running.delete(work))
    return work
  }
  return {
    kind: "PostgreSQL",
    describe: ({ signal, ...request }) =>
      inTransaction(options, signal, "read only", (client) => describeTables(client, request)),
    async query({ limit, offset, signal, ...statement }) {
      const [first] = checkStatement(statement, "PostgreSQL", "query")
      const isCursor = !["EXPLAIN", "SHOW"].includes(first!.text.toUpperCase())
      return inTransaction(options, signal, "read only", (client) =>
        isCursor
          ? readByCursor(client, statement, limit, offset)
          : readAll(client, statement, { limit, offset }).then(({ page }) => page),
      )
    },
    async change({ signal, shownRows = Infinity, ...statement }) {
      checkStatement(statement, "PostgreSQL", "change")
      return inTransaction(options, signal, "read write", async (client): Promise<Change> => {
        const { page, changedRows } = await readAll(client, statement, { limit: pageLimits.returnedRows, offset: 0 })
        if (changedRows !== null && changedRows > shownRows) throw moreRowsFailure(changedRows)
        if (signal.aborted) throw failure("The statement was stopped, and nothing was changed.")
        await client.query({ text: "commit" })
        return { changedRows, ...(page.columns.length === 0 ? {} : { returned: page }) }
      })
    },
    // Cancellations of statements must get to the server.
    close: async () => void (await Promise.allSettled(running)),
  }
}

/** Reads with a cursor of the server, so that rows nobody asked for are not sent. */
async function readByCursor(
  client: PostgresClient,
  { sql, parameters }: Statement,
  limit: number,
  offset: number,
): Promise<RowPage> {
  await client.query(oneStatement(`declare quartermaster no scroll cursor for ${sql}`, parameters))
  if (offset > 0) await client.query({ text: `move forward ${offset} from quartermaster` })
  const page = new PageBuilder(limit)
  let count = batch.first
  for (let types: ValueType[] | undefined; ;) {
    const fetched = await client.query({ text: `fetch forward ${count} from quartermaster`, rowMode: "array" })
    types ??= await typesOf(client, fetched.fields)
    for (const row of fetched.rows) if (!page.add(jsonRow(row, types))) return page.finish(types.map(asColumn))
    if (fetched.rows.length < count) return page.finish(types.map(asColumn))
    const largest = Math.max(...fetched.rows.map(rowSize))
    count = Math.max(1, Math.min(batch.most, Math.floor(batch.characters / (largest + 1))))
  }
}

/** Runs the statement as it is, and keeps a page of its rows. */
async function readAll(
  client: PostgresClient,
  { sql, parameters }: Statement,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ page: RowPage; changedRows: number | null }> {
  const rows: (string | null)[][] = []
  let seen = 0
  const result = await client.each(oneStatement(sql, parameters), (row) => {
    const isKept = seen++ >= offset && rows.length <= limit
    if (isKept) rows.push(row)
    return isKept
  })
  const types = await typesOf(client, result.fields)
  const page = new PageBuilder(limit)
  for (const row of rows) if (!page.add(jsonRow(row, types))) break
  return { page: page.finish(types.map(asColumn)), changedRows: result.rowCount }
}

/** Sent so that the server refuses a text with several statements. */
function oneStatement(text: string, parameters: readonly unknown[]) {
  return { text, values: [...parameters], queryMode: "extended", rowMode: "array" } as const
}

async function typesOf(client: PostgresClient, fields: readonly PostgresField[]): Promise<ValueType[]> {
  if (fields.length === 0) return []
  const { rows } = await client.query({
    text: `select format_type(c.id, c.modifier), case t.typcategory when 'A' then t.typelem else 0 end
             from unnest($1::oid[], $2::int[]) with ordinality as c (id, modifier, place)
             join pg_type t on t.oid = c.id order by c.place`,
    values: [fields.map(({ dataTypeID }) => dataTypeID), fields.map(({ dataTypeModifier }) => dataTypeModifier)],
    rowMode: "array",
  })
  return fields.map(({ name, dataTypeID: id }, index) => {
    const [type = "", element = "0"] = rows[index] ?? []
    return { name, type: type ?? "", id, element: Number(element) }
  })
}

function jsonRow(row: readonly (string | null)[], types: readonly ValueType[]): unknown[] {
  checkRowSize(row)
  return row.map((text, index) => jsonValue(text, types[index]!))
}

function asColumn({ name, type }: ValueType): Column {
  return { name, type }
}
