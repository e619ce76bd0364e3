import type { AuditStats } from "../model/app.ts"
import { filterOf, type AuditFlags } from "./audit-filter.ts"
import type { Session } from "./house.ts"
import { answer } from "./output.ts"
import { withApp } from "./session.ts"
import { table } from "./table.ts"

/** Calls and failures by tool, agent, role, ending and hour. */
export function showStats(session: Session, flags: AuditFlags): Promise<number> {
  const filter = filterOf(session, flags)
  return withApp(session, {}, async ({ audit }) => {
    const stats = await audit.stats(filter)
    answer(session, stats, statsText(stats, session.house.printable))
    return 0
  })
}

export function statsText(stats: AuditStats, printable: (text: string) => string): string {
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
    `${total} calls, ${failures} of them did not succeed.`,
    ...section(["TOOL", "CALLS", "FAILED", "AVERAGE MS"], tools),
    ...section(["AGENT", "CALLS", "FAILED"], counts(byAgent)),
    ...section(["ROLE", "CALLS", "FAILED"], counts(byRole)),
    ...section(["ENDING", "CALLS"], Object.entries(byEnding)),
    ...section(["HOUR (UTC)", "CALLS", "FAILED"], hours),
  ].join("\n\n")
}
