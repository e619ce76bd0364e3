import { defineCheck, deny, resultsOf, type Check } from "../check.ts"
import { whyFix } from "../fix-text.ts"

/** A sub-agent never exceeds its parent: `inherited` are the checks that every agent above must pass too. */
export const parentCheck = (inherited: readonly Check<"visible">[]) =>
  defineCheck({
    name: "parent",
    stage: "visible",
    source: ({ who }) => `agent ${who.ancestors.map(({ agent }) => agent.id).join(", ")}`,
    look(facts) {
      for (const who of facts.who.ancestors) {
        for (const check of inherited) {
          const [denial] = resultsOf(check, { ...facts, who })
          if (denial === undefined) continue
          const { reason, fix } = denial
          const { id } = who.agent
          return deny(
            "parent_not_allowed",
            { agent: id, because: reason.code },
            {
              words: { sentence: reason.sentence },
              source: `agent ${id}`,
              fix: () => fix?.() ?? whyFix(facts.tool.name, id),
            },
          )
        }
      }
      return undefined
    },
    sentences: {
      parent_not_allowed: {
        en: ({ agent, sentence }: { agent: string; sentence: string }) =>
          `Agent ${agent}, which is above this one, may not use it: ${sentence}`,
        zh: "上级智能体 {agent} 不可使用它：{rest}",
      },
    },
    passes: {
      en: ({ who: { ancestors } }) =>
        ancestors.length === 0
          ? undefined
          : `The agents above may use the tool too: ${ancestors.map(({ agent }) => agent.id).join(", ")}.`,
      zh: "上级智能体同样可以使用此工具。",
    },
  })
