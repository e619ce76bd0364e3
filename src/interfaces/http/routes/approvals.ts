import { z } from "zod"
import { totalWaiting, type Answer, type PendingItem } from "../../../core/approval.ts"
import { endings, type EndingCode } from "../../../core/result.ts"
import { firstText } from "../../../lib/first-text.ts"
import { cardOf } from "../../../approvals/card/card.ts"
import type { Caller } from "./caller.ts"
import { endpoint, type Api, type Endpoint } from "./endpoint.ts"
import { namesOf, findOutcome } from "./gone.ts"
import { copied } from "../../../messages/message.ts"
import { HttpProblem, notFound } from "./problem.ts"
import {
  answerBody,
  answered,
  digest,
  inbox,
  refused,
  standing,
  type AnswerBody,
  type Refused,
  type Standing,
} from "./schemas.ts"
import { card, type Card } from "../../../approvals/card/schema.ts"

const tag = "Approvals"
const callId = z.object({ id: z.string().min(1) })
const since = z.object({ since: z.coerce.number().min(0).optional() })

/** Cards as somebody is shown them. */
export function cardsOf({ app }: Api, caller: Caller, items: readonly PendingItem[]): Card[] {
  const isApprover = caller.kind === "person" && caller.scopes.includes("approve")
  return items.map((item) =>
    cardOf(item, {
      mayAddRules: caller.scopes.includes("manage"),
      tool: app.findTool(item.tool),
      department: app.org.view(item.agentId)?.department,
      mayAnswer: isApprover && app.approvals.votingProblem(item, caller.id) === undefined,
    }),
  )
}

const bands = { high: 0, medium: 1, low: 2 }

/** By risk, then by the time that is left. */
function byUrgency(one: Card, other: Card): number {
  return bands[one.risk.band] - bands[other.risk.band] || one.until - other.until
}

/** The most cards of a list, and how many are read at a time, because each may have large contents. */
const pageSize = 200
const readAtOnce = 20

/** A card whose contents are longer than this is listed without them. */
const maxListedLength = 10_000

async function readPage(api: Api, caller: Caller, cursor: string | undefined) {
  const items: Card[] = []
  let last = cursor === undefined ? undefined : readCursor(cursor)
  while (items.length < pageSize) {
    const found = await api.app.approvals.list({ after: last, limit: readAtOnce })
    for (const each of cardsOf(api, caller, found)) items.push(withoutLongContents(each))
    last = found.at(-1) ?? last
    if (found.length < readAtOnce) break
  }
  return { items, last }
}

function readCursor(cursor: string): Pick<PendingItem, "callId" | "createdAt"> {
  const [at = "", callId = ""] = cursor.split(" ")
  return { createdAt: Number(at) || 0, callId }
}

/** The risk and the title were found from the whole card. What is left out is read with the card itself. */
function withoutLongContents(whole: Card): Card {
  const { input, preview, result } = whole
  if (JSON.stringify([input, preview, result]).length <= maxListedLength) return whole
  const { callId, summary } = whole
  const shown = summary.length > 1000 ? `${summary.slice(0, 1000)}…` : summary
  // Nobody answers several calls at once of which the contents are not shown.
  const rest = { input: undefined, preview: undefined, result: undefined, alike: callId, summary: shown }
  return { ...whole, ...rest, isShortened: true }
}

/** Codes of calls that were refused without a person. */
export const refusals = (Object.keys(endings) as EndingCode[]).filter((code) => endings[code].exit === 3)

