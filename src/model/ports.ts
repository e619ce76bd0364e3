import type { Answer, CallRow, CallState } from "./call.ts"
import type { Vote } from "./approval.ts"
import type { ApprovalUIAdapter } from "./approval.ts"
import type { EventType, QuartermasterEvent } from "./events.ts"
import type { Logger } from "./logger.ts"
import type { LevelOrder } from "./permission.ts"
import type { AgentView, Message } from "./organisation.ts"
import type { Alias } from "./dialect.ts"
import type { Finding, Guards } from "./guard.ts"
import type { Approvers, Grant, Touches } from "./rule.ts"
import type { Durability, Reason, RecordEntry } from "./record.ts"
import type { Names } from "./renamed.ts"
import type { SecretPaths } from "./secrets.ts"
import type { Ending } from "./ending.ts"
import type { EndingCode } from "./result.ts"
import type { ArtifactShelf, RegisteredTool, StoredArtifact } from "./tool.ts"

/** Everything the walk needs from the rest of the house. Put together in `app.ts`, nowhere else. */
export interface Ports {
  tools: Tools
  organisation: Organisation
  policy: Policy
  guards: Guards
  /** Results that may be used again; nothing in it must last. */
  cache: ResultCache
  limits: Limits
  permits: Permits
  recorder: Recorder
  calls: CallStore
  artifacts: Artifacts
  masker: Masker
  /** How a person is asked right here; what is missing waits for another door. */
  approvals: Partial<ApprovalUIAdapter>
  grants: { keep(grant: Grant): Promise<void> }
  /** The roles of a person who is known by that name. */
  rolesOf(person: string): readonly string[] | undefined
  /** Whether nobody has revoked that token and it has not expired. */
  tokenCounts(tokenId: string): boolean
  /** Whether an agent, and no person, has that name. */
  isAgent(name: string): boolean
  emit(event: QuartermasterEvent): void
  /** Whether anyone listens to events of that type; most are never looked at. */
  hears(type: EventType): boolean
  /** The calls whose tools run now, each with what cancels it. */
  running: Map<string, { agentId: string; cancel(because?: Ending): void }>
  /** Aborted once the house is closing: nothing starts any more, and who waits for a person stops waiting and leaves the call at the desk. */
  closing: AbortSignal
  logger: Logger
  settings: WalkSettings
  /** Names this process as the owner of the calls it walks. */
  owner: string
  /** Whether the process with that owner name still lives. */
  alive(owner: string): boolean | Promise<boolean>
  /** SHA-256 of the files a call names, by path; what is not there has a word of its own. */
  digests(touches: Touches): Promise<Readonly<Record<string, string>>>
  /** What every touched file is at the moment, as one text; undefined when one of them is no plain file. */
  fileVersions(touches: Touches): string | undefined
  /** Looks for what other processes changed in what decides; true when there was something. */
  refresh(): Promise<boolean>
  /** Tells the outside that something waits for a person. */
  notify(row: CallRow): void
  now(): number
}

/** Values by what they were made of, for a while. */
export interface ResultCache {
  get(key: string, at: number): { value: unknown } | undefined
  set(key: string, value: unknown, until: number): void
}

export interface WalkSettings {
  durability: Durability
  /** For tools without a limit of their own. */
  timeoutMs: number
  approvalDeadlineMs: number
  /** What happens to a question when nobody is attached to answer: wait for the deadline, or say no at once. */
  unattended: "wait" | "reject"
  levelOrder: LevelOrder
  /** The folder this process works in: grants and waiting calls belong to one. */
  workspace: string
}

/** Everything that decides beyond the tool itself: rules, grants and session modes, as they are now. */
export interface Policy {
  /** A hash of everything that decides, written into the record. */
  readonly version: string
  /** Why no input of this agent could escape a deny rule on this tool, or undefined. Part of `visible`. */
  hidden(tool: RegisteredTool, who: AgentView): Reason | undefined
  /** The verdict on one call. Pure: it reads what it is given and the policy as it stands. */
  decide(facts: Facts): Verdict
  /** Whether a call may come across a file while it looks through a folder; undefined when no rule is about files. */
  sieve(facts: Pick<Facts, "who" | "tool" | "input" | "workspace">): ((path: string) => boolean) | undefined
}

/** Everything a decision looks at. */
export interface Facts {
  who: AgentView
  tool: RegisteredTool
  input: unknown
  touches: Touches
  /** What the guards found about them. */
  findings?: readonly Finding[] | undefined
  limit: LimitVerdict
  sessionId: string
  workspace: string
  at: number
}

export interface Verdict {
  verdict: "allow" | "ask" | "deny"
  /** Why, strongest first. For an ask: what an approver must agree to. Rules in shadow come last. */
  reasons: readonly Reason[]
  /** The ending of a deny. */
  code?: EndingCode | undefined
  /** For a deny by a limit: when to try again. */
  retryAfterMs?: number | undefined
  /** For an ask: every requirement must be met. */
  approvers?: readonly Approvers[] | undefined
  /** For an ask: the shortest deadline a rule set, in milliseconds. */
  deadlineMs?: number | undefined
  /** When the result is held back, where a rule says so. */
  release?: "always" | "on-error" | undefined
}

/** What agents and people wrote to agents. Always *power*; a message stays when it was read. */
export interface Messages {
  insert(message: Message): Promise<void>
  /** What has arrived by `at`, oldest first: the oldest thousand unread ones, or the newest thousand of all. */
  inbox(recipient: string, filter: { at: number; unreadOnly?: boolean }): Promise<Message[]>
  /** One that was read before keeps its time. */
  markRead(messageIds: readonly string[], at: number): Promise<void>
}

