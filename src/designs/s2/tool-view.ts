import type { RegisteredTool } from "../../core/tool.ts"
import type { BuiltinTool, MCPTool, Tool, ToolHandler } from "./types.ts"

/** A tool of ours in S2's form. What its author wrote stands as it was written; `call` is for tools that S2 did not register. */
export function toolView(tool: RegisteredTool, given: BuiltinTool | MCPTool | undefined, call: ToolHandler): Tool {
  const { id, name, description, category, type, version, author, tags, permission, input, output } = tool
  const { maxCallsPerMinute = Infinity, maxCallsPerHour = Infinity } = permission.rateLimit
  return {
    id,
    name,
    description,
    category,
    inputSchema: input.json,
    outputSchema: output?.json ?? {},
    handler: call,
    version,
    author,
    tags,
    ...given,
    type,
    permissions: {
      allowedRoles: permission.allowedRoles,
      allowedDepartments: permission.allowedDepartments,
      minLevel: permission.minLevel ?? 0,
      requireConfirmation: permission.level === "sensitive",
      isDangerous: permission.confirmed === true,
      rateLimit: { maxCallsPerMinute, maxCallsPerHour },
      ...given?.permissions,
    },
  }
}
