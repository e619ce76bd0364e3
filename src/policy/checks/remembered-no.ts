import { defineCheck, deny } from "../check.ts"
import { grantFix } from "../fix-text.ts"
import { grantMatches } from "../grants.ts"
import { asSentence } from "../rules/rule-reason.ts"

/** A person has said no to such a call before, and the answer is remembered. */
export const rememberedNoCheck = defineCheck({
  name: "grant",
  stage: "deny",
  needs: "grants",
  source: () => "grants",
  look: (facts) =>
    facts.grants
      .filter((grant) => grant.verdict === "deny" && grantMatches(grant, facts))
      .map(({ id, by, words, reason = words }) =>
        deny(
          "remembered_no",
          { grant: id, by },
          {
            words: { why: asSentence(reason) },
            source: `grant ${id}`,
            ending: "approval_rejected",
            fix: () => grantFix(id),
          },
        ),
      ),
  sentences: {
    remembered_no: {
      en: ({ by, why }: { by: string; why: string }) => `${by} said no, and it is remembered: ${why}`,
      zh: "{by} 曾拒绝，并已记住：{why}",
    },
  },
  unmatched: (facts) =>
    facts.grants
      .filter((grant) => grant.verdict === "deny" && !grantMatches(grant, facts))
      .map(({ id, words }) => ({
        source: `grant ${id}`,
        sentence: `A remembered no is not for this call: ${asSentence(words)}`,
      })),
})
