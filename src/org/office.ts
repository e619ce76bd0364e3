import type { QuartermasterEvent } from "../model/events.ts"
import { OrganisationError, type Actor } from "../model/organisation-book.ts"
import type { LevelOrder } from "../model/permission.ts"
import type { DocumentKind, Documents, StoredDocument } from "../model/documents.ts"
import type { Messages } from "../model/ports.ts"
import type { Roster } from "./roster.ts"
import type { Views } from "./views.ts"

/** The groups a role can be given, as they are now. */
export interface Groups {
  has(id: string): boolean
  list(): { id: string; description: string }[]
}

/** What a change of the organisation needs. */
export interface Office {
  readonly roster: Roster
  readonly views: Views
  readonly documents: Documents
  readonly messages: Messages
  readonly groups: Groups
  readonly levelOrder: LevelOrder
  /** The groups of a role that names none; null means all. */
  readonly defaultToolGroups: readonly string[] | null
  emit(event: QuartermasterEvent): void
  now(): number
  /** Stops what these agents still do. */
  terminated(agentIds: readonly string[]): void | Promise<void>
  /** The agents that are being terminated here; `terminated` is told of them at the end. */
  readonly ending: Set<string>
}

interface Content<T> {
  body: T
  name?: string
  live?: boolean
}

/**
 * Keeps one document of the organisation. `make` is given what is there and says what is to be there, or throws why not,
 * or leaves it with undefined; it is asked again whenever somebody else was faster. `taken` is told who has the name.
 */
export async function keep<T extends object>(
  { documents }: Office,
  { kind, id }: { kind: DocumentKind; id: string },
  by: Actor,
  make: (there: T | undefined) => Content<T> | undefined,
  taken: (other: StoredDocument) => T = refuseTwin,
): Promise<T> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const there = documents.get(kind, id)
    const made = make(there?.body as T | undefined)
    if (made === undefined) return there?.body as T
    const { body, name = null, live = true } = made
    const put = await documents.put({ kind, id, name, live, body }, by.id, there?.change ?? 0)
    if (put.kept) return put.document.body as T
    if (put.existing.id !== id) return taken(put.existing)
  }
  throw new OrganisationError("conflict", `Others change ${kind} '${id}' all the time. Try again.`)
}

function refuseTwin({ kind, name, id }: StoredDocument): never {
  throw new OrganisationError("name_taken", `The name '${name}' belongs to ${kind} '${id}'. Choose another one.`)
}
