import type { Changes } from "../store/change-feed.ts"
import type { AnswerLinks, AnswerPins } from "../approvals/links/answer-link.ts"
import type { SignIn } from "../org/sign-in-admin.ts"
import type { PendingItem, AnswerResult, Answer, WaitingCounts } from "../core/approval.ts"
import type { CallRequest, TypedCallRequest, UnwantedCalls } from "../core/call.ts"
import type { EventType, Listener } from "../core/events.ts"
import type { Experiments } from "../registry/experiment.ts"
import type { TrashAdmin } from "../platform/files/file-access.ts"
import type { Freeze, ModeChange, ModeInForce, SessionMode } from "../core/organisation.ts"
import type { McpServers, McpToolDefinition } from "../core/mcp.ts"
import type { OrganisationAdmin } from "../org/organisation-admin.ts"
import type { PluginCatalog } from "../registry/plugins/plugin.ts"
import type { SandboxLayer } from "../platform/processes/process-access.ts"
import type { AuditFilter, AuditRow } from "../call/state/ports.ts"
import type { Reason, AuditEntry, StepEntry } from "../core/audit-entry.ts"
import type { EndingCode, Ticket, ToolResult } from "../core/result.ts"
import type { Approvers, Grant, Rule, RuleFlaw, RuleVerdict, Touches } from "../core/rule.ts"
import type { JsonSchema } from "../core/schema.ts"
import type { AgentTokens } from "../org/token-admin.ts"
import type { RegisteredTool, StoredArtifact } from "../core/tool.ts"

