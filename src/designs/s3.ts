// The names of design S3. Every name is listed by hand.
export { BaseTool } from "./s3-base-tool.ts"
export type { ToolParameter } from "../core/schema.ts"
export type {
  ExecResult,
  FileInfo,
  GlobalConfig,
  ILogger,
  SearchResult,
  ToolCall,
  ToolDefinition,
  ToolPlugin,
  ToolResult,
  ValidationResult,
} from "./s3-types.ts"
export {
  AskUserTool,
  CodeQueryTool,
  FileListTool,
  FileReadTool,
  FileWriteTool,
  ShellExecTool,
  SnippetListTool,
  SnippetLoadTool,
  SnippetSaveTool,
} from "./s3-tools.ts"
export { FileSnippetStorage, type CodeSnippet, type ISnippetStorage } from "./s3-snippets.ts"
export { ToolManager, type ToolManagerOptions } from "./s3-manager.ts"
export { PluginManager, toolManager } from "./s3-plugins.ts"
export { CommandValidator, FileSizeValidator, PathValidator, SecurityError, ValidationError } from "./s3-validators.ts"
export { handleToolError, optimizedFileOperations, toolSelectionGuide } from "./s3-practice.ts"
