// Design S1, approvals, in its own names: `quartermaster/designs/s1`. docs/designs.md has both ways to write each of them.
export { ToolPermissionLevel } from "../../core/permission.ts"
export { ToolExecuteStatus } from "../../core/result.ts"
export { ToolExecutor, type Tool, type ToolExecuteFunction, type ToolExecutorOptions } from "./executor.ts"
export type { ToolDefinitionWithPermission, ToolExecuteResult } from "./result.ts"
export {
  ChatInDocUIAdapter,
  ChatUIAdapter,
  DefaultUIAdapter,
  type ApprovalUIAdapter,
  type ChatDocument,
  type ChatDocumentFile,
  type ResultApprovalCallback,
  type UserApprovalCallback,
  type UserApprovalCallback as ApprovalCallback,
} from "./adapters.ts"
export { executeToolChain, ToolChain, type ToolChainCallbacks, type ToolChainOptions } from "./chain.ts"
export type { ToolCallHistoryEntry, ToolChainResult } from "./chain-result.ts"
export type { Complete, CompletionResponse, Message, ToolCallResponse } from "./messages.ts"
