import { counted } from "../../../../lib/counted.ts"
import type { AuditStats } from "../../../../audit/audit-reader.ts"
import { filterOf, wholeAgent, type AuditFlags } from "./audit-filter.ts"
import { printable } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"
import { printResult } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"
import { table } from "../../terminal/table.ts"

/** Calls and failures by tool, agent, role, ending and hour. */
export function showStats(context: CliContext, flags: AuditFlags): Promise<number> {
  const filter = filterOf(context, flags)
  return withApp(context, { readOnly: true }, async ({ audit, org }) => {
    const stats = await audit.stats(wholeAgent(context, { org }, filter))
    printResult(context, stats, statsText(stats))
    return 0
  })
}

export function statsText(stats: AuditStats): string {
  const { total, failures, byTool, byAgent, byRole, byEnding, byHour } = stats
  const section = (titles: string[], rows: (string | number)[][]) => {
    const head = titles.map((title) => ({ title }))
    const cells = rows.map((row) => row.map((cell) => printable(String(cell))))
    return rows.length === 0 ? [] : [table(head, cells)]
  }
  const counts = (of: AuditStats["byAgent"]) =>
    Object.entries(of).map(([name, { count, failures: failed }]) => [name || "-", count, failed])
  const tools = Object.entries(byTool).map(([name, of]) => [name, of.count, of.failures, of.averageMs.toFixed(1)])
  const hours = counts(byHour).map(([hour, ...rest]) => [`${String(hour).replace("T", " ")}h`, ...rest])
  return [
    `${counted(total, "call")}, ${failures} of them did not succeed.`,
    ...section(["TOOL", "CALLS", "FAILED", "AVERAGE MS"], tools),
    ...section(["AGENT", "CALLS", "FAILED"], counts(byAgent)),
    ...section(["ROLE", "CALLS", "FAILED"], counts(byRole)),
    ...section(["ENDING", "CALLS"], Object.entries(byEnding)),
    ...section(["HOUR (UTC)", "CALLS", "FAILED"], hours),
  ].join("\n\n")
}
