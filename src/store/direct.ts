import type { RecordKey } from "./key.ts"
import type { Recorder } from "../model/ports.ts"
import type { RecordEntry } from "../model/record.ts"
import { transaction, whenFree, type Database } from "./database.ts"
import { appendDirect } from "./segments.ts"

/** The recorder of the command line: each entry is one synced transaction, whatever the grade. */
export class DirectRecorder implements Recorder {
  readonly #database: Database
  readonly #key: RecordKey
  readonly #owner: string

  constructor(database: Database, key: RecordKey, owner: string) {
    this.#database = database
    this.#key = key
    this.#owner = owner
  }

  keep(entry: RecordEntry): Promise<void> {
    const owned = entry.kind === "start" ? { ...entry, owner: this.#owner } : entry
    return whenFree(() => transaction(this.#database, () => appendDirect(this.#database, this.#key, owned)))
  }

  settle(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
