// Design S0, tool groups, in its own names: `quartermaster/designs/s0`. docs/designs.md has both ways to write each of them.
export { BUILTIN_TOOL_GROUPS } from "./groups.ts"
export { createNoopModuleLogger, type ModuleLogger } from "./logger.ts"
export {
  ToolGroupManager,
  type GroupDefinition,
  type ToolGroup,
  type ToolGroupManagerOptions,
} from "./group-manager.ts"
export { Runtime, type RuntimeContext, type RuntimeOptions, type ToolCallError } from "./runtime.ts"
export type { ToolModule } from "../../registry/adapters.ts"
export type { GroupResult, ToolDefinition, ToolGroupRow } from "../../registry/groups.ts"
export type { Role } from "../../core/organisation.ts"
