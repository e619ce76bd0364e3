import type { AgentView } from "../../core/organisation.ts"
import { deny, type Check, type Sentences } from "../check.ts"
import { shellWord } from "../../lib/shell-word.ts"

/** The agent exists, has not ended, and has a known role. The only check that looks at an agent that may not exist. */
export const agentCheck: Check<"visible", Sentences, { agentId?: string; who: AgentView | undefined }> = {
  name: "agent",
  stage: "visible",
  source: () => "organisation",
  look: ({ agentId = "<id>", who }) =>
    who === undefined
      ? deny("agent_unknown", undefined, { fix: () => `qm agents create ${shellWord(agentId)} --role <role>` })
      : undefined,
  sentences: {
    agent_unknown: {
      en: () =>
        "This agent does not exist, has ended, or has no known role. A person creates agents with 'qm agents create'.",
      zh: "此智能体不存在、已结束或没有岗位。",
    },
  },
  passes: {
    en: ({ who }) => `Agent ${who?.agent.id} is known and has the role ${who?.role.name}.`,
    zh: "智能体存在，并有岗位。",
  },
}
