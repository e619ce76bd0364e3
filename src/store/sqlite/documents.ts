import { createHash } from "node:crypto"
import type { DocumentKind, Documents, StoredDocument } from "../../core/documents.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"
import type { Tables } from "./tables.ts"

type Row = Tables["documents"]

type Query = ReturnType<Database["prepare"]>

/** The documents table of the embedded store, mirrored in memory. Several processes share it. */
export class SqliteDocuments implements Documents {
  readonly #database: Database
  readonly #busiest: () => Database | undefined
  #versionQuery: { database: Database; query: Query } | undefined
  #newerQuery: Query | undefined
  readonly #mirror = new Map<DocumentKind, Map<string, StoredDocument>>()
  readonly #listeners: ((documents: readonly StoredDocument[]) => void)[] = []
  readonly #sum = Buffer.alloc(32)
  #cursor = 0
  #lastVersion: unknown
  version = 1

  /**
   * `busiest` returns the connection of this process that writes most, once it is open. SQLite's data version does not
   * change there by its own writes, so they cause no needless reads of the documents.
   */
  constructor(database: Database, busiest: () => Database | undefined = () => undefined) {
    this.#database = database
    this.#busiest = busiest
    this.#read()
  }

  get digest(): string {
    return this.#sum.toString("hex", 0, 16)
  }

  all(kind: DocumentKind): Iterable<StoredDocument> {
    return this.#mirror.get(kind)?.values() ?? []
  }

  get(kind: DocumentKind, id: string): StoredDocument | undefined {
    return this.#mirror.get(kind)?.get(id)
  }

  async put(
    document: { kind: DocumentKind; id: string; name?: string | null; live?: boolean; body: unknown },
    by: string,
    expected?: number,
    { knowsAll = false }: { knowsAll?: boolean } = {},
  ): Promise<{ written: true; document: StoredDocument } | { written: false; existing: StoredDocument }> {
    const { kind, id, name = null, live = true, body } = document
    const row = {
      kind,
      id,
      name,
      live: Number(live),
      body: JSON.stringify(body),
      changed_at: Date.now(),
      changed_by: by,
    }
    const known = this.#cursor
    const write = () => (knowsAll ? this.#newerThan(known, kind) : undefined) ?? this.#write(row, expected)
    const written = await retryWhileBusy(() => transaction(this.#database, write))
    await retryWhileBusy(() => this.#read())
    return written
  }

  async refresh(): Promise<boolean> {
    return retryWhileBusy(() => this.#dataVersion() !== this.#lastVersion && this.#read())
  }

  onChange(listener: (documents: readonly StoredDocument[]) => void): void {
    this.#listeners.push(listener)
  }

  #write(
    row: Omit<Row, "change">,
    expected: number | undefined,
  ): { written: true; document: StoredDocument } | { written: false; existing: StoredDocument } {
    const { kind, id, name, live } = row
    const stored = this.#one("kind = ? and id = ?", kind, id)
    if (expected !== undefined && (stored?.change ?? 0) !== expected) {
      if (stored === undefined) throw new Error(`There is no ${kind} '${id}' that could be changed. Read it again.`)
      return { written: false, existing: fromTable(stored) }
    }
    const sameName =
      live === 1 && name !== null ? this.#one("kind = ? and name = ? and live = 1", kind, name) : undefined
    if (sameName !== undefined && sameName.id !== id) return { written: false, existing: fromTable(sameName) }
    this.#database
      .prepare(
        `insert or replace into documents (kind, id, name, live, body, changed_at, changed_by, change)
         values (?, ?, ?, ?, ?, ?, ?, (select coalesce(max(change), 0) + 1 from documents))`,
      )
      .run(kind, id, name, live, row.body, row.changed_at, row.changed_by)
    return { written: true, document: fromTable(this.#one("kind = ? and id = ?", kind, id)!) }
  }

  /** The newest document of a kind, if it changed after `change`. */
  #newerThan(change: number, kind: DocumentKind): { written: false; existing: StoredDocument } | undefined {
    const newest = this.#one("kind = ? and change > ? order by change desc limit 1", kind, change)
    return newest && { written: false, existing: fromTable(newest) }
  }

  #one(where: string, ...values: (string | number)[]): Row | undefined {
    return this.#database.prepare(`select * from documents where ${where}`).get(...values) as Row | undefined
  }

  /** Reads changed documents into memory, then calls the listeners. On an error before that they are read again next time. */
  #read(): boolean {
    const version = this.#dataVersion()
    this.#newerQuery ??= this.#database.prepare("select * from documents where change > ? order by change")
    const rows = this.#newerQuery.all(this.#cursor) as unknown as Row[]
    this.#lastVersion = version
    if (rows.length === 0) return false
    const changed = rows.map(fromTable)
    for (const document of changed) {
      const kind = this.#mirror.get(document.kind) ?? new Map<string, StoredDocument>()
      this.#mirror.set(document.kind, kind)
      this.#add(kind.get(document.id))
      this.#add(document)
      kind.set(document.id, document)
    }
    this.#cursor = rows.at(-1)!.change
    this.version++
    for (const listener of this.#listeners) listener(changed)
    return true
  }

  /** The digest is the XOR of the digests of all live documents, so a change costs the same however many there are. */
  #add(document: StoredDocument | undefined): void {
    if (document?.live !== true) return
    const { kind, id, body } = document
    // Sessions and answers from links decide no call.
    if (["link", "session", "answer-link", "answer-pin"].includes(kind)) return
    const own = createHash("sha256")
      .update(JSON.stringify([kind, id, body]))
      .digest()
    for (let index = 0; index < 32; index++) this.#sum[index]! ^= own[index]!
  }

  /** Changes when another connection writes. The versions of two connections cannot be compared. */
  #dataVersion(): unknown {
    const database = this.#busiest() ?? this.#database
    if (this.#versionQuery?.database !== database) {
      // Runs before most calls, so it is prepared once.
      this.#versionQuery = { database, query: database.prepare("pragma data_version") }
      this.#lastVersion = undefined
    }
    return (this.#versionQuery.query.get() as { data_version: number }).data_version
  }
}

function fromTable(row: Row): StoredDocument {
  return {
    kind: row.kind as DocumentKind,
    id: row.id,
    name: row.name,
    live: row.live === 1,
    body: JSON.parse(row.body),
    changedAt: row.changed_at,
    changedBy: row.changed_by,
    change: row.change,
  }
}
