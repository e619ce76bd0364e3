import { Audit } from "../../audit/audit.ts"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { silentLogger } from "../../core/logger.ts"
import type { EndEntry, AuditEntry, StartEntry } from "../../core/audit-entry.ts"
import { dataFolder } from "../../testing/test-app.ts"
import { openDatabase, transaction, type Database } from "../sqlite/database.ts"
import { newOwnerName } from "../sqlite/owner.ts"
import { openStore, type Store, type StoreOptions } from "../sqlite/store.ts"

/** A real store in a new folder, closed after the test. */
export async function openTestStore(
  options: Partial<StoreOptions> = {},
): Promise<Store & { dir: string; audit: Audit }> {
  const dir = options.dataDir ?? (await dataFolder())
  const store = await openStore({
    dataDir: dir,
    owner: newOwnerName(),
    logger: silentLogger,
    writes: "direct",
    ...options,
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= store.close())
  onTestFinished(close)
  return { ...store, close, dir, audit: new Audit(store.database, store.key, store.journalDir) } as never
}

/** Runs the work on another connection to the same file, as someone who bypasses Quartermaster would. */
export async function withSecondConnection<T>(dir: string, work: (database: Database) => T): Promise<T> {
  const database = await openDatabase(join(dir, "quartermaster.db"))
  try {
    // Other writers may be slow on a busy machine, and there is no retry here.
    database.exec("pragma busy_timeout = 30000")
    return work(database)
  } finally {
    database.close()
  }
}

/** Runs the SQL and throws when it changed nothing, because the test would then prove nothing. */
export function tamper(dir: string, sql: string): Promise<void> {
  return withSecondConnection(dir, (database) => {
    transaction(database, () => {
      const before = changes(database)
      database.exec(sql)
      if (changes(database) === before) throw new Error(`Nothing was changed by: ${sql}`)
    })
  })
}

function changes(database: Database): number {
  return (database.prepare("select total_changes() as n").get() as { n: number }).n
}

export interface TestCall {
  callId: string
  at: number
  agentId?: string
  role?: string
  tool?: string
  input?: string
  code?: EndEntry["code"]
  durationMs?: number
}

/** The start and the end entry of a call that ran. */
export function callEntries(call: TestCall): [StartEntry, EndEntry] {
  const { callId, at, agentId = "ann", role = "developer", tool = "probe", code, durationMs = 5 } = call
  const fields = { callId, agentId, role, tool }
  return [
    { kind: "start", at, ...fields, version: "1.0.0", sessionId: "s", input: call.input ?? "{}", policy: "p" },
    {
      kind: "end",
      at: at + durationMs,
      ...fields,
      status: code === undefined ? "success" : "error",
      code,
      startedAt: at,
      durationMs,
      ...(code === undefined ? { result: `"done ${callId}"` } : { error: "It failed." }),
      ran: true,
    },
  ]
}

export async function writeEntries(store: Store, entries: readonly AuditEntry[]): Promise<void> {
  for (const entry of entries) await store.recorder.write(entry, "crash")
}

/** The entries of calls with ids of a letter and a number, one call an hour. */
export function hourlyCalls(from: number, count: number, letter = "c"): AuditEntry[] {
  return Array.from({ length: count }, (_, index) =>
    callEntries({ callId: `${letter}${index}`, at: from + index * 3_600_000 }),
  ).flat()
}

/** The same database. It collects SQLite's query plan of every select. */
export function watchQueryPlans(database: Database): { database: Database; seen: string[] } {
  const seen: string[] = []
  const watched = new Proxy(database, {
    get(target, name) {
      const member = target[name as keyof Database]
      if (typeof member !== "function") return member
      if (name !== "prepare") return (member as () => unknown).bind(target)
      return (sql: string) => {
        if (/^\s*select/i.test(sql)) {
          const steps = target.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
          seen.push(steps.map((step) => step.detail).join("; "))
        }
        return target.prepare(sql)
      }
    },
  })
  return { database: watched, seen }
}
