import type { ResultImage } from "../../core/result-image.ts"
import type { ModelMessage, ModelTool } from "../models/port.ts"
import { lengthOfParts } from "../models/usage.ts"
import type { ChainTurn } from "./turns.ts"

/** The assumed context of a model without `contextTokens`. */
export const defaultContextTokens = 128_000

/** The parts of a request. */
export interface RequestParts {
  messages: readonly ModelMessage[]
  tools: readonly ModelTool[]
}

/**
 * Counts the tokens of the next request. Up to the last answer that is the provider's own count; what came after it is
 * estimated, and so is everything when the provider counted nothing or the context was compressed since.
 */
export function countTokens(turns: readonly ChainTurn[], { messages, tools }: RequestParts): number {
  const counted = lastCount(turns)
  if (counted === undefined) return tokensOfMessages(messages) + tokensOfTools(tools)
  const answer = messages.findLastIndex(({ role }) => role === "assistant")
  return counted + tokensOfMessages(messages.slice(answer + 1))
}

const knownTokens = new WeakMap<readonly ModelTool[], number>()

/** Tools are the same list as long as nothing about them changes. */
export function tokensOfTools(tools: readonly ModelTool[]): number {
  const tokens = knownTokens.get(tools) ?? estimateTokens(tools)
  knownTokens.set(tools, tokens)
  return tokens
}

/** Four bytes are about one token, in English and in Chinese. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 4)
}

/** The tokens of one turn of a conversation, as the model is sent it. */
export function tokensOfTurn(turn: ChainTurn): number {
  if (turn.kind === "user") return tokensOfText(turn.body.text, turn.body.images)
  return turn.kind === "results" ? Math.ceil(lengthOfParts(turn.body.results) / 4) : estimateTokens(turn.body)
}

function tokensOfMessages(messages: readonly ModelMessage[]): number {
  if (!messages.some(hasImage)) return estimateTokens(messages)
  return messages.reduce((sum, message) => sum + tokensOfMessage(message), 0)
}

function hasImage(message: ModelMessage): boolean {
  if (message.role === "user") return message.images !== undefined
  return message.role === "tool" && message.content.some(({ image }) => image !== undefined)
}

/** About 20 bytes of each message are its frame. */
function tokensOfMessage(message: ModelMessage): number {
  if (message.role === "tool") return 5 + Math.ceil(lengthOfParts(message.content) / 4)
  if (message.role === "user") return tokensOfText(message.content, message.images)
  return estimateTokens(message)
}

function tokensOfText(text: string, images: readonly ResultImage[] = []): number {
  return 5 + estimateTokens(text) + Math.ceil(lengthOfParts(images.map((image) => ({ image }))) / 4)
}

/** The tokens of the last request and its answer, as the provider counted them. */
function lastCount(turns: readonly ChainTurn[]): number | undefined {
  const last = turns.findLast(({ kind }) => kind === "assistant" || kind === "summary" || kind === "references")
  if (last?.kind !== "assistant" || last.body.usage.estimated === true) return undefined
  return last.body.usage.inputTokens + last.body.usage.outputTokens
}
