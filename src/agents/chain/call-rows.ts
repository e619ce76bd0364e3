import type { AuditEntry } from "../../core/audit-entry.ts"
import type { Conversation, OpenCall } from "../../core/conversation.ts"
import { callTitle } from "../../approvals/card/card.ts"
import type { Card } from "../../approvals/card/schema.ts"
import { shownTouches } from "../../approvals/card/view.ts"
import { waitedMs } from "../../approvals/waits.ts"
import { firstText } from "../../lib/first-text.ts"
import type { AgentTools } from "../../registry/agent-tools.ts"
import type { AssistantTurn, CallResult, ChainTurn, ResultsTurn } from "../context/turns.ts"
import type { ModelCall } from "../models/port.ts"
import { touchesOf } from "./touches-of.ts"

/** The parts that rows are made of. */
export interface RowParts extends Pick<AgentTools, "findTool" | "visibleTool"> {
  audit: { showMany(callIds: readonly string[]): Promise<ReadonlyMap<string, readonly AuditEntry[]>> }
  /** Resolves when what has ended is in the audit log. */
  settle(): Promise<void>
  conversations: {
    callsOfAnswer(
      conversation: Pick<Conversation, "id" | "agentId">,
      turn: number,
      count: number,
    ): Promise<readonly (OpenCall | undefined)[]>
  }
}

/** A tool call of a conversation as people are shown it: where it stands, what it touches, who answered. */
export interface CallRow {
  /** Its place in the answer. */
  place: number
  /** Undefined for a call that was answered without being made. */
  callId?: string
  tool: string
  title: Card["title"]
  summary: string
  intent?: string
  state: "running" | "waiting" | "held" | "ended"
  status?: string
  code?: string
  asked: boolean
  held: boolean
  ran?: boolean
  by?: string
  startedAt?: number
  durationMs?: number
  waitedMs?: number
  /** While a person is asked: the id of the card. */
  card?: string
  /** Masked, as it was recorded. */
  input: string
  /** The text that the model was told. */
  result?: string
  imageType?: string
}

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
  app: RowParts,
  conversation: Pick<Conversation, "id" | "agentId">,
  answers: readonly AnswerWithCalls[],
  whole = false,
): Promise<ReadonlyMap<number, CallRow[]>> {
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
      body.calls.map((call, place): CallRow => {
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
  result: CallResult | undefined
  callId: string | undefined
  state: string | undefined
  recorded: readonly AuditEntry[]
}

function rowOf(
  app: RowParts,
  { agentId }: Pick<Conversation, "agentId">,
  { call, place, result, callId, state, recorded }: Found,
  most: number,
): CallRow {
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
    ...(result?.image !== undefined && { imageType: result.image.mimeType }),
  }
}

function stateNow(state: string | undefined): CallRow["state"] {
  return state === "waiting" || state === "held" ? state : state === "ended" ? "ended" : "running"
}

/** Returns the title of a call from its touches, as its card has it. */
export function titleOf(app: RowParts, agentId: string, { name, input }: ModelCall): Card["title"] {
  const tool = app.visibleTool(agentId, name) ?? app.findTool(name)
  const list = tool === undefined || input === undefined ? [] : touchesOf(tool, input)
  const command = list.find(({ kind }) => kind === "command")
  const touches = { list: shownTouches({ touches: { list, proved: true } }, tool), proved: true }
  const item = { kind: "call" as const, agentId, tool: tool?.name ?? name, touches }
  if (command === undefined) return callTitle(item, tool)
  const previewData = {
    kind: "command" as const,
    command: command.what,
    network: command.network ?? false,
    details: [],
  }
  return callTitle({ ...item, previewData }, tool)
}

/** The answers in these turns with their results. */
export function answersIn(turns: readonly ChainTurn[], wanted: ReadonlySet<ChainTurn>): AnswerWithCalls[] {
  return turns.flatMap((turn, place) => {
    if (turn.kind !== "assistant" || !wanted.has(turn)) return []
    const next = turns.slice(place + 1).find(({ kind }) => kind === "results" || kind === "assistant")
    return [{ index: turn.index, body: turn.body, results: next?.kind === "results" ? next.body : undefined }]
  })
}
