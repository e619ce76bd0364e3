import type { AuditFilter } from "../../store/port.ts"
import type { ExportedCall } from "../audit-reader.ts"
import type { AuditEntry } from "../../core/audit-entry.ts"
import { Journal } from "../../store/sqlite/journal.ts"
import { openTestStore } from "../../store/testing/test-store.ts"

export const exportDay = Date.UTC(2026, 0, 1, 9)

type TestStore = Awaited<ReturnType<typeof openTestStore>>

export async function exportAll({ audit }: TestStore, filter?: AuditFilter): Promise<ExportedCall[]> {
  const calls: ExportedCall[] = []
  for await (const call of audit.export(filter)) calls.push(call)
  return calls
}

/** Writes many entries as one frame, which becomes one segment and is fast. */
export async function writeInOneFrame(store: TestStore, entries: readonly AuditEntry[]): Promise<void> {
  const journal = new Journal(store.journalDir, store.key, "", () => {})
  await Promise.all(entries.map((entry) => journal.write(entry, "crash")))
  journal.close()
  await store.audit.catchUp()
}
