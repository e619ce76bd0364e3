/** A person answers approvals; has roles and tokens. */
export interface Person {
  id: string
  name: string
  roles: readonly string[]
}

/** A role (岗位) says which groups its agents are given. */
export interface Role {
  id: string
  name: string
  rolePrompt: string
  createdBy: string
  /** ISO 8601. */
  createdAt: string
  status: "active" | "deleted"
  llmServiceId: string | null
  /** Null means all groups. An empty list is stored as null. */
  toolGroups: readonly string[] | null
  department?: string | undefined
  level?: number | undefined
  /** Tool name to the version this role is held to. */
  pins?: Readonly<Record<string, string>> | undefined
}

export interface Agent {
  id: string
  roleId: string
  department?: string | undefined
  level: number
  parentId?: string | undefined
  status: "active" | "terminated"
  pins?: Readonly<Record<string, string>> | undefined
}

/** Everything the walk asks about an agent, looked up once. */
export interface AgentView {
  readonly agent: Agent
  readonly role: Role
  readonly department?: string | undefined
  readonly level: number
  /** The groups this agent holds; null means all. */
  readonly groups: readonly string[] | null
  readonly pins: Readonly<Record<string, string>>
}
