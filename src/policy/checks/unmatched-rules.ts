import type { RuleVerdict } from "../../core/rule.ts"
import type { CallFacts } from "../check.ts"
import { argumentWords } from "../../lib/argument-words.ts"
import { argumentHolds, ruleMatches, type CompiledRule } from "../rules/conditions.ts"
import { asSentence } from "../rules/rule-reason.ts"

/** The rules about this agent and tool whose conditions do not match the call. */
export function unmatchedRules(facts: CallFacts, verdict: RuleVerdict) {
  return facts.rules.rules
    .filter((one) => one.rule.verdict === verdict && one.rule.shadow !== true && !ruleMatches(one, facts))
    .map((one) => ({
      source: one.rule.source,
      sentence: `The rule to ${verdict} ${one.rule.tool} does not match this call${missed(one, facts)}: ${asSentence(one.rule.because)}`,
    }))
}

/** The first condition on the input that does not hold. */
function missed({ rule, args }: CompiledRule, { input }: CallFacts): string {
  const argument = args.find((one) => !argumentHolds(one, input, rule.verdict === "allow"))
  return argument === undefined ? "" : ` (${argument.pointer} is not ${argumentWords(rule.args?.[argument.pointer])})`
}
