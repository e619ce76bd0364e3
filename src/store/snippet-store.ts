/** A saved piece of code. All agents of a store share them. */
export interface Snippet {
  readonly id: string
  /** Unique. */
  readonly name: string
  readonly code: string
  readonly description: string
  readonly language: string
  readonly tags: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
  /** The agents that saved it first and last. */
  readonly createdBy: string
  readonly updatedBy: string
}

/** A snippet to save. For an existing snippet, fields that are left out stay as they are. */
export interface SnippetDraft {
  readonly name: string
  readonly code: string
  readonly description?: string
  readonly language?: string
  readonly tags?: readonly string[]
}

export interface SnippetFilter {
  /** The snippet must have all of them. */
  readonly tags?: readonly string[]
  readonly language?: string
  /** Found in the name or the description, ignoring case. */
  readonly search?: string
}

/** Stores snippets. When a text is both a name and an id, the name wins. */
export interface SnippetStorage {
  /** Atomic: there are never two snippets of one name. */
  save(draft: SnippetDraft, agentId: string): Promise<{ readonly snippet: Snippet; readonly created: boolean }>
  load(nameOrId: string): Promise<Snippet | undefined>
  /** Sorted by name. */
  list(filter?: SnippetFilter): Promise<Snippet[]>
  /** Returns the deleted snippet. */
  delete(nameOrId: string): Promise<Snippet | undefined>
}

/** Reports whether a snippet passes a filter. */
export function matchesSnippetFilter({ name, description, language, tags }: Snippet, filter: SnippetFilter): boolean {
  const searched = filter.search?.toLowerCase()
  return (
    (filter.language === undefined || filter.language.toLowerCase() === language.toLowerCase()) &&
    (filter.tags ?? []).every((tag) => tags.includes(tag)) &&
    (searched === undefined || [name, description].some((text) => text.toLowerCase().includes(searched)))
  )
}
