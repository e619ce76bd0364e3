import type { ToolDiscovery } from "./call/discovery.ts"
import type { ToolExecutor } from "./call/executor.ts"
import type { App } from "./model/app.ts"
import type { ApprovalUIAdapter, Ask } from "./model/approval.ts"
import type { Logger } from "./model/logger.ts"
import type { ToolPermission } from "./model/permission.ts"
import type { SnippetStorage } from "./model/snippets.ts"
import type { Directory } from "./org/directory.ts"
import type { LLMFormat, LLMTools } from "./registry/formats.ts"
import type { ToolGroupManager } from "./registry/groups.ts"
import type { RunningPlugins } from "./registry/plugins/book.ts"
import type { ToolRegistry } from "./registry/registry.ts"
import type { Telemetry } from "./telemetry/spans.ts"

/** What the process that runs the system gives it, beside the configuration. */
export interface QuartermasterOptions {
  logger?: Logger
  /** How a person is asked. Without it, calls that need a person wait for an answer from elsewhere. */
  approvals?: ApprovalUIAdapter
  /** How ask_user reaches a person. */
  ask?: Ask
  /** Where console_print prints. */
  print?: (text: string) => void
  /** What get_env may read. */
  environment?: Readonly<Record<string, string | undefined>>
  /** *direct* writes each record into the table itself; for processes that make one call and end. */
  writes?: "journal" | "direct"
  /** Permissions from a file nobody has trusted yet: they count only where they tighten. */
  tightening?: Readonly<Record<string, ToolPermission>>
  /** Where each rule of the configuration is written. */
  ruleSources?: readonly string[]
  /** How often what nobody came back for is ended; 0 switches it off. */
  sweepMs?: number
  /** The folder this process works in; the current one when left out. */
  workspace?: string
  /** Where snippets are kept; in the store when left out. */
  snippets?: SnippetStorage
  /** The home folder, for what is sealed in it. */
  home?: string
  /** Files of ours that no tool reads or writes, and those that no tool writes. */
  sealed?: readonly string[]
  sealedForWriting?: readonly string[]
  /** What other people's servers are told our version is. */
  version?: string
  /** Loads plugins again when their files change. */
  reloadPlugins?: boolean
  /** Where finished calls are told as OpenTelemetry spans. */
  telemetry?: Telemetry
}

/** The running system. */
export interface Quartermaster extends App {
  readonly registry: ToolRegistry
  readonly groups: ToolGroupManager
  readonly org: Directory
  /** The definitions a model is given for this agent (S0). */
  getToolDefinitionsForAgent(agentId: string): LLMTools["openai"]
  /** The walk bound to one agent; without a name, to the configured one. */
  executor(agentId?: string): ToolExecutor
  /** What a provider is sent for this agent: just the tools it may know of. */
  toolsFor<Format extends LLMFormat = "openai">(agentId: string, options?: { format?: Format }): LLMTools[Format]
  readonly discovery: ToolDiscovery
  readonly plugins: RunningPlugins
  /** Resolves when everything kept so far can be queried. */
  settle(): Promise<void>
}
