import type { Description, ForeignKey, TableColumn, TableDescription } from "./database-access.ts"
import type { PostgresClient } from "./postgres-client.ts"

/** Describes the tables and views that the user may read, from PostgreSQL's own catalog. */
export async function describeTables(
  client: PostgresClient,
  { table, limit, offset }: { table?: string; limit: number; offset: number },
): Promise<Description> {
  const { rows } = await client.query({ text: tables, values: [table ?? null, limit + 1, offset], rowMode: "array" })
  return { tables: rows.slice(0, limit).map(describeTable), more: rows.length > limit }
}

/** A table outside the current schema is named with its own. The rest of a row is JSON. */
const tables = `
  select case when n.nspname = current_schema() then c.relname else n.nspname || '.' || c.relname end,
         c.relkind in ('v', 'm'),
         case when c.relkind = 'v' or c.reltuples < 0 then null else c.reltuples::bigint end,
         (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                   'nullable', not a.attnotnull, 'default', pg_get_expr(d.adbin, d.adrelid)) order by a.attnum)
            from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
         (select json_agg(json_build_object('kind', k.contype, 'columns', k.own, 'table', k.confrelid::regclass::text,
                   'references', k.others) order by k.conname)
            from (select o.*,
                         (select array_agg(a.attname order by x.place) from unnest(o.conkey) with ordinality as x (number, place)
                            join pg_attribute a on a.attrelid = o.conrelid and a.attnum = x.number) as own,
                         (select array_agg(a.attname order by x.place) from unnest(o.confkey) with ordinality as x (number, place)
                            join pg_attribute a on a.attrelid = o.confrelid and a.attnum = x.number) as others
                    from pg_constraint o where o.conrelid = c.oid and o.contype in ('p', 'u', 'f')) k)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
     and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
     and has_schema_privilege(n.oid, 'usage') and has_any_column_privilege(c.oid, 'select')
     and ($1::text is null or $1 in (c.relname, n.nspname || '.' || c.relname))
   order by n.nspname <> current_schema(), n.nspname, c.relname limit $2 offset $3`

interface Constraint {
  readonly kind: "p" | "u" | "f"
  readonly columns: string[]
  readonly table: string
  readonly references: string[] | null
}

function describeTable([name, isView, count, columns, constraints]: readonly (string | null)[]): TableDescription {
  const keys = JSON.parse(constraints ?? "[]") as Constraint[]
  const ofKind = (wanted: Constraint["kind"]) => keys.filter(({ kind }) => kind === wanted)
  const found = JSON.parse(columns ?? "[]") as (TableColumn & { default: string | null })[]
  return {
    name: name ?? "",
    kind: isView === "t" ? "view" : "table",
    estimatedRows: count === null || count === undefined ? null : Number(count),
    columns: found.map(({ default: given, ...column }) => ({
      ...column,
      ...(given === null ? {} : { default: given }),
    })),
    primaryKey: ofKind("p")[0]?.columns ?? [],
    unique: ofKind("u").map((key) => key.columns),
    foreignKeys: ofKind("f").map((key): ForeignKey => ({
      columns: key.columns,
      table: key.table,
      references: key.references ?? [],
    })),
  }
}
