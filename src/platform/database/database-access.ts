/** One statement: its text, and apart from it the values of its placeholders. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

export type DatabaseKind = "SQLite" | "PostgreSQL"

export interface ListedDatabase {
  readonly name: string
  readonly kind: DatabaseKind
  readonly readOnly: boolean
  readonly description?: string
}

export interface Column {
  readonly name: string
  /** The type as the database names it; empty where it has none. */
  readonly type: string
}

/**
 * Rows as JSON values: numbers that JSON would not keep exactly and decimals are text, bytes are Base64, JSON is
 * parsed, timestamps of PostgreSQL are in ISO 8601.
 */
export interface RowPage {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly unknown[])[]
  /** True if there are rows after these. */
  readonly more: boolean
}

/** The result of a statement that writes. */
export interface Change {
  /** The number of rows it wrote; null where the database does not count them. */
  readonly changedRows: number | null
  /** The result of RETURNING: the first rows. */
  readonly returned?: RowPage
}

export interface TableDescription {
  readonly name: string
  readonly kind: "table" | "view"
  /** Null when the database has not counted. */
  readonly estimatedRows: number | null
  readonly columns: readonly TableColumn[]
  readonly primaryKey: readonly string[]
  readonly unique: readonly (readonly string[])[]
  readonly foreignKeys: readonly ForeignKey[]
}

export interface TableColumn extends Column {
  readonly nullable: boolean
  readonly default?: string
}

export interface ForeignKey {
  readonly columns: readonly string[]
  readonly table: string
  readonly references: readonly string[]
}

export interface Description {
  readonly tables: readonly TableDescription[]
  /** True if there are tables after these. */
  readonly more: boolean
}

export interface QueryRequest extends Statement {
  /** The limit of rows, and the number to skip before them. */
  readonly limit: number
  readonly offset: number
  readonly signal: AbortSignal
}

export interface DescribeRequest {
  /** Only this table or view. */
  readonly table?: string
  readonly limit: number
  readonly offset: number
  readonly signal: AbortSignal
}

export interface ChangeRequest extends Statement {
  /** The number of rows the approver was shown. If it would change more, it is rolled back. */
  readonly shownRows?: number
  readonly signal: AbortSignal
}

/** One database. Every failure is a `ToolFailure` that names no address. */
export interface Database {
  readonly kind: DatabaseKind
  describe(request: DescribeRequest): Promise<Description>
  /** Runs one statement that the database allows to read only. */
  query(request: QueryRequest): Promise<RowPage>
  /** Runs one statement in a transaction. */
  change(request: ChangeRequest): Promise<Change>
  close(): Promise<void>
}

/** The rows that an UPDATE or DELETE would change, read without running it. */
export type MatchingRows =
  | { readonly table: string; readonly count: number; readonly first: RowPage; readonly isWholeTable: boolean }
  /** Why they cannot be told; a whole sentence. */
  | { readonly unknown: string }

/** The configured databases, by name. */
export interface Databases {
  /** Those that this agent may use. */
  list(agentId: string): readonly ListedDatabase[]
  /** The roles that may use it; undefined when all may. */
  rolesOf(name: string): readonly string[] | undefined
  describe(name: string, request: DescribeRequest): Promise<Description>
  query(name: string, request: QueryRequest): Promise<RowPage>
  change(name: string, request: ChangeRequest): Promise<Change>
  matchingRows(name: string, statement: Statement): Promise<MatchingRows>
  close(): Promise<void>
}
