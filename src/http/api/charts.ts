import type { ServedApp } from "./endpoint.ts"
import type { AuditFilter } from "../../model/ports.ts"
import type { StepEntry } from "../../model/audit-entry.ts"
import { refusals } from "./approvals.ts"
import type { Charts } from "./audit-schemas.ts"

const hourMs = 60 * 60_000
/** No chart needs more calls than this to be right. */
const mostCalls = 20_000
const mostWaits = 2000

/** Numbers per hour from the audit log. An hour without calls is there with zeros, so that lines have no gaps. */
export async function chartsOf(
  app: Pick<ServedApp, "audit">,
  filter: AuditFilter & { since: number },
  now: number,
): Promise<Charts> {
  const until = filter.until ?? now
  const rows = await app.audit.list({ ...filter, limit: mostCalls })
  const { byTool } = await app.audit.stats(filter)
  const ended =
    filter.status === undefined && filter.taskId === undefined ? undefined : new Set(rows.map(({ callId }) => callId))
  const waits = await waitingTimes(app, filter, ended)
  const first = Math.floor(filter.since / hourMs) * hourMs
  const count = Math.min(24 * 92, Math.floor((until - first) / hourMs) + 1)
  const hours = Array.from({ length: Math.max(0, count) }, (_, index) => {
    const at = first + index * hourMs
    const here = rows.filter((row) => row.at >= at && row.at < at + hourMs)
    const times = here.map(({ durationMs }) => durationMs)
    const waited = waits.filter((wait) => wait.at >= at && wait.at < at + hourMs).map(({ ms }) => ms)
    const is = (...codes: readonly string[]) =>
      here.filter(({ code }) => code !== undefined && codes.includes(code)).length
    const refused = is(...refusals)
    const notApproved = is("approval_rejected", "approval_expired", "result_withheld")
    const ran = here.filter(({ code }) => code === undefined).length
    return {
      at,
      ran,
      failed: here.length - ran - refused - notApproved,
      notApproved,
      refused,
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      waited: waited.length,
      waitP50: percentile(waited, 0.5),
      waitP95: percentile(waited, 0.95),
    }
  })
  const tools = Object.entries(byTool)
    .map(([tool, numbers]) => ({ tool, ...numbers }))
    .sort((one, other) => other.count - one.count)
    .slice(0, 20)
  const times = rows.map(({ durationMs }) => durationMs)
  const answered = waits.map(({ ms }) => ms)
  return {
    since: filter.since,
    until,
    hours,
    total: { p50: percentile(times, 0.5), p95: percentile(times, 0.95), waitP50: percentile(answered, 0.5) },
    waits: [...bands, null].map((upTo, at) => {
      const from = bands[at - 1] ?? 0
      return { upTo, count: answered.filter((ms) => ms >= from && ms < (upTo ?? Infinity)).length }
    }),
    waitsBy: { tools: waitsBy(waits, "tool"), agents: waitsBy(waits, "agentId") },
    expired: rows.filter(({ code }) => code === "approval_expired").length,
    tools,
  }
}

/** Seconds, a minute, five, half an hour: how long people take. */
const bands = [10_000, 60_000, 5 * 60_000, 30 * 60_000]

interface Wait {
  at: number
  ms: number
  tool: string
  agentId: string
}

/** The names with most answers first, each with the time that half of them took at most. */
function waitsBy(waits: readonly Wait[], name: "tool" | "agentId"): Charts["waitsBy"]["tools"] {
  const times = new Map<string, number[]>()
  for (const wait of waits) times.set(wait[name], [...(times.get(wait[name]) ?? []), wait.ms])
  return [...times]
    .map(([each, some]) => ({ name: each, count: some.length, p50: percentile(some, 0.5) ?? 0 }))
    .sort((one, other) => other.count - one.count)
    .slice(0, 6)
}

/** How long calls waited for people: from the question to the answer. With `ended`, only these calls. */
async function waitingTimes(
  app: Pick<ServedApp, "audit">,
  { since, until = Infinity, agentId, tool }: AuditFilter & { since: number },
  ended: ReadonlySet<string> | undefined,
): Promise<Wait[]> {
  const isMeant = (answer: StepEntry) =>
    answer.at >= since &&
    answer.at < until &&
    (agentId === undefined || answer.agentId === agentId) &&
    (tool === undefined || answer.tool === tool)
  const last = [...(await app.audit.answers())].flatMap(([callId, answers]) => {
    const answer = answers.at(-1)
    if (answer === undefined || !isMeant(answer) || ended?.has(callId) === false) return []
    return [{ callId, at: answer.at, tool: answer.tool ?? "", agentId: answer.agentId ?? "" }]
  })
  const newest = last.slice(-mostWaits)
  const entries = await app.audit.showMany(newest.map(({ callId }) => callId))
  return newest.flatMap(({ callId, ...wait }) => {
    const asked = entries.get(callId)?.find(({ kind }) => kind === "asked")
    return asked === undefined ? [] : [{ ...wait, ms: wait.at - asked.at }]
  })
}

function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!
}
