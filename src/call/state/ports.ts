import type { CancelSignal } from "../../lib/stop.ts"
import type { SettledAnswer, CallRow, CallState } from "../../core/call.ts"
import type { Vote, WaitingCounts } from "../../core/approval.ts"
import type { ApprovalUIAdapter } from "../../core/approval.ts"
import type { EventType, QuartermasterEvent } from "../../core/events.ts"
import type { Language } from "../../core/language.ts"
import type { Logger } from "../../core/logger.ts"
import type { LevelOrder } from "../../core/permission.ts"
import type { Agent, AgentView, Message } from "../../core/organisation.ts"
import type { Alias } from "../../registry/dialect.ts"
import type { Finding, Guards } from "../../core/guard.ts"
import type { Approvers, FileSizes, Grant, Touches } from "../../core/rule.ts"
import type { Durability, Reason, AuditEntry, StartEntry, StepEntry } from "../../core/audit-entry.ts"
import type { DialectNames } from "../../core/dialect-text.ts"
import type { SecretPaths } from "../../core/schema.ts"
import type { Ending } from "../../core/ending.ts"
import type { EndingCode } from "../../core/result.ts"
import type { CallArtifacts, CallSession, RegisteredTool, StoredArtifact } from "../../core/tool.ts"

/** Everything the steps of a call need from other parts. `app.ts` puts it together. */
export interface Ports {
  tools: Tools
  organisation: Organisation
  policy: Policy
  guards: Guards
  /** Results of tools with `cache`. Losing one costs a run, nothing else. */
  cache: ResultCache
  limits: Limits
  permits: Permits
  recorder: Recorder
  calls: CallStore
  artifacts: Artifacts
  masker: Masker
  /** How this process asks a person. What it cannot ask waits in the approval queue. */
  approvalUI: Partial<ApprovalUIAdapter>
  grants: { save(grant: Grant): Promise<void> }
  /** The roles of a person. Undefined when there is no such person. */
  rolesOf(person: string): readonly string[] | undefined
  /** Since when there is an active person with this id in the organisation; an empty text for a configured one. */
  personSince(id: string): string | undefined
  /** Whether the token exists and is neither revoked nor expired. */
  isTokenValid(tokenId: string): boolean
  /** Whether the calls of a session go on by themselves, once they are answered, wherever agents run. */
  goesOnByItself(sessionId: string): Promise<boolean>
  /** Whether the name is that of an agent and not of a person. */
  isAgent(name: string): boolean
  emit(event: QuartermasterEvent): void
  /** Whether there are listeners, so that events without any need not be built. */
  hasListeners(type: EventType): boolean
  /** The calls whose tools are running, each with a function that cancels it. */
  running: Map<string, { agentId: string; cancel(because?: Ending): void }>
  /** Aborted when the app closes: nothing starts any more, and calls that wait for a person stay in the approval queue. */
  closing: AbortSignal
  logger: Logger
  settings: CallSettings
  /** The name of this process as the owner of calls. */
  owner: string
  /** Whether the process with this owner name is still running. */
  isAlive(owner: string): boolean | Promise<boolean>
  /** SHA-256 of the files a call names, by path. A missing file has a fixed text in place of a hash. */
  digests(touches: Touches): Promise<Readonly<Record<string, string>>>
  /** What there is now at each path that a call writes. */
  fileSizes(touches: Touches): Promise<FileSizes>
  /** The versions of all touched files as one text. Undefined when one of them is not a regular file. */
  fileVersions(touches: Touches): string | undefined
  /** Reads rules, grants and other documents that other processes changed. Returns whether there were any. */
  refresh(): Promise<boolean>
  /** Sends the configured notifications that something waits for a person. */
  notify(row: CallRow): void
  /** Tells the host that something waits and this process asks nobody about it. */
  tellUnasked(row: CallRow): void
  now(): number
}

/** Results by a key made of tool, input and file versions. */
export interface ResultCache {
  get(key: string, at: number): { value: unknown } | undefined
  set(key: string, value: unknown, until: number): void
}

export interface CallSettings {
  /** Whether the host gets results that a person withheld. */
  keepWithheld?: boolean | undefined
  durability: Durability
  /** The time limit of tools that set none. */
  timeoutMs: number
  approvalDeadlineMs: number
  /** How many calls of one agent wait for people at the same time. */
  maxWaiting: number
  /** When no one is there to answer: wait for the deadline, or reject at once. */
  unattended: "wait" | "reject"
  levelOrder: LevelOrder
  /** Whether models are asked why they make a call. */
  askIntent: boolean
  language: Language
  /** The folder this process works in. Grants and waiting calls belong to one workspace. */
  workspace: string
}

/** Rules, grants and session modes, as they are now. */
export interface Policy {
  /** A hash of everything that decides calls, written into the audit log. */
  readonly version: string
  /** The deny rule that applies to every input of this agent for this tool, if there is one. Such a tool is hidden. */
  hiddenByRule(tool: RegisteredTool, who: AgentView): Reason | undefined
  /** The verdict on one call. It has no side effects. */
  decide(facts: DecisionInput): Verdict
  /** Whether a search by this call may show a file. Undefined when no rule is about files. */
  searchFilter(
    facts: Pick<DecisionInput, "who" | "tool" | "input" | "workspace">,
  ): ((path: string) => boolean) | undefined
}

