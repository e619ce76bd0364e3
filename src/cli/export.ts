import type { ExportedCall } from "../model/app.ts"
import { filterOf, type AuditFlags } from "./audit-filter.ts"
import { csvLine } from "./csv.ts"
import type { Session } from "./house.ts"
import { jsonText, onReaderGone, written } from "./output.ts"
import { withApp } from "./session.ts"
import { oneOf } from "./usage.ts"

const formats = ["jsonl", "csv"] as const

/** Writes ended calls as they are read, oldest first, no faster than they are taken. */
export async function exportCalls(session: Session, flags: AuditFlags & { format?: string }): Promise<number> {
  const { io, house } = session
  const format = oneOf("--format", flags.format, formats) ?? "jsonl"
  const filter = filterOf(session, flags)
  let isRead = true
  onReaderGone(io.stdout, () => (isRead = false))
  const line = (call: ExportedCall): string => {
    if (format === "jsonl") return `${jsonText(call, house)}\n`
    const text = csvLine(columns.map((column) => call[column]))
    return io.stdout.isTTY ? house.printable(text.replaceAll("\r\n", "\n")) : text
  }
  return withApp(session, {}, async ({ audit }) => {
    if (format === "csv") await written(io.stdout, csvLine(columns))
    for await (const call of audit.export(filter)) {
      if (!isRead) break
      await written(io.stdout, line(call))
    }
    return 0
  })
}

/** Every field of a call, in the order of the columns. */
const order: Readonly<Record<keyof ExportedCall, true>> = {
  callId: true,
  at: true,
  agentId: true,
  role: true,
  tool: true,
  version: true,
  status: true,
  code: true,
  startedAt: true,
  durationMs: true,
  sessionId: true,
  taskId: true,
  userId: true,
  parentCallId: true,
  input: true,
  inputDigest: true,
  result: true,
  error: true,
  reasons: true,
  policy: true,
}
const columns = Object.keys(order) as (keyof ExportedCall)[]
