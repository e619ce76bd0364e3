import type { AnswerPieceJson, UnfinishedJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"

/** An answer that is being written, as far as this page has it. */
export type Written = UnfinishedJson

/**
 * The answer with one more piece. Undefined when a piece is missing before it: then the server is asked for the whole.
 */
export function withPiece(now: Written | undefined, piece: AnswerPieceJson): Written | undefined {
  const { turn, attempt, interrupted, part, offset, text } = piece
  const isOlder = now !== undefined && (turn < now.turn || (turn === now.turn && attempt < now.attempt))
  if (isOlder) return now
  const same = now?.turn === turn && now.attempt === attempt
  const before = same ? now : { turn, attempt, interrupted, text: "", reasoning: "" }
  if (offset > before[part].length) return undefined
  // Text behind the offset is written anew: a stream that begins gives everything once more.
  return { ...before, interrupted, [part]: before[part].slice(0, offset) + text }
}

/** The further one of two states of the same answer. */
export function further(one: Written | undefined, other: Written | undefined): Written | undefined {
  if (one === undefined || other === undefined) return one ?? other
  if (one.turn !== other.turn) return one.turn > other.turn ? one : other
  if (one.attempt !== other.attempt) return one.attempt > other.attempt ? one : other
  return one.text.length + one.reasoning.length >= other.text.length + other.reasoning.length ? one : other
}
