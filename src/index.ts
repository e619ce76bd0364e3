// The public API. Every name is listed by hand; `src/index.test.ts` checks the list.
import { createQuartermaster as create } from "./app/create-app.ts"
import type { Quartermaster, QuartermasterOptions } from "./app/quartermaster.ts"
import type { Config } from "./config/schema.ts"

/** Opens the store and creates a Quartermaster. The configuration has the keys of `quartermaster.yml`; no file is read. */
export const createQuartermaster: (config?: Config, options?: QuartermasterOptions) => Promise<Quartermaster> = create
export type { Config, Quartermaster, QuartermasterOptions }

export { defineHostTool as defineTool } from "./schema/define-tool.ts"
export { failure, type FailureDetails } from "./core/ending.ts"
export { modelText } from "./core/model-text.ts"
export { exitCode, isTicket, ToolExecuteStatus, type EndingCode, type Ticket, type ToolResult } from "./core/result.ts"
export { ToolPermissionLevel, type Effect, type ToolPermission } from "./core/permission.ts"
export {
  ToolCategory,
  type CallArtifacts,
  type Layer,
  type RegisteredTool,
  type Tool,
  type ToolContext,
  type ToolSpec,
  type TypedTool,
} from "./core/tool.ts"
export type { ToolParameter } from "./core/schema.ts"
export type { JsonSchema } from "./core/schema.ts"
export type { Agent, AgentView, Department, Message, Person, Role, SessionMode } from "./core/organisation.ts"
export { OrganisationError, type ChangedBy, type OrganisationAdmin } from "./org/organisation-admin.ts"
export type {
  AssistantPart,
  LanguageModel,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelTool,
  ModelUsage,
} from "./agents/models/port.ts"
export type { Models } from "./agents/models/open-models.ts"
export type { ToolChainOptions } from "./agents/chain/chain-options.ts"
export { ToolChain } from "./agents/chain/tool-chain.ts"
export type { ToolCallHistoryEntry, ToolChainResult } from "./agents/chain/chain-result.ts"
export {
  ToolPipeline,
  type PipelineApp,
  type PipelineOptions,
  type PipelinePlan,
  type PipelineResult,
  type PlannedStep,
} from "./agents/pipeline/tool-pipeline.ts"
export type { PipelineDefinition, PipelineStep } from "./agents/pipeline/definition.ts"
export type { PipelineProblem, PipelineSource } from "./agents/pipeline/read-definition.ts"
export type { StepResult } from "./agents/pipeline/run-step.ts"
export { Actor, type ActorApp, type ActorOptions } from "./agents/acting/actor.ts"
export {
  newTask,
  type ActionResult,
  type ChainStep,
  type PlanStep,
  type TaskContext,
  type ToolCallStep,
} from "./agents/acting/task.ts"
export { ruleReflector } from "./agents/reflection/rules.ts"
export type {
  CallableTool,
  ReflectedAction,
  Reflection,
  ReflectionInput,
  Reflector,
} from "./agents/reflection/reflector.ts"
export type { ChainOptions, ConversationAdmin } from "./agents/chain/open-chains.ts"
export type { AgentActivity } from "./agents/society/overview.ts"
export type { PersonMessage, RunningSociety, Society } from "./agents/society/society.ts"
export type { SocietyOptions } from "./agents/society/runner.ts"
export type { AgentEvent } from "./agents/chain/agent-event.ts"
export type { Conversation, ConversationState, Turn } from "./core/conversation.ts"
export type { AuditReader } from "./audit/audit-reader.ts"
export type { Approvals } from "./approvals/queue/approvals.ts"
export type { BatchOptions } from "./call/state/batch-options.ts"
export type { Explanation } from "./policy/explanation.ts"
export type { RuleAdmin } from "./policy/rule-admin.ts"
export type { Preview } from "./core/preview.ts"
export type { Approvers, Grant, GrantScope, Rule } from "./core/rule.ts"
export type { Touch, Touches } from "./core/touches.ts"
export type { CallRequest, CallState, TypedCallRequest } from "./core/call.ts"
export type { EventOf, EventType, Listener, QuartermasterEvent } from "./core/events.ts"
export type { Logger } from "./core/logger.ts"
export type {
  AnswerValue,
  ApprovalRequest,
  ApprovalUIAdapter,
  Ask,
  PendingItem,
  ExecutionDecision,
  AnswerResult,
  Question,
  QuestionDecision,
  ResultDecision,
  Answer,
} from "./core/approval.ts"
export {
  ExecutionCancelledError,
  PermissionDeniedError,
  resultOrThrow,
  SecurityError,
  ToolError,
  ToolNotFoundError,
  ToolPermissionError,
  ToolTimeoutError,
  ToolValidationError,
  ValidationError,
} from "./core/errors.ts"

export { ToolRegistry, type RegisterOptions, type ToolStats } from "./registry/registry.ts"
export type { AnyTool } from "./registry/recognise-tool.ts"
export type { ToolFilter } from "./registry/tool-filter.ts"
export { ToolGroupManager, type ToolDefinition } from "./registry/groups.ts"
export {
  fromBaseTool,
  fromDefinition,
  fromFunction,
  fromHandler,
  fromModule,
  fromResultTool,
  type DefinedTool,
  type HandlerTool,
  type ResultTool,
  type ToolModule,
} from "./registry/adapters.ts"
export { PluginManager, type PluginOptions } from "./registry/plugins/manager.ts"
export type { PluginCatalog, PluginEntry, PluginState } from "./registry/plugins/plugin.ts"
export type { ConnectTarget, ModuleRuntime } from "./platform/module-runtime.ts"
export type { Experiment, Experiments, ExperimentReport } from "./registry/experiment.ts"
export { BaseTool, type BaseToolResult } from "./registry/base-tool.ts"
export type { LLMFormat, LLMTools } from "./registry/formats.ts"
export { ToolDiscovery } from "./call/discovery.ts"
export { ToolExecutor, type ToolCall } from "./app/executor.ts"
export { callbackAdapter, type ApprovalCallbacks } from "./approvals/ask/callback.ts"
export { terminalAdapter, terminalAsk } from "./approvals/ask/terminal.ts"
export type { Snippet, SnippetDraft, SnippetFilter, SnippetStorage } from "./store/snippet-store.ts"
export type { Telemetry, Tracer } from "./telemetry/spans.ts"
export { textAdapter, type Chat } from "./approvals/ask/chat.ts"
export { MCPClient, type MCPCallOptions, type MCPClientOptions, type MCPServer } from "./mcp-servers/client.ts"
export { wrapMCPTool, type MCPCaller } from "./mcp-servers/wrap-tool.ts"
export type { McpToolDefinition as MCPTool } from "./core/mcp.ts"
