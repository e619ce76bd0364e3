import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { AuditRow } from "../../../store/port.ts"
import type { AuditEntry } from "../../../core/audit-entry.ts"
import { waitedMs } from "../../../approvals/waits.ts"
import type { AuditRowJson } from "./audit-schemas.ts"
import { firstText } from "../../../lib/first-text.ts"

/** Ended calls with what a list of them shows: what each was about, who answered, and how long it waited. */
export async function withDetails(
  app: Pick<Quartermaster, "audit">,
  rows: readonly AuditRow[],
): Promise<AuditRowJson[]> {
  const entries = await app.audit.showMany(rows.map(({ callId }) => callId))
  return rows.map((row) => ({ ...row, ...detailsOf(entries.get(row.callId) ?? []) }))
}

function detailsOf(entries: readonly AuditEntry[]): Omit<AuditRowJson, keyof AuditRow> {
  const isKind = (...kinds: readonly AuditEntry["kind"][]) => entries.filter(({ kind }) => kinds.includes(kind))
  const input = entries.map((entry) => ("input" in entry ? entry.input : undefined)).find((text) => text !== undefined)
  const answer = isKind("answered", "released", "withheld").at(-1)
  const by = answer !== undefined && "by" in answer ? answer.by : undefined
  const waited = waitedMs(entries)
  return {
    summary: input === undefined ? "" : firstText(input),
    ran: entries.some((entry) => entry.kind === "end" && entry.ran),
    asked: isKind("asked").length > 0,
    held: isKind("held").length > 0,
    ...(by === undefined ? {} : { by }),
    ...(waited === undefined ? {} : { waitedMs: waited }),
  }
}
