import { argumentWords } from "../../../../lib/argument-words.ts"
import type { Rule, RuleFlaw } from "../../../../core/rule.ts"
import { formatTime } from "../../common/time-text.ts"

/** The conditions of a rule as text. */
export function whenText(rule: Rule): string {
  const { role, department, agent, effect, touching, args, except, approvers, deadline, expiresAt, readOnlyHint } = rule
  const list = (name: string, of: readonly string[] | undefined) =>
    of === undefined ? [] : [`${name} ${of.join(" or ")}`]
  const named = Object.entries(args ?? {}).map(([pointer, written]) => `${pointer} is ${argumentWords(written)}`)
  const people = approvers === undefined ? [] : [`${approvers.count} of ${approvers.role ?? "anyone"} agree`]
  return [
    ...list("role", role),
    ...list("department", department),
    ...list("agent", agent),
    ...list("effect", effect),
    ...list("touching", touching),
    ...named,
    ...(readOnlyHint === true ? ["says that it only reads"] : []),
    ...list("except", except),
    ...people,
    ...(deadline === undefined ? [] : [`within ${deadline} min`]),
    ...(expiresAt === undefined ? [] : [`until ${formatTime(Date.parse(expiresAt))}`]),
  ].join(", ")
}

/** Describes a flaw of a rule, and its place. */
export function flawText({ kind, source, sentence }: RuleFlaw): string {
  return `${source} (${kind}): ${sentence}`
}
