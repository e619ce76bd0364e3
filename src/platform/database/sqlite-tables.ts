import type { DatabaseSyncInstance } from "@photostructure/sqlite"
import type { Description, ForeignKey, TableColumn, TableDescription } from "./database-access.ts"

/** Up to so many rows are counted; more are guessed from the last row id. */
const countedRows = 10_000

/** Describes tables and views from SQLite's own catalog. */
export function describeTables(
  database: DatabaseSyncInstance,
  { table, limit, offset }: { table?: string; limit: number; offset: number },
): Description {
  const tables = database
    .prepare(
      `select name, type from pragma_table_list
        where schema = 'main' and type in ('table', 'view', 'virtual') and name not like 'sqlite\\_%' escape '\\'
          and (?1 is null or lower(name) = lower(?1))
        order by name limit ?2 offset ?3`,
    )
    .all({ "?1": table ?? null, "?2": limit + 1, "?3": offset } as never) as { name: string; type: string }[]
  return {
    tables: tables.slice(0, limit).map(({ name, type }) => describeTable(database, name, type === "view")),
    more: tables.length > limit,
  }
}

function describeTable(database: DatabaseSyncInstance, name: string, isView: boolean): TableDescription {
  const rowsOf = <Row>(sql: string, ...values: string[]) => database.prepare(sql).all(...values) as Row[]
  const columns = rowsOf<{ name: string; type: string; notnull: number; dflt_value: string | null; pk: number }>(
    'select name, type, "notnull", dflt_value, pk from pragma_table_xinfo(?) where hidden <> 1 order by cid',
    name,
  )
  const indexes = rowsOf<{ name: string }>(
    "select name from pragma_index_list(?) where \"unique\" and origin <> 'pk' and partial = 0",
    name,
  )
  return {
    name,
    kind: isView ? "view" : "table",
    estimatedRows: isView ? null : estimateRows(database, name),
    columns: columns.map((column): TableColumn => ({
      name: column.name,
      type: column.type.toLowerCase(),
      nullable: column.notnull === 0 && column.pk === 0,
      ...(column.dflt_value === null ? {} : { default: column.dflt_value }),
    })),
    primaryKey: columns
      .filter(({ pk }) => pk > 0)
      .sort((one, other) => one.pk - other.pk)
      .map((column) => column.name),
    unique: indexes
      .map((index) =>
        rowsOf<{ name: string | null }>("select name from pragma_index_info(?) order by seqno", index.name).map(
          (column) => column.name ?? "",
        ),
      )
      .filter((names) => !names.includes("")),
    foreignKeys: foreignKeys(
      rowsOf('select id, "table", "from", "to" from pragma_foreign_key_list(?) order by id, seq', name),
    ),
  }
}

function foreignKeys(rows: readonly { id: number; table: string; from: string; to: string | null }[]): ForeignKey[] {
  return [...new Set(rows.map(({ id }) => id))].map((id) => {
    const own = rows.filter((row) => row.id === id)
    return {
      columns: own.map(({ from }) => from),
      table: own[0]!.table,
      // Without columns it means the primary key.
      references: own.flatMap(({ to }) => (to === null ? [] : [to])),
    }
  })
}

function estimateRows(database: DatabaseSyncInstance, name: string): number | null {
  const quoted = `"${name.replaceAll('"', '""')}"`
  const first = (sql: string) => (database.prepare(sql).get() as { value: number | null }).value
  try {
    const counted = first(`select count(*) as value from (select 1 from ${quoted} limit ${countedRows + 1})`) ?? 0
    return counted <= countedRows ? counted : first(`select max(rowid) as value from ${quoted}`)
  } catch {
    // A table without row ids, or a virtual table whose module is not there.
    return null
  }
}
