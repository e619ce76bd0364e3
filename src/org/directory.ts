import type { QuartermasterEvent } from "../core/events.ts"
import type { Agent, AgentView, Department, Message, Person, Role } from "../core/organisation.ts"
import type { ChangedBy, NewAgent, NewPerson, NewRole, OrganisationAdmin, Sourced } from "./organisation-admin.ts"
import type { LevelOrder } from "../core/permission.ts"
import type { DocumentKind, Documents, StoredDocument } from "../core/documents.ts"
import type { Messages } from "../store/port.ts"
import type { Organisation } from "./organisation.ts"
import { changeAgentRole, createAgent } from "./agents.ts"
import { readConfiguredOrganisation, type OrganisationConfig } from "./configured-organisation.ts"
import { createDepartment, deleteDepartment, renameDepartment } from "./departments.ts"
import { sendMessage } from "./messages.ts"
import type { AgentLimits, GroupCatalog, OrganisationContext, SendersConversations } from "./write-document.ts"
import {
  createPerson,
  deletePerson,
  renewPersonToken,
  revokePersonToken,
  updatePerson,
  withoutTokenHash,
} from "./people.ts"
import { previewAgentRole, previewRole, viewOfRole, type RolePreview } from "./role-preview.ts"
import { createRole, deleteRole, roleRevision, updateRole } from "./roles.ts"
import { Roster } from "./roster.ts"
import { terminateAgent } from "./terminate-agent.ts"
import { findTokenHolder } from "./person-tokens.ts"
import { AgentViews } from "./agent-views.ts"

export interface DirectoryOptions {
  config?: OrganisationConfig
  documents: Documents
  messages: Messages
  /** The conversations to which answers to messages go. */
  conversations?: SendersConversations
  /** Default: 100 agents, 5 deep. */
  limits?: AgentLimits
  groups: GroupCatalog
  levelOrder: LevelOrder
  emit?: (event: QuartermasterEvent) => void
  now?: () => number
}

const noConversations: SendersConversations = {
  get: () => Promise.resolve(undefined),
  readInRun: () => Promise.resolve([]),
}

const kinds: readonly DocumentKind[] = ["role", "agent", "department", "person", "freeze"]

/** The organisation: root and operator, the configured agents, roles and people, and those in the store. */
export class Directory implements Organisation, OrganisationAdmin {
  readonly #context: OrganisationContext
  readonly #roster: Roster
  readonly #views: AgentViews
  readonly #endListeners: ((agentIds: readonly string[]) => void | Promise<void>)[] = []
  #version = 1
  #creating: Promise<unknown> = Promise.resolve()

