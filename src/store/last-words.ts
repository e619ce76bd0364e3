import { erased, type Card } from "../model/call.ts"
import type { EndEntry } from "../model/record.ts"
import { endings, type ToolResult } from "../model/result.ts"
import { transaction, type Database } from "./database.ts"
import { lineAt } from "./lines.ts"

interface Left {
  id: string
  card: string
  input: string | null
  place: number
}

/**
 * Closes the rows of calls that a dead process ended: it wrote the end down and died before it closed the row. Its
 * journal must have been moved before.
 */
export function closeEnded(database: Database, owner: string): void {
  transaction(database, () => {
    const rows = database
      .prepare(
        `select calls.id, calls.card, calls.input, min(ended.place) as place from calls join ended on ended.call = calls.id
         where calls.owner = ? and calls.state <> 'ended' group by calls.id`,
      )
      .all(owner) as unknown as Left[]
    const close = database.prepare(
      `update calls set state = 'ended', input = null, preview = null, asks = '[]', card = ?, result = ?, updated_at = ?,
       change = (select coalesce(max(change), 0) + 1 from calls) where id = ?`,
    )
    for (const row of rows) {
      const end = lineAt(database, row.place)
      if (end?.kind !== "end") continue
      const { card } = erased({ card: JSON.parse(row.card) as Card })
      close.run(JSON.stringify(card), JSON.stringify(resultOf(end, row)), Date.now(), row.id)
    }
  })
}

/** What the caller would have been given, as far as the record has it: it keeps no secrets and no long results. */
function resultOf(end: EndEntry, { card, input }: Left): ToolResult {
  const { callId, status, code, error, startedAt, durationMs, ran } = end
  const base = {
    callId,
    toolName: end.tool,
    version: end.version ?? "",
    startedAt,
    completedAt: end.at,
    durationMs,
    metadata: { ran, executionTime: durationMs },
  }
  if (code !== undefined) return { ...base, status, success: false, code, ...(error === undefined ? {} : { error }) }
  if (end.resultDigest !== undefined) return { ...base, ...lost }
  const isEdited = (JSON.parse(card) as Partial<Card>).editedBy !== undefined
  return {
    ...base,
    status,
    success: true,
    ...(end.result === undefined ? {} : { result: JSON.parse(end.result) as unknown }),
    ...(isEdited && input !== null ? { ranInput: JSON.parse(input) as unknown } : {}),
  }
}

const lost = {
  status: endings.interrupted.status,
  success: false,
  code: "interrupted" as const,
  error:
    "The call succeeded, but the process ended before its result was kept whole. Look at its record before you call again.",
}
