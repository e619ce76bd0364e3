import type { CallState } from "./call.ts"
import type { Message } from "./organisation.ts"

/**
 * The state of a conversation.
 *
 * - `active`: a process works on it, or should: what it does next is in its turns.
 * - `waiting`: calls of its last turn wait for people.
 * - `idle`: the model has answered; more can be said.
 * - `paused`: it goes on only after a person resumed it, for example after a backup was restored.
 * - `ended`: closed for good.
 */
export const conversationStates = ["active", "waiting", "idle", "paused", "ended"] as const
export type ConversationState = (typeof conversationStates)[number]

/** The usage of a conversation. `cost` is in US dollars, by the prices of the models. */
export interface Spent {
  rounds: number
  calls: number
  inputTokens: number
  outputTokens: number
  cost: number
}

/** The usage of agents on a day of the calendar (UTC, as `2026-11-18`). */
export interface DaySpending {
  of(agentId: string, day: string): Promise<{ tokens: number; cost: number }>
  add(agentIds: readonly string[], day: string, used: { tokens: number; cost: number }): Promise<void>
}

/** A conversation of an agent with a model. Its id is the session id of its calls. */
export interface Conversation {
  id: string
  agentId: string
  state: ConversationState
  /** The process that works on it, "" when none does, and how often it was claimed. */
  owner: string
  epoch: number
  /** The starter's id: a person's or the agent's. */
  startedBy: string
  /** The settings at its start, as the agent loop wrote them: model, instructions, limits. */
  settings: unknown
  spent: Spent
  /**
   * The id of the conversation at the top of the tree that its current run belongs to, whose budget that run shares; ""
   * when that is itself. What it uses counts there. Its next run may belong to another tree.
   */
  root: string
  /** The title in lists: from its first message, or as a person named it. */
  title: string
  /** The beginning of the last text in it. */
  preview: string
  /** The ending of its last run; "" before the first one has ended. */
  ending: string
  /** The number of turns that the model was given, or is given now. Later turns can be taken back. */
  read: number
  /** The conversation that it was branched from, and the turn from which it differs. */
  branchOf?: { id: string; index: number }
  /** The number of its turns. The next one gets this index. */
  length: number
  createdAt: number
  updatedAt: number
}

/** The fields of a new conversation. */
export type NewConversation = Omit<
  Conversation,
  "length" | "createdAt" | "updatedAt" | "title" | "preview" | "ending" | "read"
> &
  Partial<Pick<Conversation, "title" | "preview" | "ending" | "read">>

/** The states of a conversation as people are shown them. `waiting` and `working`: it, or one below it. */
export const shownStates = ["working", "waiting", "done", "stopped", "failed"] as const
export type ShownState = (typeof shownStates)[number]

/** A conversation in a list. */
export interface ListedConversation extends Conversation {
  shown: ShownState
  /** Its cost together with those below it. */
  cost: number
}

/** The filter for a list of conversations. */
export interface ConversationFilter {
  id?: string
  agentId?: string
  states?: readonly ConversationState[]
  shown?: ShownState
  startedBy?: string
  branchOf?: string
  /** Without those whose id begins with this. */
  notPrefix?: string
  /** A text in its title, its preview or the name of its agent, whatever its case. */
  search?: string
  /** The text that a former call returned. */
  cursor?: string
  limit?: number
}

/**
 * One step of a conversation. Turns are only ever added. `kind` and `body` belong to the agent loop: what was said to the
 * model, what it answered, what its calls came to.
 */
export interface Turn {
  conversationId: string
  index: number
  kind: string
  body: unknown
  at: number
}

export type NewTurn = Pick<Turn, "kind" | "body">

/** A turn of a conversation below another one. `row` grows with every turn that is stored. */
export interface TurnBelow extends Turn {
  row: number
  agentId: string
  /** The usage of its conversation by now. */
  spent: Spent
}

/** A call that waits for a person in a conversation below another one. `change` grows with every change of a call. */
export interface WaitingBelow {
  change: number
  callId: string
  tool: string
  agentId: string
  conversationId: string
  at: number
  spent: Spent
}

/** A stored call of a conversation. */
export interface OpenCall {
  callId: string
  key: string
  state: CallState
  at: number
}

/** A message that was sent from a conversation, or from one below it. */
export interface SentBelow {
  id: string
  conversationId: string
  at: number
}

