import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { AuditHour, AuditWait } from "../../../audit/audit-reader.ts"
import type { AuditFilter } from "../../../store/port.ts"
import { refusals } from "./approvals.ts"
import type { Charts } from "./audit-schemas.ts"

const hourMs = 60 * 60_000
const mostHours = 24 * 92

/** Numbers per hour from the audit log. An hour without calls is there with zeros, so that lines have no gaps. */
export async function chartsOf(
  { audit }: Pick<Quartermaster, "audit">,
  filter: AuditFilter & { since: number },
  now: number,
): Promise<Charts> {
  const until = filter.until ?? now
  const counted = new Map((await audit.hours(filter)).map((hour) => [hour.at, hour]))
  const waits = await audit.waits(filter)
  const waitsIn = grouped(waits, ({ at }) => hourOf(at))
  const first = hourOf(filter.since)
  const count = Math.min(mostHours, Math.floor((until - first) / hourMs) + 1)
  const hours = Array.from({ length: Math.max(0, count) }, (_, index) => {
    const at = first + index * hourMs
    const { byEnding, times } = counted.get(at) ?? nothing
    const waited = timesOf(waitsIn.get(at) ?? [])
    const sum = (codes: readonly string[]) => codes.reduce((total, code) => total + (byEnding[code] ?? 0), 0)
    const refused = sum(refusals)
    const notApproved = sum(["approval_rejected", "approval_expired", "result_withheld"])
    const ran = sum(["success"])
    return {
      at,
      ran,
      failed: sum(Object.keys(byEnding)) - ran - refused - notApproved,
      notApproved,
      refused,
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      waited: waited.length,
      waitP50: percentile(waited, 0.5),
      waitP95: percentile(waited, 0.95),
    }
  })
  const all = [...counted.values()]
  const times = inOrder(all.flatMap((hour) => hour.times))
  return {
    since: filter.since,
    until,
    hours,
    total: { p50: percentile(times, 0.5), p95: percentile(times, 0.95), waitP50: percentile(timesOf(waits), 0.5) },
    waits: [...bands, null].map((upTo, at) => {
      const from = bands[at - 1] ?? 0
      return { upTo, count: waits.filter(({ ms }) => ms >= from && ms < (upTo ?? Infinity)).length }
    }),
    waitsBy: { tools: waitsBy(waits, "tool"), agents: waitsBy(waits, "agentId") },
    expired: all.reduce((sum, { byEnding }) => sum + (byEnding["approval_expired"] ?? 0), 0),
    tools: await audit.tools(filter, 20),
  }
}

const nothing: Omit<AuditHour, "at"> = { byEnding: {}, times: [] }

function hourOf(at: number): number {
  return Math.floor(at / hourMs) * hourMs
}

/** Seconds, a minute, five, half an hour: how long people take. */
const bands = [10_000, 60_000, 5 * 60_000, 30 * 60_000]

/** The names with most answers first, with the time that half of them took at most. */
function waitsBy(waits: readonly AuditWait[], by: "tool" | "agentId"): Charts["waitsBy"]["tools"] {
  return [...grouped(waits, (wait) => wait[by])]
    .map(([name, some]) => ({ name, count: some.length, p50: percentile(timesOf(some), 0.5) ?? 0 }))
    .sort((one, other) => other.count - one.count)
    .slice(0, 6)
}

type Times = AuditHour["times"]

function timesOf(waits: readonly AuditWait[]): Times {
  return inOrder(waits.map(({ ms }) => ({ ms, count: 1 })))
}

function grouped<Key, Item>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (groups.get(key)?.push(item) === undefined) groups.set(key, [item])
  }
  return groups
}

function inOrder(times: Times): Times {
  return times.toSorted((one, other) => one.ms - other.ms)
}

/** The time that this share of the calls took at most. The times are sorted. */
function percentile(times: Times, share: number): number | null {
  const wanted = Math.ceil(share * times.reduce((sum, { count }) => sum + count, 0))
  let seen = 0
  for (const { ms, count } of times) {
    seen += count
    if (seen >= wanted) return ms
  }
  return null
}
