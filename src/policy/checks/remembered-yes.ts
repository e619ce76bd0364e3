import type { Grant } from "../../core/rule.ts"
import { allow, defineCheck, type CallFacts } from "../check.ts"
import { grantFix } from "../fix-text.ts"
import { grantMatches } from "../grants.ts"
import { asSentence } from "../rules/rule-reason.ts"

/** A person has said yes to such a call before, and the answer is remembered. Never for a sensitive tool. */
export const rememberedYesCheck = defineCheck({
  name: "grant",
  stage: "loosen",
  needs: "grants",
  source: () => "grants",
  look: (facts) =>
    facts.grants
      .filter((grant) => grant.verdict === "allow" && lifts(grant, facts))
      .map(({ id, by, words }) =>
        allow(
          "remembered_yes",
          { grant: id, by },
          { words: { why: asSentence(words) }, source: `grant ${id}`, fix: () => grantFix(id) },
        ),
      ),
  sentences: {
    remembered_yes: {
      en: ({ by, why }: { by: string; why: string }) => `${by} said yes, and it is remembered: ${why}`,
      zh: "{by} 曾同意，并已记住：{why}",
    },
  },
  unmatched: (facts) =>
    facts.grants
      .filter((grant) => grant.verdict === "allow" && !lifts(grant, facts))
      .map(({ id, words }) => ({
        source: `grant ${id}`,
        sentence: `A remembered yes is not for this call: ${asSentence(words)}`,
      })),
})

function lifts(grant: Grant, facts: CallFacts): boolean {
  return facts.tool.permission.level !== "sensitive" && grantMatches(grant, facts)
}
