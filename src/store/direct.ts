import type { RecordKey } from "./key.ts"
import type { Recorder } from "../model/ports.ts"
import type { RecordEntry } from "../model/record.ts"
import { transaction, whenFree, type Database } from "./database.ts"
import { appendDirect } from "./segments.ts"

/** The recorder of the command line: each entry is one synced transaction, whatever the grade. */
export class DirectRecorder implements Recorder {
  readonly #database: Database
  readonly #key: RecordKey

  constructor(database: Database, key: RecordKey) {
    this.#database = database
    this.#key = key
  }

  keep(entry: RecordEntry): Promise<void> {
    return whenFree(() => transaction(this.#database, () => appendDirect(this.#database, this.#key, entry)))
  }

  settle(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
