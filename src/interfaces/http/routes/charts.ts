import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { AuditHour } from "../../../audit/audit-reader.ts"
import type { AuditFilter } from "../../../store/port.ts"
import { waitsOf } from "../../../approvals/waits.ts"
import { refusals } from "./approvals.ts"
import type { Charts } from "./audit-schemas.ts"

const hourMs = 60 * 60_000
const mostHours = 24 * 92
/** Of more waits than this, some are read, evenly over the time: their percentiles are near enough. */
const mostWaits = 2000

/** Numbers per hour from the audit log. An hour without calls is there with zeros, so that lines have no gaps. */
export async function chartsOf(
  { audit }: Pick<Quartermaster, "audit">,
  filter: AuditFilter & { since: number },
  now: number,
): Promise<Charts> {
  const until = filter.until ?? now
  const counted = new Map((await audit.hours(filter)).map((hour) => [hour.at, hour]))
  const { byTool } = await audit.stats(filter)
  const answered = { ...filter, withEntry: answers }
  const waitedIn = new Map(
    (await audit.hours(answered)).map(({ at, byEnding }) => [at, sumOf(Object.values(byEnding))]),
  )
  const each = Math.max(1, Math.ceil(sumOf([...waitedIn.values()]) / mostWaits))
  const waits = await answeredWaits(audit, { ...answered, oneOf: each })
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
      waited: waitedIn.get(at) ?? 0,
      waitP50: percentile(waited, 0.5),
      waitP95: percentile(waited, 0.95),
    }
  })
  const tools = Object.entries(byTool)
    .map(([tool, numbers]) => ({ tool, ...numbers }))
    .sort((one, other) => other.count - one.count)
    .slice(0, 20)
  const all = [...counted.values()]
  const times = inOrder(all.flatMap((hour) => hour.times))
  return {
    since: filter.since,
    until,
    hours,
    total: { p50: percentile(times, 0.5), p95: percentile(times, 0.95), waitP50: percentile(timesOf(waits), 0.5) },
    waits: [...bands, null].map((upTo, at) => {
      const from = bands[at - 1] ?? 0
      return { upTo, count: each * waits.filter(({ ms }) => ms >= from && ms < (upTo ?? Infinity)).length }
    }),
    waitsBy: { tools: waitsBy(waits, each, "tool"), agents: waitsBy(waits, each, "agentId") },
    expired: all.reduce((sum, { byEnding }) => sum + (byEnding["approval_expired"] ?? 0), 0),
    tools,
  }
}

const nothing: Omit<AuditHour, "at"> = { byEnding: {}, times: [] }

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}

function hourOf(at: number): number {
  return Math.floor(at / hourMs) * hourMs
}

/** Seconds, a minute, five, half an hour: how long people take. */
const bands = [10_000, 60_000, 5 * 60_000, 30 * 60_000]

/** The kinds of people's answers: whether a call may run, and whether its result may be read. */
const answers = ["answered", "released", "withheld"] as const

interface Wait {
  at: number
  ms: number
  tool: string
  agentId: string
}

/** The names with most answers first, with the time that half of them took at most. Each wait stands for `each` of them. */
function waitsBy(waits: readonly Wait[], each: number, by: "tool" | "agentId"): Charts["waitsBy"]["tools"] {
  return [...grouped(waits, (wait) => wait[by])]
    .map(([name, some]) => ({ name, count: each * some.length, p50: percentile(timesOf(some), 0.5) ?? 0 }))
    .sort((one, other) => other.count - one.count)
    .slice(0, 6)
}

/** The times that calls waited for people, from each question to its answer. */
async function answeredWaits(audit: Quartermaster["audit"], filter: AuditFilter): Promise<Wait[]> {
  const answered = await audit.list({ ...filter, limit: 2 * mostWaits })
  const entries = await audit.showMany(answered.map(({ callId }) => callId))
  return answered.flatMap(({ callId, at, tool, agentId }) =>
    waitsOf(entries.get(callId) ?? []).ended.flatMap(({ ms, isAnswered }) =>
      isAnswered ? [{ at, ms, tool, agentId }] : [],
    ),
  )
}

type Times = AuditHour["times"]

function timesOf(waits: readonly Wait[]): Times {
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
