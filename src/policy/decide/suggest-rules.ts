import type { AuditReader, ExportedCall } from "../../audit/audit-reader.ts"
import type { RuleSuggestion, RuleSuggestions } from "../rule-admin.ts"
import { canonicalJson } from "../../lib/canonical-json.ts"
import type { AuditFilter } from "../../store/port.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { DecisionPorts } from "./ports.ts"
import type { Rule } from "../../core/rule.ts"
import { compileRule, isAboutAgent, isAboutTool, ruleMatches, type RuleTools } from "../rules/conditions.ts"
import { hiddenBecause } from "./visible.ts"
import { patternsFor } from "../../schema/rule-for-touches.ts"
import { onlyLevelAsks } from "../only-level-asks.ts"
import { factsOf } from "./simulate-policy.ts"

/** The least number of approvals by a person. */
const leastApprovals = 5
const maxExamples = 3

/** A recorded question that a person answered with yes or no. `facts` is undefined where the audit log does not hold the whole input. */
interface Answered {
  call: ExportedCall
  facts: DecisionInput | undefined
  by: readonly string[]
}

/**
 * Rules for calls that people approved at least five times and never refused: each for one agent, one tool and what the
 * calls touch. None for a destructive tool, nor where it is not proved what a call touches.
 */
export async function suggestRules(
  filter: AuditFilter,
  { ports, audit, tools }: { ports: DecisionPorts; audit: AuditReader; tools: RuleTools },
): Promise<RuleSuggestions> {
  const approved: Answered[] = []
  const refused: Answered[] = []
  const answers = await audit.answers()
  for await (const call of audit.export(filter)) {
    const given = answers.get(call.callId) ?? []
    // A remembered no has no answer of its own.
    const isRefused = call.code === "approval_rejected"
    const isApproved =
      given.length > 0 && given.every(({ text = "" }) => /^(approved|agreed to revision \d+)$/.test(text))
    if (!isRefused && !isApproved) continue
    const facts = call.inputDigest === "" && call.input !== "" ? await factsOf(call, ports) : undefined
    const by = given.flatMap((answer) => answer.by ?? [])
    ;(isRefused ? refused : approved).push({ call, facts, by })
  }
  const suggestions = candidates(approved, ports).flatMap(
    (rule) => suggestionOf(rule, { approved, refused, tools }) ?? [],
  )
  suggestions.sort((one, other) => other.approvals - one.approvals)
  return { approved: approved.length, refused: refused.length, suggestions }
}

/** The different rules that would cover one of the approved calls and count. */
function candidates(approved: readonly Answered[], ports: DecisionPorts): CandidateRule[] {
  const found = new Map<string, CandidateRule>()
  for (const { facts } of approved) {
    const rule = facts && ruleFor(facts, ports)
    if (rule !== undefined) found.set(canonicalJson(rule), rule)
  }
  return [...found.values()]
}

type CandidateRule = Pick<RuleSuggestion["rule"], "allow" | "agent" | "touching">

function ruleFor(facts: DecisionInput, ports: DecisionPorts): CandidateRule | undefined {
  const { who, tool, touches, workspace } = facts
  if ((tool.sameNameTools ?? [tool]).some(({ destructive }) => destructive === true)) return undefined
  const { policy, settings, guards } = ports
  if (hiddenBecause(tool, who, ports.tools, settings.levelOrder, policy) !== undefined) return undefined
  if (!onlyLevelAsks(tool, policy.decide({ ...facts, at: ports.now() }), touches)) return undefined
  const touching = patternsFor(touches, workspace, (line) => guards.commandStem(line))
  return touching && { allow: tool.name, agent: who.agent.id, touching }
}

function suggestionOf(
  candidate: CandidateRule,
  { approved, refused, tools }: { approved: readonly Answered[]; refused: readonly Answered[]; tools: RuleTools },
): RuleSuggestion | undefined {
  const { allow, agent, touching } = candidate
  const rule: Rule = { id: "", verdict: "allow", tool: allow, agent: [agent], touching, because: "", source: "" }
  const compiled = compileRule(rule, 0, tools)
  if (compiled === undefined) return undefined
  const covers = ({ facts }: Answered) =>
    facts !== undefined &&
    isAboutAgent(compiled, facts.who) &&
    isAboutTool(compiled, facts.tool, tools) &&
    ruleMatches(compiled, { ...facts, at: -Infinity })
  const yes = approved.filter(covers)
  const compared = refused.filter(({ call }) => call.agentId === agent && tools.canonical(call.tool) === allow)
  // A refused call whose input is not known could be one that the rule covers.
  if (yes.length < leastApprovals || compared.some((one) => one.facts === undefined || covers(one))) return undefined
  const people = [...new Set(yes.flatMap(({ by }) => by))]
  return {
    rule: { ...candidate, because: `${people.join(" and ")} approved it ${yes.length} times and nobody refused it.` },
    approvals: yes.length,
    people,
    first: yes[0]!.call.at,
    last: yes.at(-1)!.call.at,
    examples: [...new Set(yes.map(({ call }) => call.input))].slice(0, maxExamples),
    refusedCompared: compared.length,
  }
}
