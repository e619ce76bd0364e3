import type { AuditEntry } from "../../../core/audit-entry.ts"
import type { Conversation } from "../../../core/conversation.ts"
import type { PendingItem } from "../../../core/approval.ts"
import { touchesOf } from "../../../agents/chain/touches-of.ts"
import type { AssistantTurn, CallResult, ResultsTurn } from "../../../agents/context/turns.ts"
import type { ModelCall } from "../../../agents/models/port.ts"
import { cardOf } from "../../../approvals/card/card.ts"
import { waitedMs } from "../../../approvals/waits.ts"
import { firstText } from "../../../lib/first-text.ts"
import type { Message } from "../../../messages/message.ts"
import type { CallRowJson } from "./chain-schemas.ts"
import type { Api } from "./endpoint.ts"

/** The most characters of an input and of a result in a row. */
const longest = 10_000

/** An answer with calls, and their results where they have all ended. */
export interface AnswerWithCalls {
  index: number
  body: AssistantTurn
  results: ResultsTurn | undefined
}

/** The rows of the calls of these answers, by the index of the answer. */
export async function callRows(
  { app }: Api,
  conversation: Pick<Conversation, "id" | "agentId">,
  answers: readonly AnswerWithCalls[],
  whole = false,
): Promise<ReadonlyMap<number, CallRowJson[]>> {
  const withCalls = answers.filter(({ body }) => body.calls.length > 0)
  if (withCalls.length === 0) return new Map()
  await app.settle()
  const open = await Promise.all(
    withCalls.map(async ({ index, body, results }) =>
      results === undefined ? app.conversations.callsOfAnswer(conversation, index, body.calls.length) : [],
    ),
  )
  const ids = withCalls.flatMap(({ results }, place) => [
    ...(results?.results ?? []).map(({ callId }) => callId),
    ...open[place]!.map((call) => call?.callId),
  ])
  const entries = await app.audit.showMany(ids.filter((id) => id !== undefined))
  return new Map(
    withCalls.map(({ index, body, results }, at) => [
      index,
      body.calls.map((call, place) => {
        const result = results?.results[place]
        const stored = open[at]![place]
        const callId = result?.callId ?? stored?.callId
        const found = {
          call,
          place,
          index,
          result,
          callId,
          state: stored?.state,
          recorded: entries.get(callId ?? "") ?? [],
        }
        return rowOf(app, conversation, found, whole ? Infinity : longest)
      }),
    ]),
  )
}

interface Found {
  call: ModelCall
  place: number
  /** The turn of the answer. */
  index: number
  result: CallResult | undefined
  callId: string | undefined
  state: string | undefined
  recorded: readonly AuditEntry[]
}

function rowOf(
  app: Api["app"],
  { id, agentId }: Pick<Conversation, "id" | "agentId">,
  { call, place, index, result, callId, state, recorded }: Found,
  most: number,
): CallRowJson {
  const kinds = (...wanted: readonly AuditEntry["kind"][]) => recorded.filter(({ kind }) => wanted.includes(kind))
  const end = recorded.find((entry) => entry.kind === "end")
  const input =
    recorded.map((each) => ("input" in each ? each.input : undefined)).find((text) => text !== undefined) ?? ""
  const answer = kinds("answered", "released", "withheld").at(-1)
  const by = answer !== undefined && "by" in answer ? answer.by : undefined
  const waited = waitedMs(recorded)
  const now = result !== undefined || end !== undefined ? "ended" : stateNow(state)
  const code = end?.code ?? result?.code
  const intent = recorded.map((each) => ("intent" in each ? each.intent : undefined)).find((text) => text !== undefined)
  const startedAt = end?.startedAt ?? kinds("start")[0]?.at
  const durationMs = end?.durationMs ?? result?.durationMs
  return {
    place,
    tool: call.name,
    title: titleOf(app, agentId, call),
    summary: firstText(input),
    state: now,
    asked: kinds("asked").length > 0 || now === "waiting",
    held: kinds("held").length > 0 || now === "held",
    input: input.slice(0, most),
    ...(callId !== undefined && { callId }),
    ...(intent !== undefined && { intent }),
    ...(now === "ended" && { status: result?.status ?? end?.status ?? "not_executed" }),
    ...(code !== undefined && { code }),
    ...(end?.kind === "end" && { ran: end.ran }),
    ...(by !== undefined && { by }),
    ...(startedAt !== undefined && { startedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(waited !== undefined && { waitedMs: waited }),
    ...((now === "waiting" || now === "held") && callId !== undefined && { card: callId }),
    ...(result !== undefined && { result: result.text.slice(0, most) }),
    ...(result?.image !== undefined && {
      image: { mimeType: result.image.mimeType, href: imageHref(id, `${index}`, `call-${place}`) },
    }),
  }
}

export function imageHref(id: string, turn: string, place: string): string {
  return `/v1/chains/${encodeURIComponent(id)}/images/${turn}/${place}`
}

function stateNow(state: string | undefined): CallRowJson["state"] {
  return state === "waiting" || state === "held" ? state : state === "ended" ? "ended" : "running"
}

/** What a call touches, as the title of its card says it. */
export function titleOf(app: Api["app"], agentId: string, { name, input }: ModelCall): Message {
  const tool = app.visibleTool(agentId, name) ?? app.findTool(name)
  const list = tool === undefined || input === undefined ? [] : touchesOf(tool, input)
  const command = list.find(({ kind }) => kind === "command")
  const item: PendingItem = {
    ...nothingAsked,
    agentId,
    tool: tool?.name ?? name,
    touches: { list, proved: true },
    ...(command !== undefined && {
      previewData: { kind: "command", command: command.what, network: command.network ?? false, details: [] },
    }),
  }
  const context = { mayAddRules: false, tool, department: undefined, mayAnswer: false, knownHosts: new Set<string>() }
  return cardOf(item, context).title
}

const nothingAsked = {
  callId: "",
  kind: "call",
  role: "",
  ancestors: [],
  description: "",
  level: "public",
  input: undefined,
  reasons: [],
  revision: 1,
  votes: [],
  approvers: [],
  remember: [],
  sessionId: "",
  createdAt: 0,
  until: 0,
} as const