/** Everything a decision depends on. */
export interface DecisionInput {
  who: AgentView
  tool: RegisteredTool
  input: unknown
  touches: Touches
  /** What the guards found about the touches. */
  findings?: readonly Finding[] | undefined
  limit: LimitVerdict
  sessionId: string
  taskId?: string | undefined
  workspace: string
  at: number
  /** For `qm why`: the part of a command line that a rule may name. See `Guards.commandStem`. */
  commandStem?: ((line: string) => string | undefined) | undefined
}

export interface Verdict {
  verdict: "allow" | "ask" | "deny"
  /** Why, strongest first. For an ask: what an approver must approve. Rules in shadow come last. */
  reasons: readonly Reason[]
  /** The ending of a deny. */
  code?: EndingCode | undefined
  /** For a deny by a rate limit: when to try again. */
  retryAfterMs?: number | undefined
  /** For an ask: every requirement must be met. */
  approvers?: readonly Approvers[] | undefined
  /** For an ask: the shortest deadline a rule set, in milliseconds. */
  deadlineMs?: number | undefined
  /** When a rule holds the result. */
  release?: "always" | "on-error" | undefined
  /** The rules that hold the result. */
  holds?: readonly HoldingRule[] | undefined
}

/** A rule that holds results back: why, and whether all of them or only failures. */
export interface HoldingRule {
  when: "always" | "on-error"
  reason: Reason
}

/** Messages to agents, with durability *power*. Reading a message does not delete it. */
export interface Messages {
  insert(message: Message): Promise<void>
  /** Messages delivered by `at`, oldest first: the oldest thousand unread ones, or the newest thousand of all. */
  inbox(recipient: string, filter: { at: number; unreadOnly?: boolean }): Promise<Message[]>
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
  /** Which agents wait for answers of which: `openFrom` of all conversations that have not ended. */
  openByAgent(): Promise<{ agentId: string; to: string }[]>
  /** How many messages for conversations each recipient has not read, also those that are not due yet. */
  unreadCounts(): Promise<{ agentId: string; unread: number }[]>
  answerTo(messageId: string): Promise<Message | undefined>
  /** The conversation from which `from` last wrote to `to`. */
  lastConversation(from: string, to: string): Promise<string | undefined>
  /** Marks messages as read and stores answers, both or neither. A second answer to the same message is left out. */
  settle(messageIds: readonly string[], answers: readonly Message[], at: number): Promise<void>
}

/** The registry, as the steps of a call use it. */
export interface Tools {
  /** The tool with this name: from the agent's own layer first, then its department's, then the system's. */
  resolve(name: string, who: AgentView | undefined): RegisteredTool | undefined
  /** The alias with this name, from the dialect of the agent's role first. */
  alias(name: string, who: AgentView | undefined): Alias | undefined
  /** The names of tools and parameters in a dialect. Undefined when it has none of its own. */
  dialectNames(dialect: string): DialectNames | undefined
  /** All names, for "Did you mean …?". */
  names(): Iterable<string>
  /** The names of tools that an agent with these groups may be able to see. */
  namesIn(groups: readonly string[] | null, who: AgentView): Iterable<string>
  /** Grows with every change of the registry. */
  readonly version: number
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean
  count(tool: RegisteredTool, durationMs: number, error: string | undefined): void
}

export interface Organisation {
  /** Undefined when the agent does not exist, was terminated or has an unknown role: it may use no tool. */
  view(agentId: string): AgentView | undefined
  listAgents(): readonly { readonly id: string }[]
  /** Also one that was terminated. */
  findAgent(id: string): Pick<Agent, "parentId"> | undefined
  /** Grows with every change. */
  readonly version: number
}

/** Sliding windows per agent and tool. */
export interface Limits {
  /** Whether a call could start now. Counts nothing. */
  check(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict>
  /** Counts a call that starts, or says when to try again. */
  take(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict>
}
export type LimitVerdict = { ok: true } | { ok: false; sentence: string; retryAfterMs: number }

/** Limits how many tools run at once. A permit is held while `execute` runs, not while a call waits for a person. */
export interface Permits {
  acquire(request: {
    agentId: string
    callId: string
    exclusive: boolean
    /** True for composite and interactive tools: they take no permit, but an exclusive one still waits its turn. */
    free: boolean
    parentCallIds: readonly string[]
    signal: CancelSignal | undefined
  }): Permit | Promise<Permit>
}
export interface Permit {
  /** The call began (+1) or stopped (-1) waiting for another call or a person. Meanwhile another call may run. */
  changeWaiting(change: 1 | -1): void
  release(): void
}

/** Writes the audit log. An entry is durable when `write` resolves. */
export interface Recorder {
  /** Resolves when the entry is written with this durability level. Rejects when it could not be written. */
  write(entry: AuditEntry, grade: Durability): Promise<void>
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
  /** How much waits for people and has not expired, by kind. */
  countWaiting(filter: { agentId?: string | undefined; at: number; since?: number | undefined }): Promise<WaitingCounts>
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
    taskId?: string | undefined
    callId: string
    sharesWith?: ((agentId: string) => boolean) | undefined
  }): CallArtifacts
}

/** Removes secrets from text for the audit log and cuts it to length. */
export interface Masker {
  /** `secrets` are paths that a schema marks, `also` texts that were secret elsewhere in the call. */
  mask(value: unknown, secrets?: SecretPaths, also?: readonly string[]): Masked
  text(sentence: string, also?: readonly string[]): string
}
export interface Masked {
  text: string
  /** Keyed digest of the whole value, when something was masked or cut. */
  digest?: string
  /** Characters of the whole JSON text. */
  length: number
  /** The secrets that were masked. Kept in memory only, to mask them in the tool's output too. */
  hidden?: readonly string[]
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