/** The app as interfaces (CLI, HTTP, MCP) use it: everything they may do. Library users get the larger `Quartermaster`. */
export interface App {
  /** Calls a tool and resolves when the call has ended, however it ended. Refusals and failures are results, not rejections. */
  call<Input, Output>(request: TypedCallRequest<Input, Output>): Promise<ToolResult<Output>>
  call(request: CallRequest): Promise<ToolResult>
  /** Like `call`, but does not wait for people longer than `waitMs`: then it returns a ticket for `resume`. */
  submit<Input, Output>(
    request: TypedCallRequest<Input, Output>,
    options: { waitMs: number },
  ): Promise<ToolResult<Output> | Ticket>
  submit(request: CallRequest, options: { waitMs: number }): Promise<ToolResult | Ticket>
  /**
   * Continues a stored call: redeems a ticket, waits on, or returns how the call ended. With `watch` it only looks: a call
   * that no process has stays as it is.
   */
  resume(
    callId: string,
    options?: { waitMs?: number | undefined; watch?: boolean | undefined } & Pick<CallRequest, "caller" | "signal">,
  ): Promise<ToolResult | Ticket>
  /** Calls several tools and returns a result for each, in the order of the requests. One failure does not affect the others. */
  callMany(requests: readonly CallRequest[]): Promise<ToolResult[]>
  /**
   * Makes the calls of one answer of a model, all at once. If one of them asks a person, those with effects wait until all
   * questions of the batch are answered, unless they are `independent`; calls that only read go on. A no ends its own call.
   */
  callBatch(requests: readonly CallRequest[], options?: BatchOptions): Promise<(ToolResult | Ticket)[]>
  /**
   * Ends the calls of a session that nobody wants any more: those that wait for people, and those whose results are held.
   * Returns the results of the calls with these keys, as far as they have run.
   */
  endCalls(unwanted: UnwantedCalls): Promise<ReadonlyMap<string, ToolResult>>
  /** Like `call`, but returns the plain result and throws a `ToolError` where `call` returns a failure. */
  executeOrThrow<Input, Output>(request: TypedCallRequest<Input, Output>): Promise<Output>
  executeOrThrow<T = unknown>(request: CallRequest): Promise<T>
  /** The sandbox that a command would run in now. Throws when a sandbox is required and there is none. */
  sandbox(): SandboxLayer
  /** The tools an agent may see and call, sorted by name. */
  visibleTools(agentId: string): readonly RegisteredTool[]
  /** A tool by its own name or its name in a dialect, also one that no agent may use. For people, never for an agent. */
  findTool(name: string): RegisteredTool | undefined
  /** The same tools under the names of the agent's dialect. */
  toolsInDialect(agentId: string): readonly RegisteredTool[]
  /** A tool by any name that a call may write. Undefined when the agent may not see it. */
  visibleTool(agentId: string, name: string): RegisteredTool | undefined
  /** The input schema of a tool, or of an alias in a dialect. Undefined when the agent may not see the tool. */
  inputSchemaOf(agentId: string, name: string): JsonSchema | undefined
  /** Whether the agent may see this tool, also when it is exposed as a resource or prompt or only inside. */
  isVisible(agentId: string, tool: string): boolean
  /** The visible tools as MCP clients are shown them, sorted by wire name. */
  mcpTools(agentId: string): readonly McpToolDefinition[]
  /** The name of a tool for models and MCP clients. */
  wireName(tool: string): string
  /** Changes whenever the list of visible tools of any agent may have changed. */
  toolListVersion(): string
  /** Every group with the names of its tools. */
  listGroups(): { id: string; description: string; toolCount: number; tools: string[]; isReserved: boolean }[]
  /** Listens to events of one type. Returns a function that stops listening. */
  on<T extends EventType>(type: T, listener: Listener<T>): () => void
  readonly org: OrganisationAdmin
  readonly tokens: AgentTokens
  /** Signs people in to the console. */
  readonly signIn: SignIn
  /** Links that answer one item without signing in. */
  readonly answerLinks: AnswerLinks
  readonly pins: AnswerPins
  /** What is stored, as it is stored, by this and other processes. */
  changes(): Promise<Changes>
  readonly mcp: McpServers
  /** Plugins and modules: files that add tools. */
  readonly plugins: PluginCatalog
  /** A/B tests of two versions of a tool. */
  readonly experiments: Experiments
  /** Adds an address of this app's own server. Tools may not send requests to it. */
  addOwnAddress(address: string): void
  /** Reads an artifact. Undefined when it does not exist or the agent may not read it. */
  artifact(agentId: string, ref: string): Promise<StoredArtifact | undefined>
  /** Stores a text of a call as an artifact of its agent. Returns the reference. */
  storeText(
    of: { agentId: string; taskId?: string | undefined; callId: string },
    text: string,
    mimeType?: string,
  ): Promise<string>
  /** A 32-byte key that all processes of this store share, for encrypting or signing state that leaves the process. */
  sealKey(purpose: string): Buffer
  /** Files that agents deleted and people can restore. */
  readonly trash: TrashAdmin
  readonly approvals: Approvals
  readonly rules: RuleAdmin
  /** What would happen to a call, and why, without making it. */
  why(request: WhyRequest): Promise<Explanation>
  /** Aborts running calls and denies new ones until `thaw`: of one agent and its sub-agents, or of all agents. */
  freeze(given: { agentId?: string | undefined; by: string; because?: string | undefined }): Promise<void>
  /** Returns whether something was frozen. */
  thaw(given: { agentId?: string | undefined; by: string }): Promise<boolean>
  frozen(): readonly Freeze[]
  /** Sets the mode plan of an agent or the mode edits of one of its sessions, or ends both (ask). */
  setMode(change: ModeChange): Promise<void>
  modeOf(agentId: string, sessionId: string): SessionMode
  /** The modes plan and edits that hold now. */
  modes(): readonly ModeInForce[]
  /** Says that a session is over: nobody calls in it any more. Its mode edits ends. */
  endSession(sessionId: string): Promise<void>
  readonly audit: AuditReader
  /** Ends abandoned calls and erases expired data. Long-lived processes do this by themselves. */
  sweep(): Promise<void>
  /** Why the store cannot write at the moment, as a sentence. Undefined when all is well. */
  health(): Promise<string | undefined>
  /** Copies all stored data into a new folder. Other processes may go on working meanwhile. */
  backup(folder: string): Promise<{ files: number; bytes: number }>
  close(): Promise<void>
}

/** A call that is only asked about. `allowedPaths` are the paths that it would be limited to. */
export type WhyRequest = Pick<CallRequest, "agentId" | "tool" | "sessionId" | "taskId" | "allowedPaths"> & {
  input?: unknown
}

