import type { Turn } from "../../core/conversation.ts"
import type { Message } from "../../core/organisation.ts"
import type { ResultImage } from "../../core/result-image.ts"
import type { EndingCode, ToolExecuteStatus } from "../../core/result.ts"
import type { Reflection } from "../reflection/reflector.ts"
import type { AssistantPart, FinishReason, ModelCall, ModelUsage } from "../models/port.ts"

/** A turn of a conversation. The turns are its whole state: what happens next follows from them alone. */
export type ChainTurn = { index: number; at: number } & (
  | { kind: "user"; body: UserTurn }
  | { kind: "assistant"; body: AssistantTurn }
  | { kind: "results"; body: ResultsTurn }
  | { kind: "summary"; body: SummaryTurn }
  | { kind: "references"; body: ReferencesTurn }
  | { kind: "budget"; body: BudgetTurn }
  | { kind: "hops"; body: HopsTurn }
  /** The decision after calls of the turn before it failed. */
  | { kind: "reflection"; body: Reflection }
  | { kind: "stop"; body: { by: string } }
  /** A person took a message back before the model had read it. The message itself becomes one of these when it is read. */
  | { kind: "taken-back"; body: { index: number; by: string } }
  /** The run goes on after the model had failed. */
  | { kind: "retry"; body: { by: string } }
  | { kind: "end"; body: EndTurn }
)

export interface UserTurn {
  text: string
  /** True if it begins a new run with limits of its own; text that steers a run, and our own hints, do not. */
  begins: boolean
  by: string
  /** Pictures for a model that sees. */
  images?: readonly ResultImage[]
  /** The message that the text quotes. */
  message?: DeliveredMessage
}

export type DeliveredMessage = Pick<
  Message,
  "id" | "from" | "kind" | "hops" | "userId" | "taskId" | "conversationId" | "root"
>

/** The lines before and after the text of a message. Its id did not exist when the text was written. */
export function messageMarks(id: string): readonly [begin: string, end: string] {
  return [`<message-${id}>\n`, `\n</message-${id}>`]
}

/** Returns the text that was said: of a message the text that it quotes. */
export function saidText({ text, message }: Pick<UserTurn, "text" | "message">): string {
  if (message === undefined) return text
  const [begin, end] = messageMarks(message.id)
  const from = text.indexOf(begin)
  const to = text.lastIndexOf(end)
  return from === -1 || to < from + begin.length ? text : wordsOf(text.slice(from + begin.length, to))
}

/** The words of a message. Those of a first task have an object around them. */
function wordsOf(payload: string): string {
  if (!payload.startsWith("{")) return payload
  try {
    const { message_type: type, message, ...more } = JSON.parse(payload) as Readonly<Record<string, unknown>>
    const isTask = type === "task_assignment" && typeof message === "string" && Object.keys(more).length === 0
    return isTask ? message : payload
  } catch {
    return payload
  }
}

export interface AssistantTurn {
  content: readonly AssistantPart[]
  text: string
  calls: readonly ModelCall[]
  describedCall: boolean
  finishReason: FinishReason
  usage: ModelUsage
  cost?: number
  model: string
  /** The number of turns the model had read. Messages that came while it answered are unread. */
  read?: number
  /** It was asked anew after its process had ended in the middle of an answer. */
  interrupted?: true
}

/** The answers to the calls of the assistant turn before it, in the order of the calls. */
export interface ResultsTurn {
  results: readonly CallResult[]
}

/** The outcome of one call, as the model was told. */
export interface CallResult {
  /** The model's id of the call. */
  id: string
  name: string
  /** The text for the model. Nothing that a person withheld is in it. */
  text: string
  /** The place of the tool's value in the text, as far as it is shown; a person's words and cuts are around it. */
  value?: { start: number; end: number; isJson: boolean }
  isError: boolean
  /** The image in the result, where the model sees images. */
  image?: ResultImage
  /** Our id of the call. Undefined when it was answered without being made. */
  callId?: string
  status?: ToolExecuteStatus
  code?: EndingCode
  durationMs?: number
  /** The number of calls its tool made in turn. */
  subCalls?: number
  /** True if the call failed, also when it was tried again, for a reason that may pass. */
  transient?: boolean
  /** The number by which the model may pass this result on: `{"$ref": "r3"}`. */
  ref: string
  /** True if the same call made again would give it again, so that it need not stay in the context. */
  canBeReadAgain?: boolean
}

