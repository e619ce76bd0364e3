import { defineTool } from "../schema/define-tool.ts"
import { Ending } from "../core/ending.ts"
import type { Tool } from "../core/tool.ts"

/** A placeholder for a tool that is not trusted. It has none of the server's texts, so that no list shows them. */
export function quarantinedTool(name: string, server: string, quarantine: string): Tool {
  return defineTool({
    name,
    group: server,
    description: quarantine,
    category: "mcp",
    effect: "network",
    permission: { level: "sensitive" },
    quarantine,
    input: { type: "object" },
    execute() {
      throw new Ending("tool_not_available", quarantine)
    },
  })
}
