/** The kind of a creator. Rules that name a role count only roles created by a person or the configuration. */
export type Creator = "configuration" | "person" | "agent"

interface Made {
  /** The id of a person or agent, or `configuration`. */
  createdBy: string
  madeBy: Creator
  /** ISO 8601. What is built in or configured has no such time; it is 1970 there. */
  createdAt: string
}

/** A person who answers approvals. Proves who they are by a token, unless they are the user of this machine. */
export interface Person extends Made {
  id: string
  name: string
  /** Names of roles. A rule may require approvers with a role. */
  roles: readonly string[]
  /** Their scopes over HTTP. Left out: read, call and approve. Only the configuration sets them. */
  scopes?: readonly Scope[]
  status: "active" | "deleted"
  /** SHA-256 of their token. */
  tokenHash?: string
  /** The time the token stops working, in milliseconds since 1970. Left out: never. */
  tokenExpiresAt?: number
  /** Given in place of the hash where the hash must not be shown. */
  hasToken?: boolean
}

/** The purpose of an agent. A role decides which groups of tools its agents have. */
export interface Role extends Made {
  id: string
  name: string
  rolePrompt: string
  status: "active" | "deleted"
  /** The model of its agents. Null means the default model. */
  llmServiceId: string | null
  /** Null means all groups. An empty list is stored as null. */
  toolGroups: readonly string[] | null
  department?: string
  level?: number
  /** The dialect of its tool names: native, claude or classic. */
  dialect?: string
  /** Tool name to the version its agents use. */
  pins?: Readonly<Record<string, string>>
}

export interface Department extends Made {
  id: string
  name: string
  status: "active" | "deleted"
}

export interface Agent extends Made {
  id: string
  roleId: string
  department?: string
  level?: number
  /** The agent that spawned it. An agent never exceeds its parent's permissions. */
  parentId?: string
  status: "active" | "terminated"
  /** Agents of the same task may send each other messages. */
  taskId?: string
  taskBrief?: unknown
  /** The folder of the workspace that it works in when the society runs it; left out: its parent's. */
  folder?: string
  pins?: Readonly<Record<string, string>>
  /** The person who terminated it, the time, and the reason. */
  ended?: { by: string; at: number; because?: string }
}

/**
 * The present activity of an agent.
 *
 * - `working`: its model runs.
 * - `unfinished`: it is in the middle of something, and no process goes on with it: none runs agents, or one is about to.
 * - `unread`: it has messages, and no process works on them yet: none runs agents, or one is about to.
 * - `no_model`: it has messages, and no model is configured that could work on them.
 * - `waiting`: a person has to answer.
 * - `delegated`: it waits for the answers of other agents.
 * - `frozen`, `idle`
 */
export const activities = [
  "working",
  "unfinished",
  "unread",
  "no_model",
  "waiting",
  "delegated",
  "frozen",
  "idle",
] as const
export type Activity = (typeof activities)[number]

/** A message to an agent or to `user`, from an agent or a person. It carries no permissions. */
export interface Message {
  id: string
  /** An agent's id, or `user` for a person: `userId` says which one. */
  from: string
  to: string
  payload: unknown
  /** An answer is what an agent had to say at the end of its work on a message. It asks for no answer itself. */
  kind: "message" | "answer"
  /** For an answer: the id of the message it answers. */
  about?: string
  taskId?: string
  /** The person for whom all of it happens. */
  userId?: string
  /** The number of messages that led to this one, each sent because of the one before. */
  hops: number
  /** The conversation it was sent from. An answer goes there. */
  conversationId?: string
  /** The conversation that takes it. Left out for messages to `user`, and for those from before there were any. */
  target?: string
  /** The conversation at the top of the tree that it was sent in. The run that it begins belongs to that tree. */
  root?: string
  createdAt: number
  /** The message is not delivered before this time. */
  deliverAt: number
  readAt: number | null
}

/** An agent with its role and everything derived from both. */
export interface AgentView {
  readonly agent: Agent
  readonly role: Role
  readonly department?: string
  /** Its own level, limited by its ancestors'. */
  readonly level: number
  /** Its own groups, limited by its ancestors'. Null means all. */
  readonly groups: readonly string[] | null
  readonly pins: Readonly<Record<string, string>>
  /** Its folder, or that of the nearest agent above it that has one. */
  readonly folder?: string
  /** The agents above it, nearest first, without root: root limits no one. */
  readonly ancestors: readonly AgentView[]
  /** Set while the agent, one of its ancestors, or every agent is frozen. */
  readonly frozen?: Freeze
}

export interface Freeze {
  /** The agent that was frozen, with all below it; left out where everyone is frozen. */
  agentId?: string
  by: string
  at: number
  because?: string
}

/** *plan* only reads, *ask* follows the rules, *edits* allows edits in the workspace without asking. */
export const sessionModes = ["plan", "ask", "edits"] as const
export type SessionMode = (typeof sessionModes)[number]

/** A mode other than *ask*. Plan holds in all sessions of its agent and of the agents below it, edits in one session. */
export interface ModeInForce {
  mode: Exclude<SessionMode, "ask">
  agentId: string
  /** For a plan: where it was begun. The person who began that conversation may end it. */
  sessionId?: string
  by: string
  /** For edits, see `Giver`: they end when their person is removed. */
  since?: string | null
  at: number
  /** Edits end at this time. A plan ends when a person ends it. */
  until?: number
}

/** *ask* ends the plan of the agent and its edits, in the session or, without one, in all of them. */
export interface ModeChange {
  agentId: string
  sessionId?: string
  mode: SessionMode
  by: string
  /** The scopes of `by`. Left out: everything, as the program that holds the app may. */
  scopes?: readonly Scope[]
}

/** The scopes over HTTP. An agent's token has `call`, and `read` of its own calls. */
export const scopes = ["read", "call", "approve", "manage"] as const

export type Scope = (typeof scopes)[number]

/** The scopes of people, unless the configuration gives them others. */
export const usualScopes: readonly Scope[] = ["read", "call", "approve"]
