// The names of design S1. Every name is listed by hand.
export { ToolPermissionLevel } from "../model/permission.ts"
export { ToolExecuteStatus } from "../model/result.ts"