export const approvalEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "get",
    path: "/v1/approvals",
    summary: `What waits for a person, the oldest ${pageSize}: by risk, then by the time that is left. \`cursor\` begins the next page.`,
    tag,
    scope: "read",
    query: z.object({ cursor: z.string().optional() }),
    answers: { 200: inbox },
    async handle({ api, caller, query }) {
      const { items, last } = await readPage(api, caller, query.cursor)
      return {
        now: api.now(),
        items: items.sort(byUrgency),
        total: totalWaiting(await api.app.approvals.count()),
        ...(items.length < pageSize || last === undefined ? {} : { cursor: `${last.createdAt} ${last.callId}` }),
      }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/approvals/{id}",
    summary: "One item that waits. One that no longer does is 410, with who was first.",
    tag,
    scope: "read",
    params: callId,
    answers: { 200: card },
    async handle({ api, caller, params: { id } }) {
      const item = await api.app.approvals.show(id)
      if (item === undefined) throw await goneProblem(api.app, id, 410, "It no longer waits.")
      return cardsOf(api, caller, [item])[0]
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/approvals/{id}/standing",
    summary: "Where an item stands: it waits and is shown, somebody answered it, or it ended without an answer.",
    tag,
    scope: "read",
    params: callId,
    answers: { 200: standing },
    async handle({ api, caller, params: { id } }): Promise<Standing> {
      const item = await api.app.approvals.show(id)
      if (item !== undefined) return { state: "waiting", card: cardsOf(api, caller, [item])[0]! }
      const { why, by, did } = await findOutcome(api.app, id)
      return { state: why, ...(by === undefined ? {} : { by, name: namesOf(api.app, by) }), ...(did && { did }) }
    },
  }),
  endpoint({
    method: "post",
    path: "/v1/approvals/{id}/answer",
    summary: "Answers an item. The answer counts for the revision that the person saw.",
    tag,
    scope: "approve",
    params: callId,
    body: answerBody,
    answers: { 200: answered },
    handle: ({ api, caller, params, body }) => answerItem(api, caller, params.id, body),
  }),
  endpoint({
    method: "get",
    path: "/v1/refused",
    summary: "Calls that were refused without asking a person, newest first.",
    tag,
    scope: "read",
    query: since,
    answers: {
      200: z.object({ items: z.array(refused), total: z.number().describe("How many there are; 20 are told.") }),
    },
    async handle({ api, query }) {
      const { audit } = api.app
      const filter = { since: query.since ?? api.now() - 24 * 60 * 60_000, codes: refusals }
      const found = await audit.list({ ...filter, limit: 20 })
      const items = await Promise.all(found.map(({ callId: id, at, code }) => refusedCall(api, id, at, code!)))
      return { items, total: await audit.count(filter) }
    },
  }),
  endpoint({
    method: "get",
    path: "/v1/digest",
    summary: "What happened since a time, from the audit log.",
    tag,
    scope: "read",
    query: since,
    answers: { 200: digest },
    async handle({ api, query }) {
      const from = query.since ?? 0
      const { byEnding } = await api.app.audit.stats({ since: from })
      const sum = (codes: readonly string[]) => codes.reduce((total, code) => total + (byEnding[code] ?? 0), 0)
      const waiting = totalWaiting(await api.app.approvals.count({ since: from }))
      return {
        since: from,
        now: api.now(),
        ran: sum(["success", "tool_failed", "timeout", "output_invalid"]),
        waited: waiting + (await api.app.audit.count({ since: from, withEntry: ["asked", "held"] })),
        refused: sum(refusals),
        expired: sum(["approval_expired"]),
      }
    },
  }),
]

async function answerItem({ app }: Api, caller: Caller, id: string, { revision, answer }: AnswerBody) {
  if (answer.kind === "approve-with-rule" && !caller.scopes.includes("manage"))
    throw new HttpProblem(403, "Only people who may manage add rules.", { code: "missing_scope" })
  const ended =
    answer.kind === "approve-with-rule"
      ? await app.approvals.approveWithRule(id, { ...answer, by: caller.id, revision })
      : await app.approvals.answer(id, answer as Answer, caller.id, revision)
  if (!ended.ok) throw await refusalProblem(app, id, revision, ended.sentence)
  // An edited call comes back as a new revision.
  return {
    done: ended.done && answer.kind !== "edit",
    message: { code: ended.code, params: copied(ended.params), text: ended.sentence },
    grantId: ended.grant?.id,
  }
}

/** Says why an answer did not count: the item has changed, somebody was first, or nobody answered in time. */
async function refusalProblem(app: Api["app"], id: string, revision: number, sentence: string): Promise<HttpProblem> {
  const item = await app.approvals.show(id)
  if (item !== undefined)
    return new HttpProblem(item.revision === revision ? 422 : 409, sentence, {
      code: item.revision === revision ? "not_counted" : "changed",
    })
  return goneProblem(app, id, 409, sentence)
}

/** Says why an item no longer waits: somebody answered it, or nobody did in time. */
export async function goneProblem(app: Api["app"], id: string, status: number, sentence: string): Promise<HttpProblem> {
  const { why, by, did } = await findOutcome(app, id)
  if (why === "unknown") return notFound("waiting call", id)
  if (by === undefined) return new HttpProblem(status, sentence, { code: why })
  const name = namesOf(app, by)
  return new HttpProblem(status, sentence, { code: why, by, name, ...(did === undefined ? {} : { did }) })
}

async function refusedCall({ app }: Api, callId: string, at: number, code: EndingCode): Promise<Refused> {
  const end = (await app.audit.show(callId)).find((entry) => entry.kind === "end")
  if (end?.kind !== "end") return { callId, at, agentId: "", tool: "", summary: "", code, reasons: [], change: [] }
  const { agentId, tool, sessionId, input = "", inputDigest, reasons = [] } = end
  const now = await app.why({ agentId, tool, sessionId, input: asValue(input) }).catch(() => undefined)
  // Of an input that was masked or cut it is not known what it touches.
  const mayDraft = inputDigest === undefined && app.findTool(tool)?.destructive !== true
  return {
    callId,
    at,
    agentId,
    tool,
    summary: firstText(input),
    code,
    reasons:
      reasons.length > 0
        ? reasons.map(({ code: why, params, sentence }) => ({ code: why, params: copied(params), text: sentence }))
        : [{ code, text: end.error ?? code }],
    change: now?.verdict === "allow" ? ["Nothing: the same call would run now."] : [...(now?.change ?? [])],
    draft: mayDraft ? now?.rule : undefined,
  }
}

function asValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
