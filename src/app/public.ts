import type { Changes } from "../store/change-feed.ts"
import type { AnswerLinks, AnswerPins } from "../approvals/links/answer-link.ts"
import type { SignIn } from "../org/sign-in-admin.ts"
import type { CallRequest, TypedCallRequest, UnwantedCalls } from "../core/call.ts"
import type { EventType, Listener } from "../core/events.ts"
import type { Experiments } from "../registry/experiment.ts"
import type { TrashAdmin } from "../platform/files/file-access.ts"
import type { Freeze, ModeChange, ModeInForce, SessionMode } from "../core/organisation.ts"
import type { McpServers, McpToolDefinition } from "../core/mcp.ts"
import type { OrganisationAdmin } from "../org/organisation-admin.ts"
import type { PluginCatalog } from "../registry/plugins/plugin.ts"
import type { SandboxLayer } from "../platform/processes/process-access.ts"
import type { Ticket, ToolResult } from "../core/result.ts"
import type { JsonSchema } from "../core/schema.ts"
import type { AgentTokens } from "../org/token-admin.ts"
import type { RegisteredTool, StoredArtifact } from "../core/tool.ts"
import type { WhyRequest, Explanation } from "../policy/explanation.ts"
import type { RuleAdmin } from "../policy/rule-admin.ts"
import type { BatchOptions } from "../call/state/batch-options.ts"
import type { Approvals } from "../approvals/queue/approvals.ts"
import type { AuditReader } from "../audit/audit-reader.ts"

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
