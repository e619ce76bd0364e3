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
    group_missing: {
      en: ({ role, group }: { role: string; group: string }) =>
        `Role ${role} has no group with this tool; give it '${group}'.`,
      zh: "岗位 {role} 没有包含此工具的工具组“{group}”。",
    },
    group_above_missing: {
      en: ({ agent, group }: { agent: string; group: string }) =>
        `An agent above ${agent} does not have the group '${group}', so ${agent} does not have it either.`,
      zh: "{agent} 的上级智能体没有工具组“{group}”，因此 {agent} 也没有。",
    },
    group_not_registered: {
      en: ({ group }: { group: string }) =>
        `The tool is in no group: '${group}' is not registered, or no longer has it.`,
      zh: "此工具不属于任何工具组：“{group}”未注册或已不含此工具。",
    },
  },
  passes: { en: ({ who }) => `Role ${who.role.name} has a group with this tool.`, zh: "岗位拥有包含此工具的工具组。" },
})

function fixFor(tool: RegisteredTool, { agent, role }: AgentView): string {
  if (agent.id === "root") return "Call it as another agent: root can only organise"
  return roleFix(role, { groups: [...(role.toolGroups ?? []), tool.group] })
}
