// The names of design S0. Every name is listed by hand.
export { ToolGroupManager, type ToolDefinition } from "../registry/groups.ts"
