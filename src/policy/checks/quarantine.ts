import { defineCheck, deny } from "../check.ts"
import { shellWord } from "../../lib/shell-word.ts"

/** A tool of an MCP server whose definition a person has not agreed to yet. The server's tools bring the sentence. */
export const quarantineCheck = defineCheck({
  name: "pin",
  stage: "visible",
  source: ({ tool }) => tool.group,
  look({ tool: { quarantine, group } }) {
    if (quarantine === undefined) return undefined
    return deny(
      "tool_quarantined",
      { server: group },
      {
        words: { quarantine },
        fix: () => `qm mcp pins diff ${shellWord(group)}, then qm mcp pins trust ${shellWord(group)}`,
      },
    )
  },
  sentences: {
    tool_quarantined: {
      en: ({ quarantine }: { quarantine: string }) => quarantine,
      zh: "工具的定义是新的或已改变，须先由人查看：{quarantine}",
    },
  },
  passes: {
    en: ({ tool }) => (tool.type === "mcp" ? "A person has agreed to this definition of the tool." : undefined),
    zh: "工具的定义已被信任。",
  },
})
