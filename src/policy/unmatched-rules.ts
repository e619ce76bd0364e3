import type { RuleVerdict } from "../model/rule.ts"
import type { CallFacts } from "./check.ts"
import { ruleMatches } from "./conditions.ts"
import { asSentence } from "./rule-reason.ts"

/** The rules about this agent and tool whose conditions do not match the call. */
export function unmatchedRules(facts: CallFacts, verdict: RuleVerdict) {
  return facts.rules.rules
    .filter((one) => one.rule.verdict === verdict && one.rule.shadow !== true && !ruleMatches(one, facts))
    .map(({ rule }) => ({
      source: rule.source,
      sentence: `The rule to ${verdict} ${rule.tool} does not match this call: ${asSentence(rule.because)}`,
    }))
}
