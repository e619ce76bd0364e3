import type { Answer, CallRow, CallState } from "./call.ts"
import type { ApprovalUIAdapter } from "./approval.ts"
import type { EventType, QuartermasterEvent } from "./events.ts"
import type { Logger } from "./logger.ts"
import type { LevelOrder } from "./permission.ts"
import type { AgentView } from "./organisation.ts"
import type { Durability, RecordEntry } from "./record.ts"
import type { SecretPaths } from "./secrets.ts"
import type { EndingCode } from "./result.ts"
import type { ArtifactShelf, RegisteredTool, StoredArtifact } from "./tool.ts"

/** Everything the walk needs from the rest of the house. Put together in `app.ts`, nowhere else. */
export interface Ports {
  tools: Tools
  organisation: Organisation
  limits: Limits
  permits: Permits
  recorder: Recorder
  calls: CallStore
  artifacts: Artifacts
  masker: Masker
  approvals: ApprovalUIAdapter | undefined
  emit(event: QuartermasterEvent): void
  /** Whether anyone listens to events of that type; most are never looked at. */
  hears(type: EventType): boolean
  /** The calls whose tools run now, each with what cancels it. */
  running: Map<string, () => void>
  /** Aborted once the house is closing: nothing starts any more, and who waits for a person stops waiting and leaves the call at the desk. */
  closing: AbortSignal
  logger: Logger
  settings: WalkSettings
  /** Names this process as the owner of the calls it walks. */
  owner: string
  /** Whether the process with that owner name still lives. */
  alive(owner: string): boolean
  now(): number
}

export interface WalkSettings {
  durability: Durability
  /** For tools without a limit of their own. */
  timeoutMs: number
  approvalDeadlineMs: number
  /** What happens to a question when nobody is attached to answer: wait for the deadline, or say no at once. */
  unattended: "wait" | "reject"
  levelOrder: LevelOrder
  /** The version of everything that decides, written into the record. */
  policy: string
}

/** The registry, as the walk sees it. */
export interface Tools {
  /** The tool this agent means by that name: its own layer first, then its department's, then the system's. */
  resolve(name: string, who: AgentView | undefined): RegisteredTool | undefined
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
  /** Records a person's answer if the row still waits for one. The first answer wins. */
  answer(id: string, answer: Answer): Promise<boolean>
  list(filter: { states?: readonly CallState[]; agentId?: string; limit?: number }): Promise<CallRow[]>
  /** Ids of rows that changed after the cursor, and the cursor to ask with next. */
  changesSince(cursor: number): Promise<{ ids: string[]; cursor: number }>
  /** Resolves when something may have changed, or after that many milliseconds. A hint only. */
  waitForChange(id: string, milliseconds: number, signal?: AbortSignal): Promise<void>
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
