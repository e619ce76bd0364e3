import type { Conversations } from "../core/conversation.ts"
import type { QuartermasterEvent } from "../core/events.ts"
import type { Message } from "../core/organisation.ts"
import { OrganisationError, type ChangedBy } from "./organisation-admin.ts"
import type { LevelOrder } from "../core/permission.ts"
import type { DocumentKind, Documents, StoredDocument } from "../core/documents.ts"
import type { Messages } from "../store/port.ts"
import type { Roster } from "./roster.ts"
import type { AgentViews } from "./agent-views.ts"

/** The tool groups that exist now. */
export interface GroupCatalog {
  has(id: string): boolean
  list(): { id: string; description: string }[]
}

/** Limits for agents that agents create. */
export interface AgentLimits {
  /** Limit of those that live at once. */
  maxAgents: number
  /** Limit of depth to which they may create each other: 1 means that those created by agents create none. */
  maxDepth: number
}

/** The conversations that messages are sent from. */
export interface SendersConversations extends Pick<Conversations, "get"> {
  /** The messages that the current run of a conversation was given. */
  readInRun(conversationId: string): Promise<readonly Pick<Message, "hops" | "conversationId">[]>
}

/** The context for the functions that change the organisation. */
export interface OrganisationContext {
  readonly roster: Roster
  readonly views: AgentViews
  readonly documents: Documents
  readonly messages: Messages
  readonly conversations: SendersConversations
  readonly groups: GroupCatalog
  readonly levelOrder: LevelOrder
  /** The groups of a role that names none; null means all. */
  readonly defaultToolGroups: readonly string[] | null
  /** Limits on the number and depth of agents that agents create. */
  readonly limits: AgentLimits
  emit(event: QuartermasterEvent): void
  now(): number
  /** Stops the work of these agents. */
  onTerminated(agentIds: readonly string[]): void | Promise<void>
  /** The agents this process is terminating. It calls `onTerminated` for them once, at the end. */
  readonly terminating: Set<string>
}

interface Content<T> {
  body: T
  name?: string
  live?: boolean
}

/**
 * Writes one document of the organisation. `make` gets the stored body and returns the new content; it throws to refuse,
 * or returns undefined to leave the document as it is. It is called again when another process changed the document in
 * between; with `knowsAll`, when any document of the kind was changed, so that it may count them. `taken` is called when
 * another document has the name.
 */
export async function writeDocument<T extends object>(
  { documents }: OrganisationContext,
  { kind, id, knowsAll = false }: { kind: DocumentKind; id: string; knowsAll?: boolean },
  by: ChangedBy,
  make: (existing: T | undefined) => Content<T> | undefined,
  taken: (other: StoredDocument) => T = refuseTakenName,
): Promise<T> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const existing = documents.get(kind, id)
    const content = make(existing?.body as T | undefined)
    if (content === undefined) return existing?.body as T
    const { body, name = null, live = true } = content
    const put = await documents.put({ kind, id, name, live, body }, by.id, existing?.change ?? 0, { knowsAll })
    if (put.written) return put.document.body as T
    if (put.existing.id !== id && !knowsAll) return taken(put.existing)
  }
  throw new OrganisationError("conflict", `Other processes keep changing ${kind} '${id}'. Try again.`)
}

function refuseTakenName({ kind, name, id }: StoredDocument): never {
  throw new OrganisationError("name_taken", `The name '${name}' belongs to ${kind} '${id}'. Choose another one.`)
}
