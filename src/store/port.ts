import type { Message, AgentView } from "../core/organisation.ts"
import type { RegisteredTool, StoredArtifact, CallArtifacts, CallSession } from "../core/tool.ts"
import type { LimitVerdict } from "../core/verdict.ts"
import type { AuditEntry, StartEntry, StepEntry } from "../core/audit-entry.ts"
import type { Durability } from "../core/reason.ts"
import type { CallRow, CallState, SettledAnswer } from "../core/call.ts"
import type { WaitingCounts, Vote } from "../core/approval.ts"
import type { CancelSignal } from "../lib/stop.ts"
import type { EndingCode } from "../core/result.ts"

/** Messages to agents, with durability *power*. Reading a message does not delete it. */
export interface Messages {
  insert(message: Message): Promise<void>
  /** Messages delivered by `at`, oldest first: the oldest thousand unread ones, or the newest thousand of all. */
  inbox(recipient: string, filter: { at: number; unreadOnly?: boolean }): Promise<Message[]>
  /** The newest messages to an agent and from it, newest first. */
  correspondence(agentId: string, filter: { at: number; limit: number }): Promise<Message[]>
  /** A message that was already read keeps its first `readAt`. */
  markRead(messageIds: readonly string[], at: number): Promise<void>
  /** The unread messages for a conversation, oldest first. */
  unreadFor(conversationId: string, filter: { at: number; limit: number }): Promise<Message[]>
  /** The oldest unread message of each conversation whose id begins with `prefix`, oldest first. */
  unreadConversations(prefix: string, at: number): Promise<Message[]>
  /** The unread messages to a recipient, also those that are not due yet. */
  unreadTo(recipient: string): Promise<Message[]>
  /** Messages sent from a conversation to agents whose answer has not come or is not read. */
  openFrom(conversationId: string): Promise<Message[]>
  /** Returns the agents that wait for answers of others: `openFrom` of all conversations that have not ended. */
  openByAgent(): Promise<{ agentId: string; to: string }[]>
  /** Returns the number of unread messages for conversations per recipient, also of those not due yet. */
  unreadCounts(): Promise<{ agentId: string; unread: number }[]>
  answerTo(messageId: string): Promise<Message | undefined>
  /** The conversation from which `from` last wrote to `to`. */
  lastConversation(from: string, to: string): Promise<string | undefined>
  /** Marks messages as read and stores answers, both or neither. A second answer to the same message is left out. */
  settle(messageIds: readonly string[], answers: readonly Message[], at: number): Promise<void>
}

/** Sliding windows per agent and tool. */
export interface Limits {
  /** Reports whether a call could start now. Counts nothing. */
  check(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict>
  /** Counts a call that starts, or says when to try again. */
  take(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict>
}

/** Writes the audit log. An entry is durable when `write` resolves. */
export interface Recorder {
  /** Resolves when the entry is written with this durability level. Rejects when it could not be written. */
  write(entry: AuditEntry, durability: Durability): Promise<void>
  /**
   * Queues the start of a call that only reads. It is written together with the next entry, at the latest in the next turn
   * of the event loop, and never after a later entry. If that fails, the end of the call is refused too. Calls `written`
   * once it is written. Returns a promise when the caller must wait for that.
   */
  queue(start: StartEntry, written: () => void): Promise<void> | undefined
  /** Writes what is queued now. Must be called before anything about a queued call leaves the process. */
  flush(): void
  /** Resolves when everything written so far can be queried. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** Stored calls, with durability *power*. Every change is one compare-and-set. */
export interface CallStore {
  /**
   * Returns the existing row when there is one with the same key, or one that waits with the same agent, tool and input;
   * none when `maxWaiting` calls of the agent wait already.
   */
  insert(
    row: CallRow,
    maxWaiting?: number,
  ): Promise<{ inserted: true } | { inserted: false; existing: CallRow | undefined }>
  /** Counts the items that wait for people and have not expired, by kind. */
  countWaiting(filter: { agentId?: string; at: number; since?: number }): Promise<WaitingCounts>
  get(id: string): Promise<CallRow | undefined>
  /** Changes the row if state, owner and epoch are still as expected. */
  swap(
    id: string,
    expected: { state: CallState; owner: string; epoch: number },
    change: Partial<Omit<CallRow, "id">>,
  ): Promise<boolean>
  /**
   * Stores a vote and, when it is the last one needed, the answer. Only if the row still waits and has the revision and
   * votes that were seen.
   */
  recordAnswer(
    id: string,
    seen: { revision: number; votes: readonly Vote[] },
    update: { votes: readonly Vote[]; answer: SettledAnswer | null },
  ): Promise<boolean>
  /** Oldest first. `after` is the last row of the previous page. */
  list(filter: {
    states?: readonly CallState[]
    agentId?: string
    sessionId?: string
    inputDigest?: string
    /** Only rows with a later deadline. */
    deadlineAfter?: number
    after?: Pick<CallRow, "id" | "createdAt">
    limit?: number
  }): Promise<CallRow[]>
  /** Ids of the rows that changed after the cursor, and the next cursor. */
  changesSince(cursor: number): Promise<{ ids: string[]; cursor: number }>
  /** Resolves when the row may have changed, or after this many milliseconds. A hint only. */
  waitForChange(id: string, milliseconds: number, signals?: readonly (CancelSignal | undefined)[]): Promise<void>
  /** Erases raw inputs and results that are older. Returns how many rows. */
  erase(olderThan: number): Promise<number>
  /** The store's clock. */
  clock(): Promise<number>
}

export interface Artifacts {
  put(artifact: Omit<StoredArtifact, "id" | "createdAt">): Promise<string>
  get(ref: string): Promise<StoredArtifact | undefined>
  /** `sharesWith` says which other agents' artifacts of the same task the call may read; none when left out. */
  forCall(of: {
    agentId: string
    taskId?: string
    callId: string
    sharesWith?: (agentId: string) => boolean
  }): CallArtifacts
}

export interface AuditFilter {
  agentId?: string
  tool?: string
  taskId?: string
  /** A status or a code. */
  status?: string
  /** Only calls that ended with one of these codes. */
  codes?: readonly EndingCode[]
  /** Only calls with an entry of one of these kinds, for example `asked`. */
  withEntry?: readonly StepEntry["kind"][]
  /** About one of so many calls, evenly over the time: a sample. */
  oneOf?: number
  since?: number
  until?: number
  limit?: number
}

/** One ended call in the audit log. */
export interface AuditRow {
  callId: string
  at: number
  agentId: string
  tool: string
  status: string
  code: EndingCode | undefined
  durationMs: number
}

/** Environment variables that agents set for their session. No agent has those of another, whatever session it names. */
export interface SessionEnvironment {
  get(session: CallSession, key: string): Promise<string | undefined>
  /** Returns the previous value. */
  set(session: CallSession, key: string, value: string): Promise<string | undefined>
  /** All variables of the session. */
  all(session: CallSession): Readonly<Record<string, string>>
}
