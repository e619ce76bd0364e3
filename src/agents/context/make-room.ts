import { counted } from "../../lib/counted.ts"
import type { NewTurn } from "../../core/conversation.ts"
import { contextThresholds } from "../../tools/context/context.ts"
import { messagesOf } from "./messages.ts"
import type { ChainTurn } from "./turns.ts"
import { ModelError } from "../models/model-error.ts"
import type { LanguageModel, ModelMessage, ModelTool, ModelTurn } from "../models/port.ts"
import { cutForSize, isMessage, shownFrom } from "./cut.ts"
import { summarise, withoutModel } from "./summarise.ts"
import { countTokens, defaultContextTokens, estimateTokens, tokensOfTools, tokensOfTurn } from "./tokens.ts"

/** A conversation that may have to be shortened before the model is asked. */
export interface Shortenable {
  model: LanguageModel
  turns(): readonly ChainTurn[]
  instructions: string | undefined
  tools: readonly ModelTool[]
  /** Ends the request for a summary. */
  signal(): AbortSignal
  append(turns: readonly NewTurn[]): Promise<unknown>
  /** The summary costs tokens too. */
  onSummary(turn: ModelTurn): void
}

/** From this share of the context window on, older turns become a summary: the answer needs the rest. */
const summariseFrom = 0.8
/** The share of the context window that the last turns may keep. */
const keepShare = 0.3

/** Reports whether a request should be shortened before it is made. */
export function needsRoom(conversation: Shortenable, messages: readonly ModelMessage[]): boolean {
  const used = countTokens(conversation.turns(), { messages, tools: conversation.tools })
  return used >= maxTokens(conversation) * contextThresholds.warning
}

/**
 * Shortens a conversation that fills its context window: first, results that can be read again become references; if that
 * is not enough, older turns become a summary. `refused` is how often the provider has already refused the request as too
 * long; then it is shortened whatever the count says. Throws when the tools alone are too long.
 */
export async function makeRoom(conversation: Shortenable, refused: number): Promise<void> {
  const max = maxTokens(conversation)
  refuseTooManyTools(conversation, max)
  const references = readableAgain(conversation.turns())
  if (references.length > 0) await conversation.append([{ kind: "references", body: { refs: references } }])
  if (tokensOf(conversation) < max * summariseFrom && refused === 0) return
  await summariseOlder(conversation, max, keepShare / (refused + 1))
}

function maxTokens({ model }: Shortenable): number {
  return model.contextTokens ?? defaultContextTokens
}

function tokensOf({ turns, instructions, tools }: Shortenable): number {
  return countTokens(turns(), { messages: messagesOf(turns(), instructions), tools })
}

/** Results that a call would give again, but not those of the last answer. */
function readableAgain(turns: readonly ChainTurn[]): string[] {
  const gone = new Set(turns.flatMap((turn) => (turn.kind === "references" ? turn.body.refs : [])))
  const last = turns.findLast(({ kind }) => kind === "results")
  const start = shownFrom(turns)
  return turns.flatMap((turn) =>
    turn.kind !== "results" || turn === last || turn.index < start
      ? []
      : turn.body.results
          .filter(({ ref, canBeReadAgain, text }) => canBeReadAgain === true && text.length > 200 && !gone.has(ref))
          .map(({ ref }) => ref),
  )
}

async function summariseOlder(conversation: Shortenable, max: number, keep: number): Promise<void> {
  const turns = conversation.turns()
  const before = cutForSize(turns, max * keep, (turn) => (isMessage(turn) ? tokensOfTurn(turn) : 0))
  if (before === undefined) return
  const start = shownFrom(turns)
  const former = turns.findLast(({ kind }) => kind === "summary")
  const older = turns.filter((turn) => isMessage(turn) && turn.index >= start && turn.index < before)
  const text = await summaryOf(conversation, former === undefined ? older : [former, ...older], max)
  await conversation.append([{ kind: "summary", body: { text, before } }])
}

async function summaryOf(conversation: Shortenable, turns: readonly ChainTurn[], max: number): Promise<string> {
  const { model } = conversation
  const signal = conversation.signal()
  try {
    const turn = await summarise(model, turns, {
      // Three bytes a token, to be on the safe side.
      characters: Math.floor(max * 0.5 * 3),
      maxOutputTokens: Math.max(200, Math.min(2000, Math.floor(max * 0.15))),
      signal,
    })
    conversation.onSummary(turn)
    if (turn.text.trim() !== "") return turn.text.trim()
  } catch (error) {
    if (signal.aborted) throw error
  }
  return withoutModel(turns)
}

function refuseTooManyTools({ model, instructions, tools }: Shortenable, max: number): void {
  const needed = tokensOfTools(tools) + estimateTokens(instructions ?? "")
  if (needed < max * summariseFrom) return
  throw new ModelError(
    "context_exceeded",
    `The definitions of ${counted(tools.length, "tool")} and the instructions need about ${needed} tokens, and the model '${model.name}' has ${max}. Offer it fewer tools (toolGroups of its role, or the option tools), or use a model with more context.`,
  )
}
