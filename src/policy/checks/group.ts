import type { AgentView } from "../../model/organisation.ts"
import type { RegisteredTool } from "../../model/tool.ts"
import { defineCheck, deny, type ToolLookup } from "../check.ts"
import { roleFix } from "../fix-text.ts"

/** The role has a group that the tool is in. */
export const groupCheck = defineCheck({
  name: "group",
  stage: "visible",
  source: ({ who }) => `role ${who.role.name}`,
  look({ tool, who, tools }) {
    if (tool.exposedAs === "loop" || tools.inGroups(tool, who.groups)) return undefined
    if (!tools.inGroups(tool, null)) return deny("group_not_registered", { group: tool.group }, {})
    return deny("group_missing", { role: who.role.name, group: tool.group }, { fix: () => fixFor(tool, who, tools) })
  },
  sentences: {
    group_missing: ({ role, group }: { role: string; group: string }) =>
      `Role ${role} has no group with this tool; give it '${group}'.`,
    group_not_registered: ({ group }: { group: string }) =>
      `The tool is in no group: '${group}' is not registered, or no longer has it.`,
  },
  passes: ({ who }) => `Role ${who.role.name} has a group with this tool.`,
})

/** None when the role has the group: then an agent above lacks it, and the parent check says so. */
function fixFor(tool: RegisteredTool, { agent, role }: AgentView, tools: ToolLookup): string | undefined {
  if (agent.id === "root") return "Call it as another agent: root can only organise"
  if (tools.inGroups(tool, role.toolGroups)) return undefined
  return roleFix(role, { groups: [...(role.toolGroups ?? []), tool.group] })
}
