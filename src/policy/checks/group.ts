import type { AgentView } from "../../core/organisation.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { defineCheck, deny } from "../check.ts"
import { roleFix } from "../fix-text.ts"

/** The role has a group that the tool is in. */
export const groupCheck = defineCheck({
  name: "group",
  stage: "visible",
  source: ({ who }) => `role ${who.role.name}`,
  look({ tool, who, tools }) {
    if (tool.exposedAs === "loop" || tools.inGroups(tool, who.groups)) return undefined
    if (!tools.inGroups(tool, null)) return deny("group_not_registered", { group: tool.group }, {})
    // Then an agent above lacks it, and the parent check says which.
    if (tools.inGroups(tool, who.role.toolGroups))
      return deny("group_above_missing", { agent: who.agent.id, group: tool.group }, {})
    return deny("group_missing", { role: who.role.name, group: tool.group }, { fix: () => fixFor(tool, who) })
  },
  sentences: {
    group_missing: ({ role, group }: { role: string; group: string }) =>
      `Role ${role} has no group with this tool; give it '${group}'.`,
    group_above_missing: ({ agent, group }: { agent: string; group: string }) =>
      `An agent above ${agent} does not have the group '${group}', so ${agent} does not have it either.`,
    group_not_registered: ({ group }: { group: string }) =>
      `The tool is in no group: '${group}' is not registered, or no longer has it.`,
  },
  passes: ({ who }) => `Role ${who.role.name} has a group with this tool.`,
})

function fixFor(tool: RegisteredTool, { agent, role }: AgentView): string {
  if (agent.id === "root") return "Call it as another agent: root can only organise"
  return roleFix(role, { groups: [...(role.toolGroups ?? []), tool.group] })
}
