/** A small table of documents, mirrored in memory: organisation, rules, grants, freezes, modes. Always *power*. */
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
] as const
export type DocumentKind = (typeof documentKinds)[number]

export interface StoredDocument<T = unknown> {
  readonly kind: DocumentKind
  readonly id: string
  /** Unique among the live ones of its kind, where it has one. */
  readonly name: string | null
  readonly live: boolean
  readonly body: T
  readonly changedAt: number
  readonly changedBy: string
  /** Grows with every change in the store. */
  readonly change: number
}

export interface Documents {
  /** Grows with every change seen here. */
  readonly version: number
  /** A hash of everything live except messages. */
  readonly digest: string
  all(kind: DocumentKind): Iterable<StoredDocument>
  get(kind: DocumentKind, id: string): StoredDocument | undefined
  /**
   * Keeps one document. It is not kept when the name is taken by another live one, when it changed after `expected`, or
   * when it exists and `expected` is 0: then what is there is returned.
   */
  put(
    document: { kind: DocumentKind; id: string; name?: string | null; live?: boolean; body: unknown },
    by: string,
    expected?: number,
  ): Promise<{ kept: true; document: StoredDocument } | { kept: false; existing: StoredDocument }>
  /** Looks for what other processes changed; true when there was something. */
  refresh(): Promise<boolean>
  /** Told after every change seen here, whoever made it. */
  onChange(listener: (documents: readonly StoredDocument[]) => void): void
}
