import { erasedFields, type ApprovalCard } from "../../core/call.ts"
import type { EndEntry } from "../../core/audit-entry.ts"
import { failedWith, type ToolResult } from "../../core/result.ts"
import { transaction, type Database } from "./database.ts"
import { entryAtPlace } from "./entry-reader.ts"

interface OrphanedRow {
  id: string
  card: string
  input: string | null
  place: number
}

/**
 * Closes the rows of calls that a dead process ended: it wrote the end entry but died before it closed the row. Move its
 * journal before you call this.
 */
export function closeOrphanedRows(database: Database, owner: string): void {
  transaction(database, () => {
    const rows = database
      .prepare(
        `select calls.id, calls.card, calls.input, min(ended.place) as place from calls join ended on ended.call = calls.id
         where calls.owner = ? and calls.state <> 'ended' group by calls.id`,
      )
      .all(owner) as unknown as OrphanedRow[]
    const close = database.prepare(
      `update calls set state = 'ended', input = null, preview = null, asks = '[]', card = ?, result = ?, updated_at = ?,
       change = (select coalesce(max(change), 0) + 1 from calls) where id = ?`,
    )
    for (const row of rows) {
      const end = entryAtPlace(database, row.place)
      if (end?.kind !== "end") continue
      const { card } = erasedFields({ card: JSON.parse(row.card) as ApprovalCard })
      close.run(JSON.stringify(card), JSON.stringify(resultOf(end, row)), Date.now(), row.id)
    }
  })
}

/** The result the caller would have got, as far as the audit log has it. Secrets and long results are not in there. */
function resultOf(end: EndEntry, { card, input }: OrphanedRow): ToolResult {
  const { callId, code, error, startedAt, durationMs, ran } = end
  const base = {
    callId,
    toolName: end.tool,
    version: end.version ?? "",
    startedAt,
    completedAt: end.at,
    durationMs,
    metadata: { ran, executionTime: durationMs },
  }
  if (code !== undefined) return failedWith(code, error ?? "The call failed.", base)
  if (end.resultDigest !== undefined) return failedWith("interrupted", lostResult, base)
  const isEdited = (JSON.parse(card) as Partial<ApprovalCard>).editedBy !== undefined
  return {
    ...base,
    status: "success",
    success: true,
    result: end.result === undefined ? undefined : (JSON.parse(end.result) as unknown),
    ...(isEdited && input !== null ? { ranInput: JSON.parse(input) as unknown } : {}),
  }
}

const lostResult =
  "The call succeeded, but the process ended before it stored the whole result. Look at the call in the audit log before you call again."