export interface BatchOptions {
  /** How many milliseconds to wait for people; then those calls that still wait are tickets. Default: to the end. */
  waitMs?: number | undefined
  /** Aborted to stop waiting for people sooner. */
  detach?: AbortSignal | undefined
  independent?: boolean | undefined
  /** Called when a call of the batch begins and ends, with its position. */
  onStart?: ((position: number) => void) | undefined
  onEnd?: ((position: number, ended: ToolResult | Ticket) => void) | undefined
  /** Told when calls of the batch begin and end, and when they begin and cease to wait for people. */
  clock?: CallClock | undefined
}

/** Measures the time that calls take. It may leave out the time in which all of them wait for people. */
export interface CallClock {
  /** Counts a call that began (+1) or ended (-1). */
  countChild(change: 1 | -1): void
  /** Counts a call that begins (+1) or ceases (-1) to wait for a person. */
  countWaiting(change: 1 | -1): void
}

/**
 * The approval queue: calls that wait for approval, held results, and questions.
 *
 * ```ts
 * for (const { callId, tool, input, revision } of await app.approvals.list()) {
 *   console.log(tool, input)
 *   await app.approvals.answer(callId, { kind: "approve" }, "ann", revision)
 * }
 * ```
 */
export interface Approvals {
  /** Everything that waits, oldest first; with `limit` at most so many, those after the last item of the page before. */
  list(filter?: {
    agentId?: string | undefined
    after?: Pick<PendingItem, "callId" | "createdAt"> | undefined
    limit?: number | undefined
  }): Promise<PendingItem[]>
  /** How much waits, by kind, of one agent or all, all of it or what began to wait since a time. */
  count(filter?: { agentId?: string | undefined; since?: number | undefined }): Promise<WaitingCounts>
  /** A unique beginning of the id is enough. Undefined when no such item waits. */
  show(callId: string): Promise<PendingItem | undefined>
  /** Why this person's yes would not count where a rule names who must agree; undefined when it would. */
  votingProblem(item: PendingItem, by: string): string | undefined
  /**
   * Answers one item. Pass the `revision` that the person saw: if the item has changed since, the answer is refused.
   * Without it, the answer counts for the newest revision. The tool runs in the process that waits, never in here. The
   * audit log says so when it came from a link (`via`).
   */
  answer(callId: string, saying: Answer, by: string, revision?: number, via?: "link"): Promise<AnswerResult>
  /**
   * Approves a call and adds the rule that its card offers (`PendingItem.rule`), until `expiresAt`. Only for the user of this
   * machine: it is not an `Answer`, so that nothing that forwards answers can add rules.
   */
  approveWithRule(
    callId: string,
    given: { by: string; expiresAt: number; revision?: number | undefined; note?: string | undefined },
  ): Promise<AnswerResult>
  /** Remembered answers. */
  grants(filter?: { agentId?: string | undefined; includeExpired?: boolean | undefined }): Promise<Grant[]>
  /** Revokes a grant and returns it. Undefined when there is no such grant. */
  revoke(grantId: string, by: string): Promise<Grant | undefined>
}

/** The rules in force, from the configuration and from the store. */
export interface RuleAdmin {
  list(): readonly Rule[]
  /** What is wrong with them. */
  flaws(): readonly RuleFlaw[]
  /** Loads what the examples of rules need. `createQuartermaster` does it. */
  ready(): Promise<void>
  /** Adds a rule to the store. Rejects with sentences when the rule has flaws. */
  add(rule: unknown, by: string): Promise<Rule>
  remove(id: string, by: string): Promise<Rule | undefined>
  /** Which recorded calls would have been decided differently with these rules in place of the configured ones. */
  simulate(rules: readonly unknown[], filter: AuditFilter, limits?: SimulationLimits): Promise<Simulation>
  /** Rules for calls that people approved at least five times and never refused, from the audit log. Adds none. */
  suggest(filter: AuditFilter): Promise<RuleSuggestions>
  /** A hash of everything that decides calls. It changes with every rule, grant or setting. */
  version(): string
}

export interface RuleSuggestions {
  /** How many answered calls were read. */
  approved: number
  refused: number
  suggestions: readonly RuleSuggestion[]
}