/** Stands in place of all turns before `before`. */
export interface SummaryTurn {
  text: string
  before: number
}

/** Results that the model is shown only as a reference from now on. */
export interface ReferencesTurn {
  refs: readonly string[]
}

/** A person gave more, or refused to, when the budget was used up. */
export interface BudgetTurn {
  /** The call that asked. Several conversations of a tree may report the same one. */
  callId: string
  /** Whose budget it was: that of the whole tree (left out), or that of the conversation's agent. */
  of?: "agent"
  moreTokens: number
  moreCost: number
  moreCalls?: number
}

/** A person let messages go on, or did not, when many had led to a run. */
export interface HopsTurn {
  callId: string
  /** The number of hops allowed before. */
  after: number
  /** The number of further hops allowed; 0 when the person said no, null when the question was taken back. */
  more: number | null
}

export type ChainStatus = "completed" | "aborted" | "error" | "limit"

/** The end of a run. The conversation can go on with a new message. */
export interface EndTurn {
  status: ChainStatus
  error?: string
  /** The ids of the messages that were answered with it. */
  answered?: readonly string[]
}

/** Turns as the store returns them. Only this loop writes them. */
export function chainTurns(turns: readonly Pick<Turn, "kind" | "body">[]): ChainTurn[] {
  return turns as unknown as ChainTurn[]
}

/** Leaves out the messages that were taken back. */
export function withoutTakenBack(turns: readonly ChainTurn[]): ChainTurn[] {
  const taken = new Map(turns.flatMap((turn) => (turn.kind === "taken-back" ? [[turn.body.index, turn.body]] : [])))
  return turns.map((turn) => {
    const body = turn.kind === "user" ? taken.get(turn.index) : undefined
    return body === undefined ? turn : { index: turn.index, at: turn.at, kind: "taken-back", body }
  })
}

/** Reports whether a person can take a turn back as long as it is unread. */
export function canBeTakenBack(turn: ChainTurn | undefined): turn is Extract<ChainTurn, { kind: "user" }> {
  return turn?.kind === "user" && !turn.body.begins && turn.body.by !== hintsBy && turn.body.message === undefined
}

/** Returns the number of turns the model had read for its last answer. */
export function readForAnswer(turns: readonly ChainTurn[]): number {
  const answer = turns.findLast(({ kind }) => kind === "assistant")
  return answer?.kind === "assistant" ? (answer.body.read ?? answer.index) : 0
}

/** The turns of the current run: from the last message that began one. It may be the given list itself. */
export function currentRun(turns: readonly ChainTurn[]): readonly ChainTurn[] {
  const start = turns.findLastIndex((turn) => turn.kind === "user" && turn.body.begins)
  return start <= 0 ? turns : turns.slice(start)
}

/**
 * The person for whom a run works: whoever began it, by a text or through messages. It stays so, whoever writes or resumes
 * it later. Undefined for nobody, and for a run that nobody has begun yet.
 */
export function personOf([first]: readonly ChainTurn[]): string | undefined {
  if (first?.kind !== "user" || !first.body.begins) return undefined
  const { message, by } = first.body
  if (message !== undefined) return message.userId
  return by === unnamedPerson ? undefined : by
}

/** The conversation at the top of the tree that a run belongs to: that of the message that began it, or its own. */
export function treeOf([first]: readonly ChainTurn[], conversationId: string): string {
  return (first?.kind === "user" ? first.body.message?.root : undefined) ?? conversationId
}

/** The author of our hints to the model. */
export const hintsBy = "quartermaster"

/** The speaker in a conversation that belongs to no person by name. */
export const unnamedPerson = "user"

/** The messages that a run was given. */
export function messagesIn(run: readonly ChainTurn[]): DeliveredMessage[] {
  return run.flatMap((turn) => (turn.kind === "user" && turn.body.message !== undefined ? [turn.body.message] : []))
}

/** The last assistant turn whose calls have no answers yet. */
export function unanswered(turns: readonly ChainTurn[]): (ChainTurn & { kind: "assistant" }) | undefined {
  const last = turns.findLastIndex((turn) => turn.kind === "assistant")
  const turn = turns[last]
  if (turn?.kind !== "assistant" || turn.body.calls.length === 0) return undefined
  return turns.slice(last + 1).some(({ kind }) => kind === "results") ? undefined : turn
}
