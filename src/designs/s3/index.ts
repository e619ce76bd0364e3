// The names of design S3. Every name is listed by hand.
export { BaseTool } from "./base-tool.ts"
export type { ToolParameter } from "../../core/schema.ts"
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
} from "./types.ts"
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
} from "./tools.ts"
export { FileSnippetStorage, type CodeSnippet, type ISnippetStorage } from "./snippets.ts"
export { ToolManager, type ToolManagerOptions } from "./manager.ts"
export { PluginManager, toolManager } from "./plugins.ts"
export { CommandValidator, FileSizeValidator, PathValidator, SecurityError, ValidationError } from "./validators.ts"
export { handleToolError, optimizedFileOperations, toolSelectionGuide } from "./practice.ts"
