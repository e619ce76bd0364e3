import { defineCheck, deny } from "../check.ts"
import { shellWord } from "../../lib/shell-word.ts"
import { asSentence } from "../rule-reason.ts"

/** A person has frozen the agent, an agent above it, or everyone. */
export const freezeCheck = defineCheck({
  name: "freeze",
  stage: "visible",
  source: () => "freeze",
  look({ who: { agent, frozen } }) {
    if (frozen === undefined) return undefined
    const { by, because } = frozen
    const at = new Date(frozen.at).toISOString()
    return deny(
      "agent_frozen",
      { agent: agent.id, by, at },
      {
        words: { why: because === undefined ? "." : `: ${asSentence(because)}` },
        ending: "frozen",
        fix: () => `qm thaw --agent ${shellWord(agent.id)} (or 'qm thaw' if everyone is frozen)`,
      },
    )
  },
  sentences: {
    agent_frozen: ({ agent, by, at, why }: Record<"agent" | "by" | "at" | "why", string>) =>
      `Agent ${agent} was frozen by ${by} at ${at}${why} A person ends the freeze with 'qm thaw --agent ${agent}', or 'qm thaw' if everyone is frozen.`,
  },
  passes: () => "The agent is not frozen.",
})
