/**
 * An adapter rejects with this when it asked no person. That is no answer: the item goes on waiting, and a note, if there
 * is one, is written to the audit log.
 */
export class NobodyAsked extends Error {
  readonly note: string | undefined

  constructor(note?: string) {
    super(note ?? "No person was asked.")
    this.note = note
  }
}
