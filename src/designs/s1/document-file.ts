import { randomUUID } from "node:crypto"
import { readFile, rename, writeFile } from "node:fs/promises"
import { parseDocument, writeDocument, type FoundSection } from "../../agents/documents/grammar.ts"

/** A Markdown file that cards are written into. Nothing that is typed into it is an answer. */
export class DocumentFile {
  readonly #file: string
  #last: Promise<unknown> = Promise.resolve()

  constructor(file: string) {
    this.#file = file
  }

  /** Adds a card at the end of the conversation, above the draft, or changes the one with this key. */
  set(key: string, text: string): Promise<void> {
    const next = this.#last.then(() => this.#write(key, text))
    this.#last = next.catch(() => {})
    return next
  }

  async #write(key: string, text: string): Promise<void> {
    const markdown = await readFile(this.#file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return ""
      throw error
    })
    const { lead, sections } = parseDocument(markdown)
    const card: FoundSection = { kind: "approval", key, heading: "", digest: "", text }
    const place = sections.findIndex((section) => section.kind === "approval" && section.key === key)
    const draft = sections.findIndex(({ kind }) => kind === "draft")
    if (place !== -1) sections[place] = card
    else sections.splice(draft === -1 ? sections.length : draft, 0, card)
    const temporary = `${this.#file}.${randomUUID()}.tmp`
    await writeFile(temporary, writeDocument({ lead, sections }), { mode: 0o600 })
    await rename(temporary, this.#file)
  }
}
