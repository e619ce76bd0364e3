/** The kinds of small documents that are stored with durability *power* and mirrored in memory. */
export const documentKinds = [
  "role",
  "agent",
  "department",
  "person",
  "rule",
  "grant",
  "freeze",
  "mode",
  "token",
  "pin",
  "login",
  "plugin",
  "experiment",
  "link",
  "session",
  "answer-link",
  "answer-pin",
  "chat-document",
] as const
export type DocumentKind = (typeof documentKinds)[number]

export interface StoredDocument<T = unknown> {
  readonly kind: DocumentKind
  readonly id: string
  /** Unique among the live documents of its kind. Null: it has no name. */
  readonly name: string | null
  readonly live: boolean
  readonly body: T
  readonly changedAt: number
  readonly changedBy: string
  /** Grows with every change in the store. */
  readonly change: number
}

export interface Documents {
  /** Grows with every change that this process has seen. */
  readonly version: number
  /** A hash of all live documents except messages. */
  readonly digest: string
  all(kind: DocumentKind): Iterable<StoredDocument>
  get(kind: DocumentKind, id: string): StoredDocument | undefined
  /**
   * Stores a document. It is not stored, and the existing one is returned, when another live document has the name, when
   * the document changed after `expected`, or when it exists and `expected` is 0. With `knowsAll` it is also not stored when
   * any document of its kind changed that this process had not read when `put` was called; the newest one is returned.
   */
  put(
    document: { kind: DocumentKind; id: string; name?: string | null; live?: boolean; body: unknown },
    by: string,
    expected?: number,
    options?: { knowsAll?: boolean },
  ): Promise<{ written: true; document: StoredDocument } | { written: false; existing: StoredDocument }>
  /** Reads what other processes changed. Returns whether there was something. */
  refresh(): Promise<boolean>
  /** Calls the listener after every change, whichever process made it. */
  onChange(listener: (documents: readonly StoredDocument[]) => void): void
}
