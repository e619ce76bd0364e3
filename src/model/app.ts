import type { DeskItem, Heard, Saying } from "./approval.ts"
import type { CallRequest } from "./call.ts"
import type { EventType, Listener } from "./events.ts"
import type { ExperimentBook } from "./experiment.ts"
import type { TrashDoor } from "./files.ts"
import type { Freeze, SessionMode } from "./organisation.ts"
import type { McpServers, McpToolDefinition } from "./mcp.ts"
import type { OrganisationBook } from "./organisation-book.ts"
import type { PluginBook } from "./plugin.ts"
import type { SandboxLayer } from "./processes.ts"
import type { AuditFilter, AuditRow } from "./ports.ts"
import type { Reason, RecordEntry } from "./record.ts"
import type { EndingCode, Ticket, ToolResult } from "./result.ts"
import type { Approvers, Grant, Rule, RuleFlaw, RuleVerdict, Touches } from "./rule.ts"
import type { JsonSchema } from "./schema.ts"
import type { TokenBook } from "./token-book.ts"
import type { RegisteredTool, StoredArtifact } from "./tool.ts"

/** What a door is given: everything it may do, and nothing else. */
export interface App {
  /** Resolves when the call has ended, however it ended. Never rejects for an expected ending. */
  call(request: CallRequest): Promise<ToolResult>
  /** Like `call`, for a door that cannot wait for people: after `waitMs` it gets a ticket instead. */
  submit(request: CallRequest, options: { waitMs: number }): Promise<ToolResult | Ticket>
  /** Goes on with a stored call: redeems a ticket, waits on, or tells how it ended. */
  resume(
    callId: string,
    options?: { waitMs?: number } & Pick<CallRequest, "caller" | "signal">,
  ): Promise<ToolResult | Ticket>
  /** Every call gets an answer, in order; one failure never loses its siblings. */
  callMany(requests: readonly CallRequest[]): Promise<ToolResult[]>
  /** Throws the error classes of the source designs instead of returning a failed result. */
  executeOrThrow<T = unknown>(request: CallRequest): Promise<T>
  /** What would hold a command now; a failure when a sandbox is required and there is none. */
  sandbox(): SandboxLayer
  /** The tools an agent may know of, in the order of their names. */
  visibleTools(agentId: string): readonly RegisteredTool[]
  /** The same tools as the agent is shown them: by the names its model is used to. */
  shownTools(agentId: string): readonly RegisteredTool[]
  /** What a tool takes by the name it is called by, if this agent may know of it. */
  inputOf(agentId: string, name: string): JsonSchema | undefined
  /** The same for what is offered as a resource, a prompt or only inside: whether this agent may know of it. */
  mayKnow(agentId: string, tool: string): boolean
  /** What an MCP client is told of the visible tools, in the order of their names outside. */
  mcpTools(agentId: string): readonly McpToolDefinition[]
  /** What a tool is called outside. */
  wireName(tool: string): string
  /** Changes with everything that decides what agents may know of. */
  listVersion(): string
  /** Every group with the names of its tools. */
  listGroups(): { id: string; description: string; toolCount: number; tools: string[]; isReserved: boolean }[]
  on<T extends EventType>(type: T, listener: Listener<T>): () => void
  readonly org: OrganisationBook
  readonly tokens: TokenBook
  readonly mcp: McpServers
  /** Files of the configuration that bring tools. */
  readonly plugins: PluginBook
  /** Two versions of a tool side by side. */
  readonly experiments: ExperimentBook
  /** Tells an address at which this house is reached: no tool goes there. */
  listensAt(address: string): void
  /** What an artifact holds, for the agent it belongs to. */
  artifact(agentId: string, ref: string): Promise<StoredArtifact | undefined>
  /** 32 bytes that every process of this store shares, for what a door seals. */
  sealKey(purpose: string): Buffer
  /** What agents have deleted and what was taken away from commands, for people. */
  readonly trash: TrashDoor
  readonly desk: DeskReader
  readonly rules: RuleReader
  /** What would become of a call, and why, without making it. */
  why(request: { agentId: string; tool: string; input?: unknown; sessionId?: string | undefined }): Promise<Explanation>
  /** Aborts what runs and denies what comes, for one agent with everyone below it or, without one, for everyone. */
  freeze(given: { agentId?: string | undefined; by: string; because?: string | undefined }): Promise<void>
  /** Returns whether something was frozen. */
  thaw(given: { agentId?: string | undefined; by: string }): Promise<boolean>
  frozen(): readonly (Freeze & { agentId?: string | undefined })[]
  setMode(given: { sessionId: string; mode: SessionMode; by: string }): Promise<void>
  readonly audit: AuditReader
  /** Ends what nobody came back for and forgets what is over. A process that lives does it by itself. */
  sweep(): Promise<void>
  /** Why nothing can be kept just now, in a sentence; undefined when all is well. */
  health(): Promise<string | undefined>
  /** Copies everything that must last into a new folder, while others go on working. */
  backup(folder: string): Promise<{ files: number; bytes: number }>
  close(): Promise<void>
}

