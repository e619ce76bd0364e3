import { defineCheck, ask, type CallFacts } from "../check.ts"
import { ruleMatches, type CompiledRule } from "../rules/conditions.ts"
import { findingsOf } from "../findings.ts"
import { asSentence } from "../rules/rule-reason.ts"

/**
 * It could not be proved what the call touches. When bubblewrap holds the call, only the rules ask that may be about what
 * it touches. When a guard asks already, its question is enough.
 */
export const unprovedTouchesCheck = defineCheck({
  name: "guard",
  stage: "ask",
  source: ({ tool }) => tool.id,
  look(facts) {
    const { tool, touches, findings } = facts
    if (tool.touches === undefined || touches.proved) return undefined
    if (findings.some(({ sandboxed }) => sandboxed === true)) return possibleRules(facts).map(askForRule(tool.name))
    return findingsOf(facts, "ask").length > 0 ? undefined : ask("touches_unproved", { tool: tool.name })
  },
  sentences: {
    touches_unproved: {
      en: ({ tool }: { tool: string }) =>
        `It could not be proved what this call of ${tool} touches: a person looks at it first.`,
      zh: "无法证实 {tool} 的这次调用会涉及什么，因此先由人查看。",
    },
    touches_unproved_for_rule: {
      en: ({ tool, verdict, pattern, why }: Record<"tool" | "verdict" | "pattern" | "why", string>) =>
        `It could not be proved what this call of ${tool} touches, and the rule to ${verdict} ${pattern} may be about it: ${why}`,
      zh: "无法证实 {tool} 的这次调用会涉及什么，而规则 {pattern} 可能与它有关。",
    },
  },
})

const askForRule =
  (tool: string) =>
  ({ rule, reason }: CompiledRule) =>
    ask(
      "touches_unproved_for_rule",
      { tool, rule: reason.params!["rule"]! },
      {
        words: { verdict: rule.verdict, pattern: rule.tool, why: asSentence(rule.because) },
        source: rule.source,
      },
    )

/** The rules with `touching` that would match if the call touched what they name. */
function possibleRules(facts: CallFacts): readonly CompiledRule[] {
  return facts.rules.rules.filter(
    (one) =>
      one.touching !== undefined &&
      one.rule.verdict !== "allow" &&
      one.rule.shadow !== true &&
      ruleMatches({ ...one, touching: undefined }, facts),
  )
}