/** The registry, as the walk sees it. */
export interface Tools {
  /** The tool this agent means by that name: its own layer first, then its department's, then the system's. */
  resolve(name: string, who: AgentView | undefined): RegisteredTool | undefined
  /** What is meant by a name that is another name of a tool, in the dialect of this agent's role first. */
  alias(name: string, who: AgentView | undefined): Alias | undefined
  /** What sentences call the tools in a dialect; undefined where it has no words of its own. */
  spoken(dialect: string): Names | undefined
  /** Every name this agent could have meant, for a suggestion. */
  names(): Iterable<string>
  /** The names that could be visible to someone with these groups. */
  namesIn(groups: readonly string[] | null, who: AgentView): Iterable<string>
  /** Grows with every change of what is registered. */
  readonly version: number
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean
  count(tool: RegisteredTool, durationMs: number, error: string | undefined): void
}

export interface Organisation {
  /** Undefined for an agent that does not exist, ended, or whose role is not known: it has nothing. */
  view(agentId: string): AgentView | undefined
  /** Grows with every change. */
  readonly version: number
}

/** Sliding windows per agent and tool. */
export interface Limits {
  /** Whether a call could start now. Counts nothing. */
  check(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict>
  /** Takes a place in the window for a call that starts, or says how long until there is one. */
  take(who: AgentView, tool: RegisteredTool, at: number): LimitVerdict | Promise<LimitVerdict>
}
export type LimitVerdict = { ok: true } | { ok: false; sentence: string; retryAfterMs: number }

/** A permit covers `execute` only. */
export interface Permits {
  acquire(request: {
    agentId: string
    callId: string
    exclusive: boolean
    /** Composite and interactive tools take none, but an exclusive one still waits its turn. */
    free: boolean
    ancestors: readonly string[]
    signal: AbortSignal | undefined
  }): Permit | Promise<Permit>
}
export interface Permit {
  /** Tells that the call began (+1) or ceased (-1) to wait for somebody else: meanwhile another may run in its place. */
  stand(change: 1 | -1): void
  release(): void
}

/** Writes things down. What `keep` resolved for is kept. */
export interface Recorder {
  /** Resolves when the entry is kept in the grade asked for; rejects when it is not. */
  keep(entry: RecordEntry, grade: Durability): Promise<void>
  /** Resolves when everything kept so far can be queried. */
  settle(): Promise<void>
  close(): Promise<void>
}

/** The rows of calls that must outlive their process. Always *power*. Every change is one compare-and-set. */
export interface CallStore {
  /** Refuses a second live row with the same key, or the same waiting agent, tool and input: then the first is returned. */
  insert(row: CallRow): Promise<{ inserted: true } | { inserted: false; existing: CallRow }>
  get(id: string): Promise<CallRow | undefined>
  /** Changes the row if it is still in that state, with that owner and epoch. */
  swap(
    id: string,
    expected: { state: CallState; owner: string; epoch: number },
    change: Partial<Omit<CallRow, "id">>,
  ): Promise<boolean>
  /**
   * Records what people said to a row that waits: votes so far and, when that settles it, the answer. Only if the row
   * still waits with that revision and those votes.
   */
  say(
    id: string,
    seen: { revision: number; votes: readonly Vote[] },
    said: { votes: readonly Vote[]; answer: Answer | null },
  ): Promise<boolean>
  /** Oldest first; `after` is the last row of the page before. */
  list(filter: {
    states?: readonly CallState[]
    agentId?: string
    /** Only those whose deadline is later. */
    openAt?: number
    after?: CallRow
    limit?: number
  }): Promise<CallRow[]>
  /** Ids of rows that changed after the cursor, and the cursor to ask with next. */
  changesSince(cursor: number): Promise<{ ids: string[]; cursor: number }>
  /** Resolves when something may have changed, or after that many milliseconds. A hint only. */
  waitForChange(id: string, milliseconds: number, signals?: readonly (AbortSignal | undefined)[]): Promise<void>
  /** Erases raw inputs and results whose window is over. */
  erase(olderThan: number): Promise<number>
  /** The store's clock. */
  clock(): Promise<number>
}

export interface Artifacts {
  put(artifact: Omit<StoredArtifact, "id" | "createdAt">): Promise<string>
  get(ref: string): Promise<StoredArtifact | undefined>
  shelf(of: { agentId: string; taskId?: string | undefined; callId: string }): ArtifactShelf
}

/** Makes text fit for the record: no secrets, not too long. */
export interface Masker {
  /** `secrets` are the places a schema marks, `also` texts that were secret elsewhere in the call. */
  mask(value: unknown, secrets?: SecretPaths, also?: readonly string[]): Masked
  text(sentence: string, also?: readonly string[]): string
}
export interface Masked {
  text: string
  /** Keyed digest of the whole, when something was masked or cut. */
  digest?: string
  /** Characters of the whole JSON text. */
  length: number
  /** The secrets that were masked. They stay in memory, to be masked where the tool repeats them. */
  hidden?: readonly string[]
}

export interface AuditFilter {
  agentId?: string
  tool?: string
  /** A status or a code. */
  status?: string
  since?: number
  until?: number
  limit?: number
}

/** One ended call as the record tells it. */
export interface AuditRow {
  callId: string
  at: number
  agentId: string
  tool: string
  status: string
  code: EndingCode | undefined
  durationMs: number
}

/** Variables an agent sets for its session only. */
export interface SessionEnvironment {
  get(sessionId: string, key: string): Promise<string | undefined>
  /** Returns what was set before. */
  set(sessionId: string, key: string, value: string): Promise<string | undefined>
}