/** What waits for a person, and what people say to it. */
export interface DeskReader {
  /** What waits, oldest first. */
  list(filter?: { agentId?: string | undefined }): Promise<DeskItem[]>
  /** A unique beginning of the id is enough. Undefined when nothing like it waits. */
  show(callId: string): Promise<DeskItem | undefined>
  /** Counts for the revision that was seen; without one, for the newest. Never runs a tool. */
  say(callId: string, saying: Saying, by: string, revision?: number): Promise<Heard>
  grants(filter?: { agentId?: string | undefined; includeExpired?: boolean | undefined }): Promise<Grant[]>
  /** Returns the grant that no longer counts, or undefined when there is none. */
  revoke(grantId: string, by: string): Promise<Grant | undefined>
}

/** The rules that count, wherever they are written. */
export interface RuleReader {
  list(): readonly Rule[]
  flaws(): readonly RuleFlaw[]
  /** Keeps a rule in the store; a flawed one is refused with its sentences. */
  add(rule: unknown, by: string): Promise<Rule>
  remove(id: string, by: string): Promise<Rule | undefined>
  /** Which recorded calls would have been decided otherwise with these rules instead of the configured ones. */
  simulate(rules: readonly unknown[], filter: AuditFilter): Promise<Simulation>
  /** The version of everything that decides. */
  version(): string
}

export interface Simulation {
  looked: number
  flaws: readonly RuleFlaw[]
  /** Calls whose input was masked or cut in the record, so that rules on arguments may judge them differently. */
  uncertain: number
  changed: readonly {
    callId: string
    at: number
    agentId: string
    tool: string
    before: string
    after: string
    reasons: readonly Reason[]
  }[]
}

/** A verdict with every voice that spoke, in order, and what would change it. */
export interface Explanation {
  agentId: string
  tool: string
  verdict: RuleVerdict
  /** The ending a denied call would have. */
  code?: EndingCode | undefined
  reasons: readonly Reason[]
  /** Every voice that was heard, also those that said nothing against it. */
  heard: readonly (Reason & { says: RuleVerdict | "nothing" })[]
  touches: Touches
  approvers: readonly Approvers[]
  /** Whether the result would be held back. */
  release: "never" | "on-error" | "always"
  /** Sentences: what a person could do to get another verdict. */
  change: readonly string[]
  policy: string
}

export interface AuditReader {
  list(filter?: AuditFilter): Promise<AuditRow[]>
  /** A unique beginning of the id is enough. Nothing when no call, or more than one, begins so. */
  show(callId: string): Promise<RecordEntry[]>
  /** The ids that begin so, at most a hundred. */
  beginningWith(beginning: string): Promise<string[]>
  stats(filter?: AuditFilter): Promise<AuditStats>
  verify(head?: string): Promise<Verified>
  head(): Promise<string>
  /** Every ended call with its start, oldest first, without holding them all in memory. */
  export(filter?: AuditFilter): AsyncIterable<ExportedCall>
  /** Drops the oldest sealed segments whole, keeping their heads, so that verify still follows the chain. */
  drop(before: number, by: string): Promise<{ segments: number; records: number }>
}

/** One ended call for other programs: flat, masked as the record is. */
export interface ExportedCall {
  callId: string
  at: number
  agentId: string
  role: string
  tool: string
  version: string
  status: string
  code: string
  startedAt: number
  durationMs: number
  sessionId: string
  taskId: string
  userId: string
  parentCallId: string
  input: string
  /** Keyed digest of the whole input when `input` is masked or cut; else empty. */
  inputDigest: string
  result: string
  error: string
  reasons: string
  policy: string
}

export interface AuditStats {
  total: number
  failures: number
  byTool: Record<string, { count: number; failures: number; averageMs: number }>
  byAgent: Record<string, { count: number; failures: number }>
  byRole: Record<string, { count: number; failures: number }>
  byEnding: Record<string, number>
  /** ISO hour, for example 2026-01-01T09. */
  byHour: Record<string, { count: number; failures: number }>
}

export type Verified = { ok: true; records: number; chains: number } | { ok: false; problem: string; record: string }