/** The rows stored in the conversations below one. */
export interface StoredBelow {
  turns: TurnBelow[]
  waiting: WaitingBelow[]
  sent: SentBelow[]
}

/** The claim of a process on a conversation. A write with an older epoch is refused. */
export interface ConversationClaim {
  owner: string
  epoch: number
}

/** A change that is written together with turns. */
export interface ConversationChange {
  state?: ConversationState
  spent?: Spent
  owner?: string
  settings?: unknown
  /** The tree of the run that begins. */
  root?: string
  title?: string
  preview?: string
  ending?: string
  read?: number
  /** The number of turns the writer knows of, where the new ones must come right after those. */
  length?: number
  /** The ids of messages that these turns hold: they are read from now on. */
  reads?: readonly string[]
  /** Messages to store. A second answer to the same message is left out. */
  sends?: readonly Message[]
}

/** A turn, and the state of its conversation from then on; also the root, where it begins a run. */
export interface PostedTurn extends Pick<ConversationChange, "title" | "preview"> {
  turn: NewTurn
  state: ConversationState
  root?: string
}

/** Stores conversations and their turns. Several processes share it. */
export interface Conversations {
  create(conversation: NewConversation): Promise<Conversation>
  get(id: string): Promise<Conversation | undefined>
  /** Those that changed last first. There is no cursor after the last page. */
  list(filter?: ConversationFilter): Promise<{ conversations: ListedConversation[]; cursor?: string }>
  /** All conversations in these states whose id begins with `prefix`, those that changed longest ago first. */
  withPrefix(prefix: string, states: readonly ConversationState[]): Promise<Conversation[]>
  /** Takes the conversation over from `expected`. Undefined when it has changed hands since. */
  claim(id: string, expected: ConversationClaim, owner: string): Promise<ConversationClaim | undefined>
  /**
   * Adds turns and makes the change, all or nothing. Returns the new length, or undefined when the claim or length no
   * longer holds.
   */
  append(
    id: string,
    claim: ConversationClaim,
    turns: readonly NewTurn[],
    change?: ConversationChange,
  ): Promise<number | undefined>
  /**
   * Adds a turn without a claim, as a person or another process does: one that may depend on the conversation, whose state
   * it may change too. Undefined when the conversation has ended, or the function returns nothing.
   */
  post(
    id: string,
    turn: NewTurn | ((state: ConversationState, conversation: Conversation) => PostedTurn | undefined),
  ): Promise<number | undefined>
  /** Changes the title or the settings without a claim, and not when it was used. Undefined for an unknown conversation. */
  revise(
    id: string,
    change: (conversation: Conversation) => Pick<ConversationChange, "title" | "settings">,
  ): Promise<Conversation | undefined>
  /** Returns the usage in the tree below a conversation, by itself and by others. */
  spentInTree(root: string): Promise<Spent>
  /** Returns the usage of all stored conversations of each agent. */
  spentByAgent(): Promise<{ agentId: string; spent: Spent }[]>
  /** Returns the cost of the models of each agent since then, in all its conversations. */
  costSince(at: number): Promise<{ agentId: string; cost: number }[]>
  /** All turns from this index on, and before another one, oldest first. */
  turns(id: string, from?: number, before?: number): Promise<Turn[]>
  /**
   * Returns the rows of the conversations written to from this one, directly or through others: turns after `row`,
   * with the messages to them and the endings of their runs also before it; calls that wait and changed after
   * `change`; and all messages that led there.
   */
  below(id: string, after: { row: number; change: number }): Promise<StoredBelow>
  /** The stored calls of a conversation of an agent with these keys. */
  callsWith(of: Pick<Conversation, "id" | "agentId">, keys: readonly string[]): Promise<OpenCall[]>
  /** Resolves when the conversation has more than `length` turns, after the time, or when a signal aborts. */
  waitForTurns(
    id: string,
    length: number,
    milliseconds: number,
    signals?: readonly (AbortSignal | undefined)[],
  ): Promise<void>
  /** Deletes one conversation with its turns, if it is in one of these states. Returns whether it was. */
  eraseOne(id: string, states: readonly ConversationState[]): Promise<boolean>
  /**
   * Deletes conversations that have not changed since, with their turns and the messages that they had read, and messages
   * that people had read. Returns how many conversations.
   */
  erase(olderThan: number): Promise<number>
}
