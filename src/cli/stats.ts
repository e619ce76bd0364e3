import type { AuditStats } from "../model/app.ts"
import { filterOf, type AuditFlags } from "./audit-filter.ts"
import type { Session } from "./house.ts"
import { answer } from "./output.ts"
import { withApp } from "./session.ts"
import { table } from "./table.ts"

/** Calls and failures by tool, agent and ending. */
export function showStats(session: Session, flags: AuditFlags): Promise<number> {
  const filter = filterOf(session, flags)
  return withApp(session, {}, async ({ audit }) => {
    const stats = await audit.stats(filter)
    answer(session, stats, textOf(stats, session.house.printable))
    return 0
  })
}

function textOf(
  { total, failures, byTool, byAgent, byEnding }: AuditStats,
  printable: (text: string) => string,
): string {
  const section = (titles: string[], rows: (string | number)[][]) => {
    const head = titles.map((title) => ({ title }))
    const cells = rows.map((row) => row.map((cell) => printable(String(cell))))
    return rows.length === 0 ? [] : [table(head, cells)]
  }
  const tools = Object.entries(byTool).map(([name, of]) => [name, of.count, of.failures, of.averageMs.toFixed(1)])
  const agents = Object.entries(byAgent).map(([name, of]) => [name, of.count, of.failures])
  return [
    `${total} calls, ${failures} of them did not succeed.`,
    ...section(["TOOL", "CALLS", "FAILED", "AVERAGE MS"], tools),
    ...section(["AGENT", "CALLS", "FAILED"], agents),
    ...section(["ENDING", "CALLS"], Object.entries(byEnding)),
  ].join("\n\n")
}
