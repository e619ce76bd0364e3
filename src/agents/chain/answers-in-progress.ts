import type { ModelPart } from "../models/port.ts"

/** The answer that a model is writing. */
export interface AnswerInProgress {
  readonly conversationId: string
  readonly agentId: string
  readonly startedBy: string
  /** The number of turns that the model was given: the `read` of the turn that comes of it. */
  readonly turn: number
  /** Grows with every time that the model is asked. */
  readonly attempt: number
  /** An earlier attempt at this turn was broken off. */
  readonly interrupted: boolean
  readonly text: string
  readonly reasoning: string
}

/** The answers that models write in this process, as far as they have come. Nothing of them is stored. */
export interface AnswersInProgress {
  get(conversationId: string): AnswerInProgress | undefined
  /** Calls the listener with each piece that came, until the returned function is called. It must be quick. */
  listen(listener: (answer: AnswerInProgress) => void): () => void
}

/** Collects the answers of all conversations of this process. */
export class AnswerCollector implements AnswersInProgress {
  readonly #answers = new Map<string, AnswerInProgress>()
  readonly #listeners = new Set<(answer: AnswerInProgress) => void>()

  get(conversationId: string): AnswerInProgress | undefined {
    return this.#answers.get(conversationId)
  }

  listen(listener: (answer: AnswerInProgress) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  begin(given: Omit<AnswerInProgress, "text" | "reasoning">): void {
    this.#set({ ...given, text: "", reasoning: "" })
  }

  add(conversationId: string, part: ModelPart): void {
    const answer = this.#answers.get(conversationId)
    if (answer === undefined || (part.type !== "text" && part.type !== "reasoning")) return
    this.#set({ ...answer, [part.type]: answer[part.type] + part.text })
  }

  /** The model failed, and is asked again: what came so far does not count. */
  again(conversationId: string): void {
    const answer = this.#answers.get(conversationId)
    if (answer !== undefined) this.begin({ ...answer, attempt: answer.attempt + 1, interrupted: true })
  }

  end(conversationId: string): void {
    this.#answers.delete(conversationId)
  }

  #set(answer: AnswerInProgress): void {
    this.#answers.set(answer.conversationId, answer)
    for (const listener of this.#listeners) listener(answer)
  }
}
