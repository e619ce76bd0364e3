import type { Agent, Department, Message, Person, Role } from "./organisation.ts"

/** Who changes the organisation. */
export interface Actor {
  kind: "person" | "agent"
  id: string
}

export interface NewRole {
  name: string
  rolePrompt?: string | undefined
  /** Left out, null or empty: all groups. */
  toolGroups?: readonly string[] | null | undefined
  department?: string | undefined
  level?: number | undefined
  dialect?: string | undefined
  pins?: Readonly<Record<string, string>> | undefined
  llmServiceId?: string | null | undefined
}

export interface NewAgent {
  /** Minted when left out. */
  id?: string | undefined
  /** Name or id. */
  role: string
  department?: string | undefined
  level?: number | undefined
  parentId?: string | undefined
  taskId?: string | undefined
  taskBrief?: unknown
  pins?: Readonly<Record<string, string>> | undefined
}

export interface NewPerson {
  id: string
  name?: string | undefined
  roles?: readonly string[] | undefined
}

/** A change that cannot be made. The message says what to do; `code` is the source design's. */
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

/** Who there is, and every change of it. Changes are kept before they resolve; what the configuration names is read-only. */
export interface OrganisationBook {
  /** Live ones first by name; `source` says where it is written. */
  listRoles(): readonly Sourced<Role>[]
  findRole(idOrName: string): Sourced<Role> | undefined
  /** The live role of that name is returned as it is, if there is one. `hint` is a sentence for the person. */
  createRole(given: NewRole, by: Actor): Promise<{ role: Role; created: boolean; hint?: string }>
  updateRole(idOrName: string, change: Partial<NewRole>, by: Actor): Promise<{ role: Role; hint?: string }>
  deleteRole(idOrName: string, by: Actor): Promise<Role>

  listAgents(filter?: { includeTerminated?: boolean }): readonly Sourced<Agent>[]
  findAgent(id: string): Sourced<Agent> | undefined
  createAgent(given: NewAgent, by: Actor): Promise<Agent>
  /** The agent and everyone below it; returns their ids, the agent's own first. */
  terminateAgent(id: string, by: Actor, reason?: string): Promise<string[]>

  listDepartments(): readonly Sourced<Department>[]
  createDepartment(given: { id: string; name?: string | undefined }, by: Actor): Promise<Department>
  renameDepartment(id: string, name: string, by: Actor): Promise<Department>
  deleteDepartment(id: string, by: Actor): Promise<Department>

  listPeople(): readonly Sourced<Person>[]
  findPerson(id: string): Sourced<Person> | undefined
  /** The live person whose token this is. */
  personOfToken(token: string): Sourced<Person> | undefined
  /** The token is shown once and kept only as a hash. */
  createPerson(given: NewPerson, by: Actor): Promise<{ person: Person; token: string }>
  updatePerson(id: string, change: Partial<Omit<NewPerson, "id">>, by: Actor): Promise<Person>
  deletePerson(id: string, by: Actor): Promise<Person>

  /** Keeps the message for its recipient; `root` and `user` exist always. */
  sendMessage(message: {
    from: string
    to: string
    payload: unknown
    taskId?: string | undefined
    delayMs?: number | undefined
  }): Promise<Message>
  /** What has arrived for an agent, oldest first. */
  inbox(agentId: string, filter?: { unreadOnly?: boolean }): Promise<readonly Message[]>
  markRead(messageIds: readonly string[]): Promise<void>
}

export type Sourced<T> = T & { readonly source: string }