export interface RuleSuggestion {
  /** The rule as it can be added. */
  rule: { allow: string; agent: string; touching: readonly string[]; because: string }
  /** How many approved calls it would have covered, who approved them, and when they ended. */
  approvals: number
  people: readonly string[]
  first: number
  last: number
  /** Some of their inputs, as the audit log has them. */
  examples: readonly string[]
  /** How many refused calls of this agent and tool there are. The rule covers none of them. */
  refusedCompared: number
}

/** Beyond them a simulation ends with an error. */
export interface SimulationLimits {
  signal?: AbortSignal | undefined
  /** How long it may take, in milliseconds. */
  mostMs?: number | undefined
  /** How many steps of matching patterns may be taken in one go; a second has about 100 million. */
  mostSteps?: number | undefined
}

export interface Simulation {
  looked: number
  flaws: readonly RuleFlaw[]
  /** Calls whose input is masked or cut in the audit log, so that rules on arguments may decide them differently. */
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

/** The verdict on a call that was not made, with the result of every check in order, and what would change it. */
export interface Explanation {
  agentId: string
  tool: string
  verdict: RuleVerdict
  /** The ending a denied call would have. */
  code?: EndingCode | undefined
  reasons: readonly Reason[]
  /**
   * The results of all checks, in order. `pass`: the check had no objection. `fix` is the exact command or the exact line
   * of YAML that would change the result.
   */
  checks: readonly (Reason & { verdict: RuleVerdict | "pass"; fix?: string | undefined })[]
  touches: Touches
  approvers: readonly Approvers[]
  /** Whether the result would be held back. */
  release: "never" | "on-error" | "always"
  /** What a person could do to get another verdict: commands, lines of YAML, or else a sentence. */
  change: readonly string[]
  /** The narrowest rule that would let it run unasked, where only the tool's level asks. */
  rule?: { allow: string; agent: string; touching?: readonly string[] } | undefined
  /** What is wrong with the input, each as a sentence, when that is why the call would be refused. */
  problems?: readonly string[] | undefined
  policy: string
}

/** Reads and verifies the audit log. */
export interface AuditReader {
  /** Ended calls, newest first. */
  list(filter?: AuditFilter): Promise<AuditRow[]>
  /**
   * All entries of one call, by a unique beginning of its id or by one of its records as `verify` names it, `record 1/5`.
   * Empty when none or several calls match.
   */
  show(callId: string): Promise<AuditEntry[]>
  /** All entries of each of these calls, by their whole ids. */
  showMany(callIds: readonly string[]): Promise<ReadonlyMap<string, readonly AuditEntry[]>>
  /** What people answered, by the id of the call. */
  answers(): Promise<ReadonlyMap<string, readonly StepEntry[]>>
  /** The call ids with this beginning, at most a hundred. */
  beginningWith(beginning: string): Promise<string[]>
  stats(filter?: AuditFilter): Promise<AuditStats>
  /** How many calls have ended. */
  count(filter?: AuditFilter): Promise<number>
  /** The hours in which calls ended, oldest first. */
  hours(filter?: AuditFilter): Promise<AuditHour[]>
  /** Checks that no entry was changed or removed. `head` is an earlier checkpoint that must still be part of the log. */
  verify(head?: string): Promise<AuditVerification>
  /** A checkpoint hash of the log, to store elsewhere for a later `verify`. */
  head(): Promise<string>
  /** Streams every ended call, oldest first. */
  export(filter?: AuditFilter): AsyncIterable<ExportedCall>
  /** Deletes the oldest closed segments but keeps their hashes, so that `verify` still works. */
  drop(before: number, by: string): Promise<{ segments: number; records: number }>
}

/** One ended call as a flat row for other programs. Secrets are masked as in the audit log. */
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
  /** Keyed digest of the whole input when `input` is masked or cut, else empty. */
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

/** The calls that ended in one hour. */
export interface AuditHour {
  /** When the hour begins. */
  at: number
  /** How many calls ended with `success` or with each code. */
  byEnding: Readonly<Record<string, number>>
  /** How many calls took so many milliseconds, shortest first. */
  times: readonly { ms: number; count: number }[]
}

export type AuditVerification =
  | { ok: true; records: number; chains: number }
  | { ok: false; problem: string; record: string }
