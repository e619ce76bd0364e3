import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const most = 500

/** The person's former inputs, oldest first, kept in a file that only they can read. */
export class InputHistory {
  readonly #file: string
  #entries: string[]

  constructor(dataDir: string) {
    this.#file = join(dataDir, "chat-history")
    this.#entries = readEntries(this.#file)
  }

  get entries(): readonly string[] {
    return this.#entries
  }

  /** Adds what was typed. The same text twice in a row is one entry. */
  add(text: string): void {
    // Another chat may have added entries meanwhile.
    const before = existsSync(this.#file) ? readEntries(this.#file) : this.#entries
    this.#entries = before.at(-1) === text ? before : [...before, text].slice(-most)
    try {
      writeFileSync(this.#file, this.#entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: 0o600 })
      chmodSync(this.#file, 0o600)
    } catch {
      // Without the file, the history lasts as long as the chat.
    }
  }
}

/** A line that cannot be read is left out. */
function readEntries(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").flatMap(readEntry).slice(-most)
  } catch {
    return []
  }
}

function readEntry(line: string): string[] {
  try {
    const entry = JSON.parse(line) as unknown
    return typeof entry === "string" ? [entry] : []
  } catch {
    return []
  }
}
