// Design S0, tool groups, in its own names: `quartermaster/designs/s0`. docs/designs.md has both ways to write each of them.
export { BUILTIN_TOOL_GROUPS } from "./s0-groups.ts"
export { createNoopModuleLogger, type ModuleLogger } from "./s0-logger.ts"
export {
  ToolGroupManager,
  type GroupDefinition,
  type ToolGroup,
  type ToolGroupManagerOptions,
} from "./s0-group-manager.ts"
export { Runtime, type RuntimeContext, type RuntimeOptions, type ToolCallError } from "./s0-runtime.ts"
export type { ToolModule } from "../registry/adapters.ts"
export type { GroupResult, ToolDefinition, ToolGroupRow } from "../registry/groups.ts"
export type { Role } from "../core/organisation.ts"
