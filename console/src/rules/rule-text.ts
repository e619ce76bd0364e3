import type { ShownRuleJson } from "../../../src/interfaces/http/routes/rules-page-schemas.ts"
import type { Words } from "../words/en.ts"

/** Describes the conditions of a rule besides its tool, in a few words. */
export function matchText(rule: ShownRuleJson, words: Words): string {
  const text = words.govern.rules
  const { agent, role, department, touching, args, approvers, release } = rule
  const list = (values: readonly string[]) => values.join(words.card.comma)
  return [
    ...(touching === undefined ? [] : [list(touching)]),
    ...(agent === undefined ? [] : [text.agents(list(agent))]),
    ...(role === undefined ? [] : [text.roles(list(role))]),
    ...(department === undefined ? [] : [text.departments(list(department))]),
    ...(args === undefined ? [] : [text.inputs]),
    ...(approvers === undefined ? [] : [text.approvers(approvers.count, approvers.role)]),
    ...(release === undefined ? [] : [text.held]),
  ].join(words.card.comma)
}

export const verdictClass = (verdict: "allow" | "ask" | "deny"): string =>
  `tag ${{ allow: "tag-ok", ask: "tag-ask", deny: "tag-deny" }[verdict]}`
