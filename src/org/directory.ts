import type { QuartermasterEvent } from "../model/events.ts"
import type { Agent, AgentView, Department, Message, Person, Role } from "../model/organisation.ts"
import type { Actor, NewAgent, NewPerson, NewRole, OrganisationBook, Sourced } from "../model/organisation-book.ts"
import type { LevelOrder } from "../model/permission.ts"
import type { DocumentKind, Documents, StoredDocument } from "../model/documents.ts"
import type { Messages, Organisation } from "../model/ports.ts"
import { createAgent } from "./agents.ts"
import { readConfigured, type OrganisationConfig } from "./configured.ts"
import { createDepartment, deleteDepartment, renameDepartment } from "./departments.ts"
import { sendMessage } from "./messages.ts"
import type { Groups, Office } from "./office.ts"
import { createPerson, deletePerson, updatePerson, withoutHash } from "./people.ts"
import { createRole, deleteRole, updateRole } from "./roles.ts"
import { Roster } from "./roster.ts"
import { terminateAgent } from "./termination.ts"
import { holderOf } from "./tokens.ts"
import { Views } from "./views.ts"

export interface DirectoryOptions {
  config?: OrganisationConfig | undefined
  documents: Documents
  messages: Messages
  groups: Groups
  levelOrder: LevelOrder
  emit?: ((event: QuartermasterEvent) => void) | undefined
  now?: (() => number) | undefined
  /** Told who ended, in this process or another one, so that what they still do can be stopped. */
  onTerminated?: ((agentIds: readonly string[]) => void | Promise<void>) | undefined
}

const kinds: readonly DocumentKind[] = ["role", "agent", "department", "person", "freeze"]

/** Who there is: root and operator always, whoever the configuration names, and what the store holds. */
export class Directory implements Organisation, OrganisationBook {
  readonly #office: Office
  readonly #roster: Roster
  readonly #views: Views
  #version = 1

  constructor(options: DirectoryOptions) {
    const { config = {}, documents, messages, groups, levelOrder } = options
    const { emit = () => {}, now = Date.now, onTerminated = () => {} } = options
    const defaultToolGroups = config.defaultToolGroups ?? null
    this.#roster = new Roster(readConfigured(config), documents)
    this.#views = new Views(this.#roster, levelOrder, defaultToolGroups)
    const parts = {
      roster: this.#roster,
      views: this.#views,
      documents,
      messages,
      groups,
      levelOrder,
      defaultToolGroups,
    }
    this.#office = { ...parts, emit, now, terminated: onTerminated, ending: new Set() }
    documents.onChange((changed) => this.#changed(changed))
  }

  get version(): number {
    return this.#version
  }

  view(agentId: string): AgentView | undefined {
    return this.#views.view(agentId)
  }

  listRoles(): readonly Sourced<Role>[] {
    return this.#roster.roles()
  }

  findRole(idOrName: string): Sourced<Role> | undefined {
    return this.#roster.roleCalled(idOrName)
  }

  createRole(given: NewRole, by: Actor): Promise<{ role: Role; created: boolean; hint?: string }> {
    return createRole(this.#office, given, by)
  }

  updateRole(idOrName: string, change: Partial<NewRole>, by: Actor): Promise<{ role: Role; hint?: string }> {
    return updateRole(this.#office, idOrName, change, by)
  }

  deleteRole(idOrName: string, by: Actor): Promise<Role> {
    return deleteRole(this.#office, idOrName, by)
  }

  listAgents({ includeTerminated = false }: { includeTerminated?: boolean } = {}): readonly Sourced<Agent>[] {
    const all = this.#roster.agents()
    return includeTerminated ? all : all.filter(({ status }) => status === "active")
  }

  findAgent(id: string): Sourced<Agent> | undefined {
    return this.#roster.agent(id)
  }

  createAgent(given: NewAgent, by: Actor): Promise<Agent> {
    return createAgent(this.#office, given, by)
  }

  terminateAgent(id: string, by: Actor, reason?: string): Promise<string[]> {
    return terminateAgent(this.#office, id, by, reason)
  }

  listDepartments(): readonly Sourced<Department>[] {
    return this.#roster.departments()
  }

  createDepartment(given: { id: string; name?: string | undefined }, by: Actor): Promise<Department> {
    return createDepartment(this.#office, given, by)
  }

  renameDepartment(id: string, name: string, by: Actor): Promise<Department> {
    return renameDepartment(this.#office, id, name, by)
  }

  deleteDepartment(id: string, by: Actor): Promise<Department> {
    return deleteDepartment(this.#office, id, by)
  }

  listPeople(): readonly Sourced<Person>[] {
    return this.#roster.people().map(withoutHash)
  }

  findPerson(id: string): Sourced<Person> | undefined {
    const person = this.#roster.person(id)
    return person && withoutHash(person)
  }

  /** The live person this token belongs to. */
  personOfToken(token: string): Sourced<Person> | undefined {
    const person = holderOf(token, this.#roster.people())
    return person && withoutHash(person)
  }

  createPerson(given: NewPerson, by: Actor): Promise<{ person: Person; token: string }> {
    return createPerson(this.#office, given, by)
  }

  updatePerson(id: string, change: Partial<Omit<NewPerson, "id">>, by: Actor): Promise<Person> {
    return updatePerson(this.#office, id, change, by)
  }

  deletePerson(id: string, by: Actor): Promise<Person> {
    return deletePerson(this.#office, id, by)
  }

  sendMessage(message: Parameters<OrganisationBook["sendMessage"]>[0]): Promise<Message> {
    return sendMessage(this.#office, message)
  }

  inbox(agentId: string, filter: { unreadOnly?: boolean } = {}): Promise<readonly Message[]> {
    return this.#office.messages.inbox(agentId, { ...filter, at: this.#office.now() })
  }

  markRead(messageIds: readonly string[]): Promise<void> {
    return this.#office.messages.markRead(messageIds, this.#office.now())
  }

  /** Whatever was looked up may be otherwise now, whoever changed it. */
  #changed(documents: readonly StoredDocument[]): void {
    if (!documents.some(({ kind }) => kinds.includes(kind))) return
    this.#version++
    this.#views.forget()
    const ended = documents.filter(({ kind, id, live }) => kind === "agent" && !live && !this.#office.ending.has(id))
    if (ended.length > 0) this.#stop(ended.map(({ id }) => id))
  }

  /** Another process ended them. What goes wrong here must not stop whoever reads the change. */
  #stop(agentIds: readonly string[]): void {
    const stopping = async () => this.#office.terminated(agentIds)
    stopping().catch(() => {})
  }
}
