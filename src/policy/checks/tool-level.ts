import type { RegisteredTool } from "../../core/tool.ts"
import { ask, defineCheck } from "../check.ts"
import { allowRuleFix } from "../fix-text.ts"
import { readsOnly } from "../reads-only.ts"

/** The tool's level: public runs, moderate and sensitive ask. A call that only reads runs, unless a person wants to be asked. */
export const toolLevelCheck = defineCheck({
  name: "level",
  stage: "level",
  source: ({ tool }) => sourceOf(tool) ?? tool.id,
  look(facts) {
    const { tool, input } = facts
    if (tool.permission.requireExecutionApproval !== true && readsOnly(tool, input)) return undefined
    const code = codeOf(tool)
    return code && ask(code, { tool: tool.name }, { fix: () => allowRuleFix(facts) })
  },
  sentences: {
    tool_sensitive: {
      en: ({ tool }: { tool: string }) => `Tool ${tool} is sensitive, so a person must approve every call.`,
      zh: "工具 {tool} 属于敏感级别，每次调用都须由人批准。",
    },
    tool_wants_approval: {
      en: ({ tool }: { tool: string }) => `Tool ${tool} is configured to need approval before it runs.`,
      zh: "工具 {tool} 被设置为运行前须批准。",
    },
    tool_moderate: {
      en: ({ tool }: { tool: string }) => `Tool ${tool} is moderate, so a person must approve the call.`,
      zh: "工具 {tool} 属于中等级别，调用须由人批准。",
    },
  },
  passes: {
    en: ({ tool: { name, permission } }) =>
      `Tool ${name} ${permission.level === "public" ? "is public" : "only reads with this input"}, so its level needs no approval.`,
    zh: "级别无需批准。",
  },
})

/** The line of the configuration that says the level, directly or because the tool must be confirmed. */
function sourceOf({ permission, permissionSources: said = {} }: RegisteredTool): string | undefined {
  const { level, confirmed } = permission
  const confirmation = confirmed === true ? (said.dangerous ?? said.requireConfirmation) : undefined
  return level === "sensitive" ? (confirmation ?? said.level) : (said.requireExecutionApproval ?? said.level)
}

function codeOf({ permission }: RegisteredTool) {
  const { level, requireExecutionApproval } = permission
  if (level === "sensitive") return "tool_sensitive"
  if (requireExecutionApproval === true) return "tool_wants_approval"
  return level === "moderate" && requireExecutionApproval !== false ? "tool_moderate" : undefined
}
