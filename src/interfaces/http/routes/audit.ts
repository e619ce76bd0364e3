import { z } from "zod"
import { csvLine } from "../../../lib/csv.ts"
import type { ExportedCall } from "../../../audit/audit-reader.ts"
import { exportedColumns } from "../../../audit/exported-call.ts"
import { withoutStack } from "../../../core/audit-entry.ts"
import type { AuditRow } from "../../../store/port.ts"
import { endpoint, RawReply, type Endpoint } from "./endpoint.ts"
import { notFound } from "./problem.ts"
import { auditEntry, auditRow, charts, type Charts } from "./audit-schemas.ts"
import { withDetails } from "./audit-rows.ts"
import { chartsOf } from "./charts.ts"

const tag = "Audit"
const filter = z.object({
  agentId: z.string().min(1).optional(),
  tool: z.string().min(1).optional(),
  taskId: z.string().min(1).optional(),
  status: z.string().min(1).optional().describe("A status or a code."),
  since: z.coerce.number().min(0).optional(),
  until: z.coerce.number().min(0).optional(),
})

type Filter = z.output<typeof filter>

/** Without the keys that were not given. */
function given({ agentId, tool, taskId, status, since, until }: Filter) {
  return {
    ...(agentId === undefined ? {} : { agentId }),
    ...(tool === undefined ? {} : { tool }),
    ...(taskId === undefined ? {} : { taskId }),
    ...(status === undefined ? {} : { status }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

export const auditEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/audit",
    summary: "Ended calls, newest first. `cursor` of one page begins the next.",
    tag,
    scope: "read",
    query: filter.extend({ limit: z.coerce.number().int().min(1).max(500).optional(), cursor: z.string().optional() }),
    answers: { 200: z.object({ items: z.array(auditRow), cursor: z.string().optional() }) },
    async handle({ api: { app }, query }) {
      const { limit = 50, cursor } = query
      await app.settle()
      const place = cursor === undefined ? undefined : readCursor(cursor)
      const until = place === undefined ? query.until : Math.min(query.until ?? Infinity, place.at + 1)
      // Calls of the same millisecond may be on both pages; those that were on the former are left out.
      const rows = await app.audit.list({ ...given({ ...query, until }), limit: limit + 1 + (place?.seen.length ?? 0) })
      const fresh = rows.filter(
        ({ at, callId }) => place === undefined || at < place.at || !place.seen.includes(callId),
      )
      const items = fresh.slice(0, limit)
      const told = await withDetails(app, items)
      return fresh.length > limit ? { items: told, cursor: cursorAfter(items, place) } : { items: told }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/audit/charts",
    summary: "Calls, endings, times and waiting times per hour.",
    tag,
    scope: "read",
    query: filter,
    answers: { 200: charts },
    async handle({ api: { app, now }, query }): Promise<Charts> {
      await app.settle()
      const since = query.since ?? now() - 24 * 60 * 60_000
      return chartsOf(app, { ...given(query), since }, now())
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/audit/export",
    summary: "Every ended call, oldest first, as JSON lines or CSV.",
    tag,
    scope: "read",
    query: filter.extend({ format: z.enum(["jsonl", "csv"]).optional() }),
    answers: { 200: undefined },
    handle({ api: { app }, query }) {
      const isCsv = query.format === "csv"
      const line = (call: ExportedCall) =>
        isCsv ? csvLine(exportedColumns.map((column) => call[column])) : `${JSON.stringify(call)}\n`
      const rows = app.audit.export(given(query))
      async function* lines() {
        if (isCsv) yield csvLine(exportedColumns)
        for await (const row of rows) yield line(row)
      }
      return new RawReply(lines(), {
        "content-type": isCsv ? "text/csv; charset=utf-8" : "application/x-ndjson",
        "content-disposition": `attachment; filename="quartermaster-audit.${isCsv ? "csv" : "jsonl"}"`,
      })
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/audit/verify",
    summary: "Checks that no entry was changed or removed.",
    tag,
    scope: "read",
    body: z.object({
      head: z.string().optional().describe("An earlier checkpoint that must still be part of the log."),
    }),
    answers: {
      200: z.union([
        z.object({ ok: z.literal(true), records: z.number(), chains: z.number() }),
        z.object({ ok: z.literal(false), problem: z.string(), record: z.string() }),
      ]),
    },
    handle: ({ api, body }) => api.app.audit.verify(body.head),
  }),
  endpoint({
    method: "get",
    path: "/v1/audit/head",
    summary: "A checkpoint hash of the log, to store elsewhere for a later verify.",
    tag,
    scope: "read",
    answers: { 200: z.object({ head: z.string() }) },
    handle: async ({ api }) => ({ head: await api.app.audit.head() }),
  }),
  endpoint({
    method: "get",
    path: "/v1/audit/{id}",
    summary: "All entries of one call.",
    tag,
    scope: "any",
    params: z.object({ id: z.string().min(1) }),
    answers: { 200: z.object({ items: z.array(auditEntry) }) },
    async handle({ api: { app }, caller, params: { id } }) {
      await app.settle()
      const items = (await app.audit.show(id)).map(withoutStack)
      const isOwn = items.some((entry) => entry.agentId === caller.id)
      if (items.length === 0 || (caller.kind === "agent" ? !isOwn : !caller.scopes.includes("read")))
        throw notFound("call", id)
      return { items }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/stats",
    summary: "Numbers of calls by tool, agent, role, ending and hour.",
    tag,
    scope: "read",
    query: filter,
    answers: { 200: z.looseObject({ total: z.number(), failures: z.number() }) },
    async handle({ api: { app }, query }) {
      await app.settle()
      return app.audit.stats(given(query))
    },
  }),
]

interface Place {
  at: number
  /** The calls of that millisecond which were shown. */
  seen: string[]
}

function cursorAfter(items: readonly AuditRow[], before: Place | undefined): string {
  const { at } = items.at(-1)!
  const earlier = before?.at === at ? before.seen : []
  const place: Place = { at, seen: [...earlier, ...items.filter((row) => row.at === at).map(({ callId }) => callId)] }
  return Buffer.from(JSON.stringify(place)).toString("base64url")
}

function readCursor(cursor: string): Place | undefined {
  try {
    const place = JSON.parse(Buffer.from(cursor, "base64url").toString()) as Partial<Place>
    return typeof place.at === "number" && Array.isArray(place.seen) ? (place as Place) : undefined
  } catch {
    return undefined
  }
}
