import type { RecordKey } from "./record-key.ts"
import type { Recorder } from "../port.ts"
import type { AuditEntry, StartEntry } from "../../core/audit-entry.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"
import { appendDirect } from "./segments.ts"

/** The recorder of the command line: each entry is one synced transaction, whatever its durability level. */
export class DirectRecorder implements Recorder {
  readonly #database: Database
  readonly #key: RecordKey
  readonly #owner: string

  constructor(database: Database, key: RecordKey, owner: string) {
    this.#database = database
    this.#key = key
    this.#owner = owner
  }

  write(entry: AuditEntry): Promise<void> {
    const withOwner = entry.kind === "start" ? { ...entry, owner: this.#owner } : entry
    return retryWhileBusy(() => transaction(this.#database, () => appendDirect(this.#database, this.#key, withOwner)))
  }

  /** Written at once: a command makes one call, so there is nothing to write the start together with. */
  queue(start: StartEntry, written: () => void): Promise<void> {
    return this.write(start).then(written)
  }

  flush(): void {}

  settle(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
