/** Who brought something into the organisation. Only what a person or the configuration made can give rights by its name. */
export type Maker = "configuration" | "person" | "agent"

interface Made {
  /** The id of the person or agent, or `configuration`. */
  createdBy: string
  madeBy: Maker
  /** ISO 8601. */
  createdAt: string
}

/** A person answers approvals; has roles and, unless it is the user of this machine, a token. */
export interface Person extends Made {
  id: string
  name: string
  /** Names of roles; approvers are asked for by role. */
  roles: readonly string[]
  status: "active" | "deleted"
  /** SHA-256 of the token that proves who speaks. */
  tokenHash?: string | undefined
  /** Told in place of the hash to whoever may not see it. */
  hasToken?: boolean | undefined
}

/** A role (岗位) says which groups its agents are given. */
export interface Role extends Made {
  id: string
  name: string
  rolePrompt: string
  status: "active" | "deleted"
  llmServiceId: string | null
  /** Null means all groups. An empty list is stored as null. */
  toolGroups: readonly string[] | null
  department?: string | undefined
  level?: number | undefined
  /** The names its model is used to: native, claude or classic. */
  dialect?: string | undefined
  /** Tool name to the version this role is held to. */
  pins?: Readonly<Record<string, string>> | undefined
}

export interface Department extends Made {
  id: string
  name: string
  status: "active" | "deleted"
}

export interface Agent extends Made {
  id: string
  roleId: string
  department?: string | undefined
  level?: number | undefined
  /** The agent that spawned it, whose ceilings it inherits. */
  parentId?: string | undefined
  status: "active" | "terminated"
  /** Agents of one task may write to each other. */
  taskId?: string | undefined
  taskBrief?: unknown
  pins?: Readonly<Record<string, string>> | undefined
  /** Who terminated it, when, and why. */
  ended?: { by: string; at: number; because?: string | undefined } | undefined
}

/** What one agent, or a person, wrote to an agent. It carries no person's authority. */
export interface Message {
  id: string
  from: string
  to: string
  payload: unknown
  taskId?: string | undefined
  createdAt: number
  /** Not before this time. */
  deliverAt: number
  readAt: number | null
}

/** Everything the walk asks about an agent, looked up once. */
export interface AgentView {
  readonly agent: Agent
  readonly role: Role
  readonly department?: string | undefined
  /** Its own level, held down by its spawners'. */
  readonly level: number
  /** The groups this agent holds, held down by its spawners'; null means all. */
  readonly groups: readonly string[] | null
  readonly pins: Readonly<Record<string, string>>
  /** Who spawned it, nearest first, without root: root organises and sets no ceiling. */
  readonly spawners: readonly AgentView[]
  /** Set while a person has frozen the agent, a spawner of it, or everyone. */
  readonly frozen?: Freeze | undefined
}

export interface Freeze {
  by: string
  at: number
  because?: string | undefined
}

/** How strict a session is: reads only, as the rules say, or workspace edits without asking. */
export const sessionModes = ["plan", "ask", "edits"] as const
export type SessionMode = (typeof sessionModes)[number]