  constructor(options: DirectoryOptions) {
    const { config = {}, documents, messages, groups, levelOrder } = options
    const { conversations = noConversations } = options
    const { limits = { maxAgents: 100, maxDepth: 5 } } = options
    const { emit = () => {}, now = Date.now } = options
    const defaultToolGroups = config.defaultToolGroups ?? null
    this.#roster = new Roster(readConfiguredOrganisation(config), documents)
    this.#views = new AgentViews(this.#roster, levelOrder, defaultToolGroups)
    const parts = {
      roster: this.#roster,
      views: this.#views,
      documents,
      messages,
      conversations,
      limits,
      groups,
      levelOrder,
      defaultToolGroups,
    }
    this.#context = {
      ...parts,
      emit,
      now,
      onTerminated: (agentIds) => this.#stopWorkOf(agentIds),
      terminating: new Set(),
    }
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
    return this.#roster.findRole(idOrName)
  }

  createRole(given: NewRole, by: ChangedBy): Promise<{ role: Role; created: boolean; hint?: string }> {
    return createRole(this.#context, given, by)
  }

  updateRole(
    idOrName: string,
    change: Partial<NewRole>,
    by: ChangedBy,
    revision?: string,
  ): Promise<{ role: Role; hint?: string }> {
    return updateRole(this.#context, idOrName, change, by, revision)
  }

  deleteRole(idOrName: string, by: ChangedBy, revision?: string): Promise<Role> {
    return deleteRole(this.#context, idOrName, by, revision)
  }

  /** Opaque. It changes with the role. */
  roleRevision(id: string): string {
    return roleRevision(this.#context, id)
  }

  /** The organisation as it would be with a role changed, or with a new one. Throws where saving would be refused. */
  previewRole(id: string | undefined, change: Partial<NewRole>): RolePreview {
    return previewRole(this.#context, id, change)
  }

  /** The organisation as it would be with another role for an agent. Throws where giving it would be refused. */
  previewAgentRole(id: string, role: string): RolePreview {
    return previewAgentRole(this.#context, id, role)
  }

  /** Returns the view that a new agent of a role has. */
  viewOfRole(role: Role): AgentView {
    return viewOfRole(this.#context, role)
  }

  listAgents({ includeTerminated = false }: { includeTerminated?: boolean } = {}): readonly Sourced<Agent>[] {
    const all = this.#roster.agents()
    return includeTerminated ? all : all.filter(({ status }) => status === "active")
  }

  findAgent(id: string): Sourced<Agent> | undefined {
    return this.#roster.agent(id)
  }

  createAgent(given: NewAgent, by: ChangedBy): Promise<Agent> {
    if (by.kind === "person") return createAgent(this.#context, given, by)
    // One after the other: each is counted against agents.maxAgents, and would have to be counted again.
    const created = this.#creating.then(() => createAgent(this.#context, given, by))
    this.#creating = created.catch(() => {})
    return created
  }

  /** Gives an agent another role. Only people do. */
  changeAgentRole(id: string, role: string, by: ChangedBy): Promise<Agent> {
    return changeAgentRole(this.#context, id, role, by)
  }

  terminateAgent(id: string, by: ChangedBy, reason?: string): Promise<string[]> {
    return terminateAgent(this.#context, id, by, reason)
  }

  listDepartments(): readonly Sourced<Department>[] {
    return this.#roster.departments()
  }

  createDepartment(given: { id: string; name?: string }, by: ChangedBy): Promise<Department> {
    return createDepartment(this.#context, given, by)
  }

  renameDepartment(id: string, name: string, by: ChangedBy): Promise<Department> {
    return renameDepartment(this.#context, id, name, by)
  }

  deleteDepartment(id: string, by: ChangedBy): Promise<Department> {
    return deleteDepartment(this.#context, id, by)
  }

  listPeople(): readonly Sourced<Person>[] {
    return this.#roster.people().map(withoutTokenHash)
  }

  findPerson(id: string): Sourced<Person> | undefined {
    const person = this.#roster.person(id)
    return person && withoutTokenHash(person)
  }

  personOfToken(token: string, which?: "expired"): Sourced<Person> | undefined {
    const person = findTokenHolder(token, this.#roster.people())
    const isExpired = (person?.tokenExpiresAt ?? Infinity) <= this.#context.now()
    return person === undefined || isExpired !== (which === "expired") ? undefined : withoutTokenHash(person)
  }

  /** Reports whether a person's token with this hash works now. */
  isTokenOf(id: string, tokenHash: string): boolean {
    const person = this.#roster.person(id)
    return person?.tokenHash === tokenHash && (person.tokenExpiresAt ?? Infinity) > this.#context.now()
  }

  createPerson(given: NewPerson, by: ChangedBy): Promise<{ person: Person; token: string }> {
    return createPerson(this.#context, given, by)
  }

  updatePerson(id: string, change: Pick<NewPerson, "name" | "roles">, by: ChangedBy): Promise<Person> {
    return updatePerson(this.#context, id, change, by)
  }

  renewPersonToken(id: string, given: Pick<NewPerson, "lifetimeMs">, by: ChangedBy) {
    return renewPersonToken(this.#context, id, given, by)
  }

  revokePersonToken(id: string, by: ChangedBy): Promise<Person> {
    return revokePersonToken(this.#context, id, by)
  }

  deletePerson(id: string, by: ChangedBy): Promise<Person> {
    return deletePerson(this.#context, id, by)
  }

  sendMessage(message: Parameters<OrganisationAdmin["sendMessage"]>[0]): Promise<Message> {
    return sendMessage(this.#context, message)
  }

  inbox(agentId: string, filter: { unreadOnly?: boolean } = {}): Promise<readonly Message[]> {
    return this.#context.messages.inbox(agentId, { ...filter, at: this.#context.now() })
  }

  /** The newest messages to an agent and from it, newest first. */
  correspondence(agentId: string, limit: number): Promise<readonly Message[]> {
    return this.#context.messages.correspondence(agentId, { at: this.#context.now(), limit })
  }

  markRead(messageIds: readonly string[]): Promise<void> {
    return this.#context.messages.markRead(messageIds, this.#context.now())
  }

  /** Calls the listener with the agents that were terminated, here or in another process, to stop their work. */
  onTerminated(listener: (agentIds: readonly string[]) => void | Promise<void>): void {
    this.#endListeners.push(listener)
  }

  /** Clears the cached views and stops agents that another process terminated. */
  #changed(documents: readonly StoredDocument[]): void {
    if (!documents.some(({ kind }) => kinds.includes(kind))) return
    this.#version++
    this.#views.clear()
    const ended = documents.filter(
      ({ kind, id, live }) => kind === "agent" && !live && !this.#context.terminating.has(id),
    )
    if (ended.length > 0) this.#stop(ended.map(({ id }) => id))
  }

  async #stopWorkOf(agentIds: readonly string[]): Promise<void> {
    for (const listener of this.#endListeners) await listener(agentIds)
  }

  /** An error here must not reach the code that read the change. */
  #stop(agentIds: readonly string[]): void {
    this.#stopWorkOf(agentIds).catch(() => {})
  }
}
