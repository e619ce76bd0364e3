import { join } from "node:path"
import { onTestFinished } from "vitest"
import { silentLogger } from "../model/logger.ts"
import type { EndEntry, RecordEntry, StartEntry } from "../model/record.ts"
import { dataFolder } from "../testing/open.ts"
import { openDatabase, transaction, type Database } from "./database.ts"
import { ownerName } from "./owner.ts"
import { openStore, type Store, type StoreOptions } from "./store.ts"

/** A real store on a folder of its own, closed after the test. */
export async function openRecord(
  options: Partial<StoreOptions> = {},
): Promise<Store & { dir: string; audit: Awaited<ReturnType<Store["audit"]>> }> {
  const dir = options.dataDir ?? (await dataFolder())
  const store = await openStore({
    dataDir: dir,
    owner: ownerName(),
    logger: silentLogger,
    writes: "direct",
    ...options,
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= store.close())
  onTestFinished(close)
  return { ...store, close, dir, audit: await store.audit() } as never
}

/** A second connection to the same file, as somebody has it who goes around us. */
export async function goAround<T>(dir: string, work: (database: Database) => T): Promise<T> {
  const database = await openDatabase(join(dir, "quartermaster.db"))
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Does the SQL and complains when it changed nothing: then it would prove nothing. */
export function tamper(dir: string, sql: string): Promise<void> {
  return goAround(dir, (database) => {
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

export interface GivenCall {
  callId: string
  at: number
  agentId?: string
  role?: string
  tool?: string
  input?: string
  code?: EndEntry["code"]
  durationMs?: number
}

/** The two entries of a call that ran. */
export function entriesOf(call: GivenCall): [StartEntry, EndEntry] {
  const { callId, at, agentId = "ann", role = "developer", tool = "probe", code, durationMs = 5 } = call
  const facts = { callId, agentId, role, tool }
  return [
    { kind: "start", at, ...facts, version: "1.0.0", sessionId: "s", input: call.input ?? "{}", policy: "p" },
    {
      kind: "end",
      at: at + durationMs,
      ...facts,
      status: code === undefined ? "success" : "error",
      code,
      startedAt: at,
      durationMs,
      ...(code === undefined ? { result: `"done ${callId}"` } : { error: "It failed." }),
      ran: true,
    },
  ]
}

export async function keepAll(store: Store, entries: readonly RecordEntry[]): Promise<void> {
  for (const entry of entries) await store.recorder.keep(entry, "crash")
}

/** Calls named by a letter and a number, one an hour, each a start and an end. */
export function hourly(from: number, count: number, letter = "c"): RecordEntry[] {
  return Array.from({ length: count }, (_, index) =>
    entriesOf({ callId: `${letter}${index}`, at: from + index * 3_600_000 }),
  ).flat()
}

/** The same database, which notes for every query how SQLite would go about it. */
export function plansOf(database: Database): { database: Database; seen: string[] } {
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
