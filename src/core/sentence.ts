import type { ReasonParams } from "./audit-entry.ts"

/** A sentence for people: a code and its values, by which a client translates it, and the English text. */
export interface Sentence {
  readonly code: string
  readonly params?: ReasonParams | undefined
  readonly text: string
}
