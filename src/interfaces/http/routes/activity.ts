import type { AuditEntry } from "../../../core/audit-entry.ts"
import { isVote } from "../../../core/vote-text.ts"
import { firstText } from "../../../lib/first-text.ts"
import type { AuditRow } from "../../../store/port.ts"
import { activity, activityQuery, type ActivityJson, type LaneJson, type SpanJson } from "./activity-schemas.ts"
import { refusals } from "./approvals.ts"
import { endpoint, type Api, type Endpoint } from "./endpoint.ts"

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs

export const activityEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/activity",
    summary: "What agents do now and did, as lanes by agent: calls with the times they waited for people.",
    tag: "Organisation",
    scope: "read",
    query: activityQuery,
    answers: { 200: activity },
    handle: ({ api, query }) => activityOf(api, query),
  }),
]

interface Query {
  since?: number | undefined
  until?: number | undefined
  agentId?: string | undefined
  tool?: string | undefined
  verdict?: string | undefined
  limit?: number | undefined
}

type Found = SpanJson & { agentId: string }

async function activityOf({ app, now }: Api, query: Query): Promise<ActivityJson> {
  const at = now()
  const until = query.until ?? at
  const since = Math.max(query.since ?? until - hourMs, until - dayMs)
  const { agentId, tool, verdict, limit = 500 } = query
  await app.settle()
  const rows = await app.audit.list({
    ...(agentId === undefined ? {} : { agentId }),
    ...(tool === undefined ? {} : { tool }),
    since,
    // Calls that end in this millisecond are there too.
    until: until + 1,
    limit: limit + 1,
  })
  const shown = rows.slice(0, limit)
  const entries = await app.audit.showMany(shown.map(({ callId }) => callId))
  const ended = shown.map((row) => endedSpan(row, entries.get(row.callId) ?? []))
  const isOver = new Set(rows.map(({ callId }) => callId))
  const open = query.until !== undefined && until < at ? [] : await openSpans(app, isOver)
  const wanted = [...ended, ...open].filter(
    (span) =>
      (agentId === undefined || span.agentId === agentId) &&
      (tool === undefined || span.tool === tool) &&
      (verdict === undefined || span.verdict === verdict),
  )
  return {
    now: at,
    since,
    until,
    lanes: lanesOf(app.org, wanted),
    ...(rows.length > limit ? { cut: shown.at(-1)!.at } : {}),
  }
}

function lanesOf(org: Api["app"]["org"], spans: readonly Found[]): LaneJson[] {
  const byAgent = new Map<string, SpanJson[]>()
  for (const { agentId, ...span } of spans)
    if (byAgent.get(agentId)?.push(span) === undefined) byAgent.set(agentId, [span])
  const lastOf = ({ spans }: LaneJson) => Math.max(...spans.map(({ to = Infinity }) => to))
  return [...byAgent]
    .map(([agentId, own]): LaneJson => {
      const view = org.view(agentId)
      const spans = own.toSorted((one, other) => one.from - other.from || (one.callId < other.callId ? -1 : 1))
      return { agentId, live: view !== undefined, ...(view === undefined ? {} : { role: view.role.name }), spans }
    })
    .sort((one, other) => {
      const [last, otherLast] = [lastOf(one), lastOf(other)]
      return last === otherLast ? (one.agentId < other.agentId ? -1 : 1) : otherLast > last ? 1 : -1
    })
}

function endedSpan({ callId, agentId, tool, at, code, status }: AuditRow, entries: readonly AuditEntry[]): Found {
  const answer = entries.findLast(({ kind }) => kind === "answered" || kind === "released" || kind === "withheld")
  const by = answer !== undefined && "by" in answer ? answer.by : undefined
  const called = entries.find((entry) => "input" in entry && entry.input !== undefined)
  const parent = entries.find((entry) => "parentCallId" in entry && entry.parentCallId !== undefined)
  const begins = entries.map((entry) => (entry.kind === "end" ? entry.startedAt : entry.at))
  return {
    callId,
    agentId,
    tool,
    summary: called !== undefined && "input" in called ? firstText(called.input ?? "") : "",
    verdict: verdictOf(status, code),
    ...(code === undefined ? {} : { code }),
    from: Math.min(at, ...begins),
    to: at,
    waits: waitsOf(entries),
    ...(by === undefined ? {} : { by }),
    ...(parent !== undefined && "parentCallId" in parent && parent.parentCallId !== undefined
      ? { parentCallId: parent.parentCallId }
      : {}),
  }
}

const notApproved: ReadonlySet<string> = new Set(["approval_rejected", "approval_expired", "result_withheld"])

function verdictOf(status: string, code: string | undefined): SpanJson["verdict"] {
  if (status === "success") return "ran"
  if (code !== undefined && notApproved.has(code)) return "not_approved"
  return code !== undefined && (refusals as readonly string[]).includes(code) ? "refused" : "failed"
}

/** The times in which a call waited for people. */
function waitsOf(entries: readonly AuditEntry[]): SpanJson["waits"] {
  const waits: SpanJson["waits"] = []
  for (const entry of entries) {
    const open = waits.at(-1)
    const isOpen = open !== undefined && open.to === undefined
    if (entry.kind === "asked" || entry.kind === "held") {
      if (!isOpen) waits.push({ from: entry.at })
    } else if (isOpen && entry.kind !== "note" && entry.kind !== "start" && !isVote(entry))
      open.to = Math.max(open.from, entry.at)
  }
  return waits
}

/** The calls that run in this process, and those that wait for people anywhere. */
async function openSpans(app: Api["app"], isOver: ReadonlySet<string>): Promise<Found[]> {
  const waiting = await app.approvals.list()
  const entries = await app.audit.showMany(waiting.map(({ callId }) => callId))
  const isWaiting = new Set(waiting.map(({ callId }) => callId))
  return [
    ...waiting.map(({ callId, agentId, tool, summary, createdAt, kind }): Found => {
      const own = entries.get(callId) ?? []
      const waits = waitsOf(own)
      const from = Math.min(createdAt, ...own.map(({ at }) => at))
      const verdict = kind === "result" ? "held" : "waits"
      const all = waits.length === 0 ? [{ from: createdAt }] : waits
      return { callId, agentId, tool, summary, verdict, from, waits: all }
    }),
    ...app.running().map(({ callId, agentId, tool, input, since }): Found => {
      return { callId, agentId, tool, summary: firstText(input), verdict: "runs", from: since, waits: [] }
    }),
  ].filter(({ callId, verdict }) => !isOver.has(callId) && (verdict !== "runs" || !isWaiting.has(callId)))
}
