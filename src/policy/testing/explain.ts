import type { Explanation } from "../explanation.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { Grant, Rule } from "../../core/rule.ts"
import { explain, type PolicyState } from "../decide/explain.ts"
import { GrantIndex } from "../grants.ts"
import { compileRules } from "../rules/rules.ts"
import { facts, registered, tools } from "../testing.ts"

export function policyState(
  rules: readonly Rule[] = [],
  grants: readonly Grant[] = [],
  change: Partial<PolicyState> = {},
): PolicyState {
  return {
    ruleSet: compileRules(rules, tools),
    grants: new GrantIndex(grants),
    mode: "ask",
    tools,
    levelOrder: "asc",
    version: "v1",
    ...change,
  }
}

export const why = (call: DecisionInput, given: PolicyState = policyState()) =>
  explain({ ...call, agentId: call.who.agent.id }, given)

/** The verdict that follows from the results of the checks alone. */
export function verdictFromChecks({ checks }: Explanation): string {
  const counted = checks.filter(({ shadow }) => shadow === undefined)
  if (counted.some(({ verdict }) => verdict === "deny")) return "deny"
  if (counted.some(({ verdict, binding }) => verdict === "ask" && binding === true)) return "ask"
  const asks = counted.some(({ verdict }) => verdict === "ask")
  const covered = counted.some(({ verdict, check }) => verdict === "allow" && check !== "level")
  return asks && !covered ? "ask" : "allow"
}

export const moderate = registered({ name: "set_env", effect: "write" })
export const call = facts({ tool: moderate })
