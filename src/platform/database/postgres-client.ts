import { setTimeout as sleep } from "node:timers/promises"
import { missingPackages } from "../../lib/missing-packages.ts"
import { failure } from "../../core/ending.ts"
import { asFailure, tooLarge } from "./postgres-failures.ts"
import { stopped } from "./slots.ts"

export interface PostgresOptions {
  readonly name: string
  readonly url: string
  /** Time limit of a statement. The server ends it a little later, also when this process is gone. */
  readonly timeoutMs: number
  readonly connectMs?: number
  /** Time the server waits longer than this process before it ends a statement itself. */
  readonly graceMs?: number
}

export interface PostgresField {
  readonly name: string
  readonly dataTypeID: number
  readonly dataTypeModifier: number
}

export interface PostgresResult {
  readonly fields: readonly PostgresField[]
  readonly rows: readonly (string | null)[][]
  readonly rowCount: number | null
}

interface QueryConfig {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly rowMode?: "array"
  /** The server refuses several statements in one text. */
  readonly queryMode?: "extended"
}

/** A connection with an open transaction. */
export interface PostgresClient {
  query(config: QueryConfig): Promise<PostgresResult>
  /** Hands out the rows one by one. `keep` says whether it kept the row: what is not kept does not count as received. */
  each(config: QueryConfig, keep: (row: (string | null)[]) => boolean): Promise<Omit<PostgresResult, "rows">>
}

/** Limit of bytes from the server for one call. A longer answer ends the connection, before it fills the memory. */
const maxBytes = 32 * 1024 * 1024

/** Runs work on a connection of its own, in a transaction that ends with it. A stop cancels the statement at the server. */
export async function withClient<Result>(
  options: PostgresOptions,
  signal: AbortSignal,
  access: "read only" | "read write",
  work: (client: PostgresClient) => Promise<Result>,
): Promise<Result> {
  if (signal.aborted) throw stopped()
  const pg = await loadPackage()
  const client = newClient(pg, options)
  const destroy = () => client.connection.stream.destroy()
  let received = 0
  signal.addEventListener("abort", destroy, { once: true })
  const cancel = () => {
    void cancelAtServer(pg, options, client.processID)
    // If that does not help, the connection is given up.
    void sleep(3000, undefined, { ref: false }).then(destroy)
  }
  try {
    await client.connect()
    signal.removeEventListener("abort", destroy)
    signal.addEventListener("abort", cancel, { once: true })
    client.connection.stream.on("data", ({ byteLength }) => {
      received += byteLength
      if (received > maxBytes) destroy()
    })
    await client.query({ text: beginning(access, options) })
    await refuseServerRights(client, options.name)
    // A stop between two statements cancels none, so the next one does not begin.
    return await work({
      query: async (config) => (signal.throwIfAborted(), client.query(config)),
      async each(config, keep) {
        signal.throwIfAborted()
        return queryEach(pg, client, config, (row) => {
          if (!keep(row)) received = 0
        })
      },
    })
  } catch (error) {
    if (received > maxBytes) throw tooLarge(maxBytes)
    throw signal.aborted ? stopped() : asFailure(options.name, error)
  } finally {
    signal.removeEventListener("abort", destroy)
    signal.removeEventListener("abort", cancel)
    // Changes that were not committed are rolled back.
    await Promise.race([client.end().catch(() => {}), sleep(1000, undefined, { ref: false })])
    destroy()
  }
}

function beginning(access: "read only" | "read write", { timeoutMs, graceMs = 5000 }: PostgresOptions): string {
  const settings = {
    statement_timeout: timeoutMs + graceMs,
    lock_timeout: Math.min(10_000, timeoutMs),
    // Between two statements only this process works, so it ends only what was abandoned.
    idle_in_transaction_session_timeout: 60_000 + timeoutMs,
    timezone: "UTC",
    datestyle: "ISO, YMD",
    intervalstyle: "iso_8601",
    bytea_output: "hex",
    extra_float_digits: 1,
    standard_conforming_strings: "on",
  }
  const set = Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`)
  return [`begin ${access}`, ...set].join("; ")
}

/**
 * Refuses users for whom a statement is no limit: those who may read files of the server, run programs there, or open
 * connections from there. For all others the server itself refuses pg_read_file, COPY … PROGRAM and the like.
 */
async function refuseServerRights(client: Client, name: string): Promise<void> {
  const { rows } = await client.query({
    text: `select exists (
             select from pg_roles r
              where pg_has_role(session_user, r.oid, 'member')
                and (r.rolsuper or r.rolname in ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')))
           or exists (
             select from pg_proc
              where proname in ('dblink', 'dblink_connect', 'dblink_exec')
                and has_function_privilege(session_user, oid, 'execute'))`,
    rowMode: "array",
  })
  if (rows[0]?.[0] === "f") return
  throw failure(
    `The database '${name}' signs in as a superuser, or as a user who may read files of the server, run programs there or open connections from there with dblink, so it is not used. A person must put another user into databases.${name}.url, made for example with: create role agent login password '…'; grant pg_read_all_data to agent`,
    { toolCode: "user_has_server_rights" },
  )
}

async function cancelAtServer(pg: PgPackage, options: PostgresOptions, processId: number | null): Promise<void> {
  const client = newClient(pg, options)
  try {
    await client.connect()
    await client.query({ text: "select pg_cancel_backend($1)", values: [processId] })
  } catch {
    // The server cannot be reached: the connection is closed instead.
  } finally {
    await Promise.race([client.end().catch(() => {}), sleep(1000, undefined, { ref: false })])
  }
}

function queryEach(
  { Query }: PgPackage,
  client: Client,
  config: QueryConfig,
  onRow: (row: (string | null)[]) => void,
): Promise<PostgresResult> {
  return new Promise((resolve, reject) => {
    const query = new Query(config)
    query.on("row", onRow)
    query.on("error", reject)
    query.on("end", resolve)
    client.query(query)
  })
}

/** The used part of the package `pg`. */
interface Client {
  readonly processID: number | null
  readonly connection: {
    readonly stream: { destroy(): void; on(event: "data", listener: (bytes: Uint8Array) => void): void }
  }
  connect(): Promise<void>
  query(config: QueryConfig): Promise<PostgresResult>
  query(query: Submitted): void
  end(): Promise<void>
  on(event: "error", listener: (error: Error) => void): void
}

interface Submitted {
  on(event: "row", listener: (row: (string | null)[]) => void): void
  on(event: "error", listener: (error: Error) => void): void
  on(event: "end", listener: (result: PostgresResult) => void): void
}

interface PgPackage {
  readonly Client: new (config: object) => Client
  readonly Query: new (config: QueryConfig) => Submitted
}

async function loadPackage(): Promise<PgPackage> {
  const missing = missingPackages("A PostgreSQL database", ["pg"])
  if (missing !== undefined) throw failure(missing, { toolCode: "package_missing" })
  // By a variable, because the package has no types.
  const name: string = "pg"
  return ((await import(name)) as { default: PgPackage }).default
}

function newClient({ Client }: PgPackage, { url, connectMs = 10_000 }: PostgresOptions): Client {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    application_name: "quartermaster",
    // Every value comes as the text that the server wrote.
    types: { getTypeParser: () => (text: string) => text },
  })
  // A connection that breaks also ends its query, which reports it.
  client.on("error", () => {})
  return client
}
