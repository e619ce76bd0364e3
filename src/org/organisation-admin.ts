import type { Agent, AgentView, Department, Message, Person, Role } from "../core/organisation.ts"

/** The person or agent that changes the organisation. */
export interface ChangedBy {
  kind: "person" | "agent"
  id: string
}

export interface NewRole {
  name: string
  rolePrompt?: string
  /** Left out, null or empty: all groups. */
  toolGroups?: readonly string[] | null
  department?: string
  level?: number
  dialect?: string
  pins?: Readonly<Record<string, string>>
  llmServiceId?: string | null
}

export interface NewAgent {
  /** Default: a new id. */
  id?: string
  /** The name or id of its role. */
  role: string
  department?: string
  level?: number
  parentId?: string
  taskId?: string
  taskBrief?: unknown
  /** A folder of the workspace. It must lie inside its parent's. */
  folder?: string
  pins?: Readonly<Record<string, string>>
}

export interface NewPerson {
  id: string
  name?: string
  roles?: readonly string[]
  /** The lifetime of their token: 90 days when left out, null for ever. */
  lifetimeMs?: number | null
}

/** A change that was refused. The message says what to do; `code` is for programs. */
export class OrganisationError extends Error {
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = "OrganisationError"
    this.code = code
    this.details = details
  }
}

/**
 * People, roles, departments and agents. A change is durable when its promise resolves. Entries of the configuration file
 * are read-only here.
 */
export interface OrganisationAdmin {
  /** Active ones first, by name. `source` says where each is defined. */
  listRoles(): readonly Sourced<Role>[]
  findRole(idOrName: string): Sourced<Role> | undefined
  /** Returns the active role of that name unchanged if there is one. `hint` is a sentence for the person. */
  createRole(given: NewRole, by: ChangedBy): Promise<{ role: Role; created: boolean; hint?: string }>
  /** With a revision it is refused when the role changed since. */
  updateRole(
    idOrName: string,
    change: Partial<NewRole>,
    by: ChangedBy,
    revision?: string,
  ): Promise<{ role: Role; hint?: string }>
  deleteRole(idOrName: string, by: ChangedBy, revision?: string): Promise<Role>

  listAgents(filter?: { includeTerminated?: boolean }): readonly Sourced<Agent>[]
  findAgent(id: string): Sourced<Agent> | undefined
  /** The agent with what it has by its role and its parents. Undefined for an agent that may do nothing any more. */
  view(id: string): AgentView | undefined
  createAgent(given: NewAgent, by: ChangedBy): Promise<Agent>
  /** Terminates the agent and all agents below it. Returns their ids, the agent's own first. */
  terminateAgent(id: string, by: ChangedBy, reason?: string): Promise<string[]>

  listDepartments(): readonly Sourced<Department>[]
  createDepartment(given: { id: string; name?: string }, by: ChangedBy): Promise<Department>
  renameDepartment(id: string, name: string, by: ChangedBy): Promise<Department>
  deleteDepartment(id: string, by: ChangedBy): Promise<Department>

  listPeople(): readonly Sourced<Person>[]
  findPerson(id: string): Sourced<Person> | undefined
  /** The active person with this token. With `expired`, the one whose token this was before its time was over. */
  personOfToken(token: string, which?: "expired"): Sourced<Person> | undefined
  /** Only a hash of the token is stored, so it cannot be shown again. */
  createPerson(given: NewPerson, by: ChangedBy): Promise<{ person: Person; token: string }>
  updatePerson(id: string, change: Pick<NewPerson, "name" | "roles">, by: ChangedBy): Promise<Person>
  /** Gives a person another token; the one before stops working. */
  renewPersonToken(
    id: string,
    given: Pick<NewPerson, "lifetimeMs">,
    by: ChangedBy,
  ): Promise<{ person: Person; token: string }>
  /** The token stops working; the person and their sessions stay. */
  revokePersonToken(id: string, by: ChangedBy): Promise<Person>
  deletePerson(id: string, by: ChangedBy): Promise<Person>

  /** Stores a message for its recipient. `root` and `user` always exist. A person writes as `user`, with `userId`. */
  sendMessage(message: {
    from: string
    to: string
    payload: unknown
    taskId?: string
    delayMs?: number
    /** The person for whom all of it happens. */
    userId?: string
    /** The stored conversation it is sent from: an answer goes there. */
    conversationId?: string
  }): Promise<Message>
  /** The messages delivered to an agent, oldest first. */
  inbox(agentId: string, filter?: { unreadOnly?: boolean }): Promise<readonly Message[]>
  markRead(messageIds: readonly string[]): Promise<void>
}

/** With where it is defined: `built in`, `configuration` or `store`. */
export type Sourced<T> = T & { readonly source: string }
