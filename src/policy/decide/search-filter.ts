import type { DecisionInput } from "../rules/decision-input.ts"
import { ruleMatches } from "../rules/conditions.ts"
import type { RuleSet } from "../rules/rules.ts"

/**
 * Returns a filter for a search through a folder: it leaves out files a rule denies or asks about. Undefined when no
 * rule about this agent and tool is about files.
 */
export function searchFilter(
  { who, tool, input, workspace, at }: Pick<DecisionInput, "who" | "tool" | "input" | "workspace" | "at">,
  ruleSet: RuleSet,
): ((path: string) => boolean) | undefined {
  const rules = ruleSet.select(tool, who).rules.filter(({ rule, touching }) => {
    const tightens = rule.verdict !== "allow" && rule.shadow !== true && rule.release === undefined
    return tightens && touching?.some(({ kinds }) => kinds.includes("read"))
  })
  if (rules.length === 0) return undefined
  return (path) => {
    const call = { input, workspace, at, touches: { list: [{ kind: "read" as const, what: path }], proved: true } }
    return !rules.some((rule) => ruleMatches(rule, call))
  }
}
