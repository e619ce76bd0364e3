import type { ExportedCall } from "../../../../audit/audit-reader.ts"
import { exportedColumns } from "../../../../audit/exported-call.ts"
import { filterOf, wholeAgent, type AuditFlags } from "./audit-filter.ts"
import { csvLine } from "../../../../lib/csv.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"
import { onBrokenPipe, writeAndDrain } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"
import { choiceFlag } from "../../common/usage.ts"

const formats = ["jsonl", "csv"] as const

/** Writes ended calls as they are read, oldest first, no faster than they are taken. */
export async function exportAudit(context: CliContext, flags: AuditFlags & { format?: string }): Promise<number> {
  const { io } = context
  const format = choiceFlag("--format", flags.format, formats) ?? "jsonl"
  const filter = filterOf(context, flags)
  let isRead = true
  onBrokenPipe(io.stdout, () => (isRead = false))
  const line = (call: ExportedCall): string => {
    if (format === "jsonl") return `${printableJson(call)}\n`
    const text = csvLine(exportedColumns.map((column) => call[column]))
    return io.stdout.isTTY ? printable(text.replaceAll("\r\n", "\n")) : text
  }
  return withApp(context, { readOnly: true }, async ({ audit, org }) => {
    if (format === "csv") await writeAndDrain(io.stdout, csvLine(exportedColumns))
    for await (const call of audit.export(wholeAgent(context, { org }, filter))) {
      if (!isRead) break
      await writeAndDrain(io.stdout, line(call))
    }
    return 0
  })
}
