/** A piece of code worth keeping. Everyone who works with the same store shares them. */
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

/** What is saved; of a snippet that is there already, what is left out stays as it is. */
export interface SnippetDraft {
  readonly name: string
  readonly code: string
  readonly description?: string | undefined
  readonly language?: string | undefined
  readonly tags?: readonly string[] | undefined
}

export interface SnippetFilter {
  /** All of them. */
  readonly tags?: readonly string[] | undefined
  readonly language?: string | undefined
  /** In the name or the description, in any letter case. */
  readonly search?: string | undefined
}

/** Where snippets are kept. A name or an id finds one; a name goes before an id. */
export interface SnippetStorage {
  /** One step, whoever else saves: there is never a second snippet of a name. */
  save(draft: SnippetDraft, agentId: string): Promise<{ readonly snippet: Snippet; readonly created: boolean }>
  load(nameOrId: string): Promise<Snippet | undefined>
  /** By name. */
  list(filter?: SnippetFilter): Promise<Snippet[]>
  /** What was there. */
  delete(nameOrId: string): Promise<Snippet | undefined>
}

/** Whether a snippet passes a filter. */
export function fitsSnippet({ name, description, language, tags }: Snippet, filter: SnippetFilter): boolean {
  const searched = filter.search?.toLowerCase()
  return (
    (filter.language === undefined || filter.language.toLowerCase() === language.toLowerCase()) &&
    (filter.tags ?? []).every((tag) => tags.includes(tag)) &&
    (searched === undefined || [name, description].some((text) => text.toLowerCase().includes(searched)))
  )
}
