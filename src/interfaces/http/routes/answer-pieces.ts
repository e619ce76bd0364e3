import type { AnswerInProgress, AnswersInProgress } from "../../../agents/chain/answers-in-progress.ts"
import type { AnswerPieceJson } from "./chain-schemas.ts"

/** Pieces are joined for so long, so that a model that writes fast wakes its readers seldom. */
const joinMs = 30

/** The most characters of a piece. */
const longest = 16_000

/** The position of a reader in one answer. */
interface Place {
  turn: number
  attempt: number
  text: number
  reasoning: number
}

/**
 * The answers as one reader is told them. Nothing is queued for it: it is known how far it is, and a reader that is behind
 * takes what came meanwhile as one piece.
 */
export function answerPieces(
  answers: AnswersInProgress,
  maySee: (answer: AnswerInProgress) => boolean,
  wake: () => void,
) {
  const places = new Map<string, Place>()
  const waiting = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isDue = false
  const stopListening = answers.listen((answer) => {
    if (waiting.has(answer.conversationId) || !maySee(answer)) return
    waiting.add(answer.conversationId)
    timer ??= setTimeout(() => {
      timer = undefined
      isDue = true
      wake()
    }, joinMs)
  })
  return {
    hasMore: () => isDue && waiting.size > 0,
    /** At most one piece of each part of each answer; empty pieces tell that an attempt has begun. */
    take(): AnswerPieceJson[] {
      if (!isDue) return []
      const pieces = [...waiting].flatMap((id) => takeOf(id))
      isDue = waiting.size > 0
      return pieces
    },
    stop() {
      stopListening()
      clearTimeout(timer)
    },
  }

  function takeOf(id: string): AnswerPieceJson[] {
    const answer = answers.get(id)
    waiting.delete(id)
    if (answer === undefined || !maySee(answer)) {
      places.delete(id)
      return []
    }
    const { turn, attempt, interrupted } = answer
    const known = places.get(id)
    const isNew = known === undefined || known.turn !== turn || known.attempt !== attempt
    const place = isNew ? { turn, attempt, text: 0, reasoning: 0 } : known
    places.set(id, place)
    const pieces = (["reasoning", "text"] as const).flatMap((part): AnswerPieceJson[] => {
      const offset = place[part]
      const text = answer[part].slice(offset, offset + longest)
      place[part] = offset + text.length
      if (place[part] < answer[part].length) waiting.add(id)
      return text === "" ? [] : [{ conversationId: id, turn, attempt, interrupted, part, offset, text }]
    })
    if (pieces.length > 0 || !isNew) return pieces
    return [{ conversationId: id, turn, attempt, interrupted, part: "text", offset: 0, text: "" }]
  }
}
