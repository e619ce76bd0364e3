import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { newId } from "../../lib/new-id.ts"
import {
  matchesSnippetFilter,
  type Snippet,
  type SnippetDraft,
  type SnippetStorage,
} from "../../store/snippet-store.ts"

export interface CodeSnippet {
  id: string
  name: string
  code: string
  description: string
  language: string
  tags: string[]
  createdAt: number
  updatedAt: number
}

/** The storage of snippets. `delete` may be missing. */
export interface ISnippetStorage {
  save(snippet: CodeSnippet): Promise<void>
  load(nameOrId: string): Promise<CodeSnippet | null | undefined>
  list(filter?: { tags?: string[]; language?: string }): Promise<CodeSnippet[]>
  delete?(nameOrId: string): Promise<unknown>
}

/** Stores each snippet as a JSON file, in the folder `.snippets` of the workspace. Saving a name again replaces it. */
export class FileSnippetStorage implements ISnippetStorage {
  readonly #folder: string

  constructor(workspaceDir: string) {
    this.#folder = join(workspaceDir, ".snippets")
  }

  async save(snippet: CodeSnippet): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    const file = this.#fileOf(snippet.id)
    const unfinished = `${file}.${newId()}`
    await writeFile(unfinished, JSON.stringify(snippet, null, 2))
    await rename(unfinished, file)
    for (const other of await this.list())
      if (other.name === snippet.name && other.id !== snippet.id) await rm(this.#fileOf(other.id), { force: true })
  }

  /** When a text is both a name and an id, the name wins. */
  async load(nameOrId: string): Promise<CodeSnippet | undefined> {
    const all = await this.list()
    return all.find(({ name }) => name === nameOrId) ?? all.find(({ id }) => id === nameOrId)
  }

  /** Sorted by name. */
  async list(filter: { tags?: string[]; language?: string } = {}): Promise<CodeSnippet[]> {
    const names = await readdir(this.#folder).catch(() => [])
    const texts = names
      .filter((name) => name.endsWith(".json"))
      .map((name) => readFile(join(this.#folder, name), "utf8"))
    const all = (await Promise.all(texts)).map((text) => JSON.parse(text) as CodeSnippet)
    const by = { createdBy: "", updatedBy: "" }
    return all
      .filter((snippet) => matchesSnippetFilter({ ...snippet, ...by }, filter))
      .sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  async delete(nameOrId: string): Promise<boolean> {
    const found = await this.load(nameOrId)
    if (found !== undefined) await rm(this.#fileOf(found.id), { force: true })
    return found !== undefined
  }

  /** An id forms no path. */
  #fileOf(id: string): string {
    return join(this.#folder, `${encodeURIComponent(id)}.json`)
  }
}

/** S3's storage as the core uses it. */
export function coreStorage(storage: () => ISnippetStorage): SnippetStorage {
  const load = async (nameOrId: string) => withAgents(await storage().load(nameOrId))
  return {
    async save(draft, agentId) {
      const known = await storage().load(draft.name)
      const same = known?.name === draft.name ? known : undefined
      const snippet = newSnippet(draft, same ?? undefined)
      await storage().save(snippet)
      return { snippet: { ...snippet, createdBy: agentId, updatedBy: agentId }, created: same === undefined }
    },
    load,
    async list(filter = {}) {
      const { tags, language } = filter
      const all = await storage().list({ tags: tags && [...tags], language })
      return all.map((snippet) => withAgents(snippet)!).filter((snippet) => matchesSnippetFilter(snippet, filter))
    },
    async delete(nameOrId) {
      const found = await load(nameOrId)
      if (found !== undefined) await storage().delete?.(found.id)
      return found
    },
  }
}

function newSnippet(draft: SnippetDraft, known: CodeSnippet | undefined): CodeSnippet {
  const now = Date.now()
  return {
    id: known?.id ?? newId(),
    name: draft.name,
    code: draft.code,
    description: draft.description ?? known?.description ?? "",
    language: draft.language ?? known?.language ?? "plaintext",
    tags: [...(draft.tags ?? known?.tags ?? [])],
    createdAt: known?.createdAt ?? now,
    updatedAt: now,
  }
}

/** S3 does not say who saved a snippet. */
function withAgents(snippet: CodeSnippet | null | undefined): Snippet | undefined {
  return snippet ? { ...snippet, createdBy: "", updatedBy: "" } : undefined
}
