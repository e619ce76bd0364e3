import { defineCheck, deny } from "../check.ts"
import { shellWord } from "../../lib/shell-word.ts"
import { asSentence } from "../rules/rule-reason.ts"

/** A person has frozen the agent, an agent above it, or everyone. */
export const freezeCheck = defineCheck({
  name: "freeze",
  stage: "visible",
  source: () => "freeze",
  look({ who: { agent, frozen } }) {
    if (frozen === undefined) return undefined
    const { by, because } = frozen
    const at = new Date(frozen.at).toISOString()
    const thaw = frozen.agentId === undefined ? "qm thaw" : `qm thaw --agent ${shellWord(frozen.agentId)}`
    return deny(
      "agent_frozen",
      { agent: agent.id, by, at, thaw },
      {
        words: { why: because === undefined ? "." : `: ${asSentence(because)}` },
        ending: "frozen",
        fix: () => thaw,
      },
    )
  },
  sentences: {
    agent_frozen: {
      en: ({ agent, by, at, why, thaw }: Record<"agent" | "by" | "at" | "why" | "thaw", string>) =>
        `Agent ${agent} was frozen by ${by} at ${at}${why} A person ends the freeze with '${thaw}'.`,
      zh: "智能体 {agent} 已被 {by} 冻结。由人运行“{thaw}”即可解除。",
    },
  },
  passes: { en: () => "The agent is not frozen.", zh: "智能体未被冻结。" },
})
