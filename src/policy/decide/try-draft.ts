import { withMatchingLimit } from "../../lib/glob.ts"
import { dailySession } from "../../core/call.ts"
import type { Rule } from "../../core/rule.ts"
import type { DraftCall, DraftOutcome, RuleDraft, TriedDraft } from "../rule-admin.ts"
import type { rulesApi } from "../rules/rules-api.ts"
import type { Policy } from "./policy.ts"
import type { DecisionPorts } from "./ports.ts"
import { decideAgain, factsOf } from "./simulate-policy.ts"

interface DraftParts {
  rules: ReturnType<typeof rulesApi>
  policyWith(list: () => readonly Rule[]): Policy
  ports: DecisionPorts
  loadForExamples(rules: readonly unknown[]): Promise<void>
  /** Limit of steps of matching patterns in one go. */
  mostSteps?: number | undefined
}

/** Reads a rule that is not stored, and decides these calls with the rules in force and with it among them. */
export async function tryDraft(
  { rule: written, replaces }: RuleDraft,
  calls: readonly DraftCall[],
  { rules, policyWith, ports, loadForExamples, mostSteps = Number.POSITIVE_INFINITY }: DraftParts,
): Promise<TriedDraft> {
  await loadForExamples([written])
  const others = replaces === undefined ? rules.list() : rules.list().filter(({ id }) => id !== replaces)
  const { rule, flaws } = withMatchingLimit(mostSteps, () => rules.draft(written, others))
  const withDraft = rule === undefined ? others : [...others, rule]
  const policy = policyWith(() => withDraft)
  const tried = []
  for (const { agentId, tool, input = {} } of calls) {
    const sessionId = dailySession(agentId, ports.now())
    const call = { agentId, tool, input: JSON.stringify(input), sessionId, taskId: "", startedAt: ports.now() }
    const facts = await factsOf(call, ports)
    const outcome = (by: Policy): DraftOutcome =>
      (facts && withMatchingLimit(mostSteps, () => decideAgain(facts, by, ports))) ?? unknown(agentId, tool)
    tried.push({ agentId, tool, before: outcome(ports.policy), after: outcome(policy) })
  }
  return { rule, flaws, tools: rule === undefined ? [] : rules.toolsOf(rule), calls: tried }
}

function unknown(agentId: string, tool: string): DraftOutcome {
  const sentence = `There is no agent '${agentId}', or no tool '${tool}' for it. Choose another one for the example.`
  return { verdict: "deny", reasons: [{ check: "registry", source: "the example", code: "unknown_tool", sentence }] }
}
