import { defineTool } from "../../model/define-tool.ts"
import { Ending } from "../../model/ending.ts"
import type { Tool } from "../../model/tool.ts"

/** Stands for a tool nobody has agreed to. None of the server's words are in it, so that no list carries them. */
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
