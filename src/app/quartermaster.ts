import type { ChainOptions, ConversationAdmin } from "../agents/chain/open-chains.ts"
import type { ToolChain } from "../agents/chain/tool-chain.ts"
import type { ChatDocuments } from "../agents/documents/chat-documents.ts"
import type { Society } from "../agents/society/society.ts"
import type { Models } from "../agents/models/open-models.ts"
import type { LanguageModel } from "../agents/models/port.ts"
import type { PipelineSource } from "../agents/pipeline/read-definition.ts"
import type { PipelineOptions, ToolPipeline } from "../agents/pipeline/tool-pipeline.ts"
import type { ToolDiscovery } from "../call/discovery.ts"
import type { ToolExecutor } from "./executor.ts"
import type { Changes } from "../store/change-feed.ts"
import type { AnswerLinks, AnswerPins } from "../approvals/links/answer-link.ts"
import type { SignIn } from "../org/sign-in-admin.ts"
import type { Experiments } from "../registry/experiment.ts"
import type { TrashAdmin } from "../platform/files/file-access.ts"
import type { Freeze, ModeChange, ModeInForce, SessionMode } from "../core/organisation.ts"
import type { McpServers } from "../core/mcp.ts"
import type { SandboxLayer } from "../platform/processes/process-access.ts"
import type { AgentTokens } from "../org/token-admin.ts"
import type { RuleAdmin } from "../policy/rule-admin.ts"
import type { Approvals } from "../approvals/queue/approvals.ts"
import type { AuditReader } from "../audit/audit-reader.ts"
import type { Why } from "../policy/explanation.ts"
import type { Calls } from "../call/state/calls.ts"
import type { RunningCall } from "../call/state/ports.ts"
import type { AgentTools } from "../registry/agent-tools.ts"
import type { Events } from "../core/events.ts"
import type { ApprovalUIAdapter, Ask, PendingItem } from "../core/approval.ts"
import type { Logger } from "../core/logger.ts"
import type { SnippetStorage } from "../store/snippet-store.ts"
import type { Directory } from "../org/directory.ts"
import type { ToolGroupManager } from "../registry/groups.ts"
import type { RunningPlugins } from "../registry/plugins/catalog.ts"
import type { ToolRegistry } from "../registry/registry.ts"
import type { Telemetry } from "../telemetry/spans.ts"

/** The options of `createQuartermaster` besides the configuration. */
export interface QuartermasterOptions {
  logger?: Logger
  /** Asks a person for approval. Without it, calls wait for answers from elsewhere, for example `qm approvals`. */
  approvals?: ApprovalUIAdapter
  /**
   * Called when something waits for a person and nobody is asked by `approvals` or `ask`. Default: a line with the command
   * that answers it, as a warning of `logger` where one is given, otherwise to `print`.
   */
  onWaiting?: (item: PendingItem) => void
  /** Asks a person, for the tool `ask_user`. */
  ask?: Ask
  /** Prints the text of the tool `console_print` and the lines about waiting calls (default: stderr). */
  print?: (text: string) => void
  /** The environment variables that tools may read, and those with the keys of models, which tools do not get (default: `process.env`). */
  environment?: Readonly<Record<string, string | undefined>>
  /** `journal` (the default) is for processes that keep running; `direct` for those that make one call and exit. */
  writes?: "journal" | "direct"
  /** The folder the tools work in (default: the configured one, otherwise the current folder). */
  workspace?: string
  /** The storage of code snippets (default: in the database). */
  snippets?: SnippetStorage
  /** The home folder, for `~/` in `tools.allowedPaths` and `tools.protectedPaths`; the account's when left out. */
  home?: string
  /** True leaves a result that a person withheld in `ToolResult.result`, for your program only: never pass it to a model. */
  keepWithheld?: boolean
  /** Loads plugins again when their files change. */
  reloadPlugins?: boolean
  /** Receives ended calls as OpenTelemetry spans. */
  telemetry?: Telemetry
  /** Models of your own by name, besides the configured ones. A role's `llmServiceId` can name them too. */
  models?: Readonly<Record<string, LanguageModel>>
}

/** A running Quartermaster, as `createQuartermaster` returns it. */
export interface Quartermaster extends Calls, AgentTools, Events {
  readonly registry: ToolRegistry
  readonly groups: ToolGroupManager
  readonly org: Directory
  /** An executor that makes calls as one agent (default: the configured agent). */
  executor(agentId?: string): ToolExecutor
  readonly discovery: ToolDiscovery
  /** Plugins and modules: files that add tools. */
  readonly plugins: RunningPlugins
  /** The models that agents talk to. */
  readonly models: Models
  /**
   * Lets a model use the tools of an agent.
   *
   * ```ts
   * const { content } = await app.chain("dev", { model: "claude" }).run("Which tests fail, and why?")
   * ```
   */
  chain(agentId: string, options?: ChainOptions): ToolChain
  /** Stored conversations, of this and every other process. */
  readonly conversations: ConversationAdmin
  /** Markdown files of the workspace in which conversations live. */
  readonly documents: ChatDocuments
  /**
   * Tool calls of an agent whose inputs take values of each other.
   *
   * ```ts
   * const { status, outputs } = await app.pipeline(definition, { agentId: "dev" }).run()
   * ```
   */
  pipeline(source: PipelineSource, options: PipelineOptions): ToolPipeline
  /**
   * Agents that work by themselves when somebody writes to them.
   *
   * ```ts
   * const running = app.society.start()
   * const { id } = await app.society.message({ to: "root", payload: "Find out why the tests fail.", by: "ada" })
   * const answer = await app.society.answer(id)
   * ```
   */
  readonly society: Society
  /** The sandbox that a command would run in now. Throws when a sandbox is required and there is none. */
  sandbox(): SandboxLayer
  /** Every group with the names of its tools. */
  listGroups(): { id: string; description: string; toolCount: number; tools: string[]; isReserved: boolean }[]
  readonly tokens: AgentTokens
  /** Signs people in to the console. */
  readonly signIn: SignIn
  /** Links that answer one item without signing in. */
  readonly answerLinks: AnswerLinks
  readonly pins: AnswerPins
  /** A feed of store changes, by this and other processes. */
  readonly changes: Changes
  readonly mcp: McpServers
  /** A/B tests of two versions of a tool. */
  readonly experiments: Experiments
  /** Adds an address of this app's own server. Tools may not send requests to it. */
  addOwnAddress(address: string): void
  /** A 32-byte key that all processes of this store share, for encrypting or signing state that leaves the process. */
  sealKey(purpose: string): Buffer
  /** Files that agents deleted and people can restore. */
  readonly trash: TrashAdmin
  readonly approvals: Approvals
  readonly rules: RuleAdmin
  /** The hosts that successful calls have reached, as far as the audit log was read. */
  reachedHosts(): Promise<ReadonlySet<string>>
  why: Why
  /** The calls whose tools this process runs now. `input` is as the audit log shows it. */
  running(): readonly ({ callId: string } & RunningCall)[]
  /** Aborts running calls and denies new ones until `thaw`: of one agent and its sub-agents, or of all agents. */
  freeze(given: { agentId?: string; by: string; because?: string }): Promise<void>
  /** Returns whether something was frozen. */
  thaw(given: { agentId?: string; by: string }): Promise<boolean>
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
  /** Resolves when everything recorded so far can be queried. */
  settle(): Promise<void>
}
