import type { Explanation } from "../explanation.ts"
import type { Reason } from "../../core/reason.ts"
import type { AgentView, SessionMode } from "../../core/organisation.ts"
import type { LevelOrder } from "../../core/permission.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { Verdict } from "../../core/verdict.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import {
  resultsOf,
  type CallFacts,
  type Check,
  type Result,
  type Sentences,
  type ToolLookup,
  type VisibleFacts,
} from "../check.ts"
import { checks, type AnyCheck } from "../checks/list.ts"
import { callFacts, decide } from "./decide.ts"
import { allowRuleFor, askRuleFix } from "../fix-text.ts"
import type { GrantIndex } from "../grants.ts"
import type { RuleSet } from "../rules/rules.ts"
import { unknownAgent, visibleFacts } from "./visible.ts"

/** Everything that decides. */
export interface PolicyState {
  ruleSet: RuleSet
  grants: GrantIndex
  mode: SessionMode
  tools: ToolLookup
  levelOrder: LevelOrder
  /** The version of all of it. */
  version: string
}

/** A call to be explained. Its agent need not exist. */
export interface Asked extends Omit<DecisionInput, "who"> {
  agentId: string
  who: AgentView | undefined
}

/**
 * Explains the outcome of a call, with the result of every check in order. It decides what `hiddenBecause` and `decide`
 * decide, because it asks the same checks, and adds that a question waits for its answer.
 */
export function explain({ agentId, who, ...rest }: Asked, state: PolicyState): Explanation {
  const { tool, touches } = rest
  const call = who && { ...rest, who }
  const results = call === undefined ? [unknownAgent(agentId)] : allResults(call, state)
  const hiding = call === undefined ? results : results.filter(isHiding)
  const verdict = call === undefined || hiding.length > 0 ? hidden(hiding) : decideWithQuestion(call, state)
  return {
    agentId,
    tool: tool.name,
    verdict: verdict.verdict,
    code: verdict.code,
    reasons: verdict.reasons,
    checks: results.map(({ reason, verdict, fix }) => ({ ...reason, verdict, fix: fix?.() })),
    touches,
    approvers: verdict.approvers ?? [],
    release: stricter(tool.permission.requireResultApproval, verdict.release ?? "never"),
    change: [...new Set(fixesFor(verdict, tool, results))],
    rule: call && ruleFor(call, verdict),
    policy: state.version,
  }
}

interface ExplainedResult extends Result {
  readonly stage?: AnyCheck["stage"]
}

function allResults(call: DecisionInput, state: PolicyState): ExplainedResult[] {
  const { ruleSet, tools, levelOrder } = state
  const policy = { hiddenByRule: (tool: RegisteredTool, who: AgentView) => ruleSet.select(tool, who).hidden(call.at) }
  const visible = visibleFacts(call.tool, call.who, { tools, levelOrder, policy })
  const facts = { ...callFacts(call, ruleSet, state.grants, state.mode), commandStem: call.commandStem }
  const all = checks.flatMap((check) => resultsWithPasses(check, check.stage === "visible" ? visible : facts))
  const question = questionAsk(call.tool)
  if (question !== undefined) all.push({ verdict: "ask", reason: question })
  // A rule that hides the tool also denies the call; it is shown once.
  return all.filter(({ reason }, at) => all.findIndex((one) => one.reason === reason) === at)
}

/** Returns the results of the check, or its pass where it found nothing. */
function resultsWithPasses(given: AnyCheck, facts: VisibleFacts | CallFacts): ExplainedResult[] {
  const check = given as unknown as Check<AnyCheck["stage"], Sentences, VisibleFacts | CallFacts>
  const found = resultsOf(check, facts).map((result) => ({ ...result, stage: check.stage }))
  const passing = (source: string, sentence: string): ExplainedResult =>
    check.stage === "level"
      ? { verdict: "allow", reason: { check: check.name, source, code: "level_allows", sentence } }
      : { verdict: "pass", reason: { check: check.name, source, code: "passes", sentence } }
  const sentence = found.length === 0 ? check.passes?.en(facts) : undefined
  const unmatched = check.unmatched?.(facts) ?? []
  return [
    ...found,
    ...(sentence === undefined ? [] : [passing(check.source(facts), sentence)]),
    ...unmatched.map((one) => passing(one.source, one.sentence)),
  ]
}

function isHiding({ stage, verdict }: ExplainedResult): boolean {
  return stage === "visible" && verdict === "deny"
}

function hidden(denials: readonly Result[]): Verdict {
  const [{ ending = "tool_not_available" } = {}] = denials
  return { verdict: "deny", reasons: denials.map(({ reason }) => reason), code: ending }
}

function decideWithQuestion(call: DecisionInput, { ruleSet, grants, mode }: PolicyState): Verdict {
  const verdict = decide(call, ruleSet, grants, mode)
  const question = questionAsk(call.tool)
  if (question === undefined || verdict.verdict !== "allow") return verdict
  return { ...verdict, verdict: "ask", reasons: [question, ...verdict.reasons] }
}

/** Why a tool that is a question waits. This is no check: the step approve asks it where no check asks. */
function questionAsk({ question, id, name }: RegisteredTool): Reason | undefined {
  return (
    question && { check: "tool", source: id, code: "question", sentence: `Tool ${name} asks a person.`, binding: true }
  )
}

/** An allow rule lifts what the tool's level asks, and nothing else. */
function ruleFor(call: DecisionInput, { verdict, reasons }: Verdict): Explanation["rule"] {
  const isLiftable = verdict === "ask" && reasons.every(({ binding }) => binding !== true)
  return isLiftable ? allowRuleFor(call) : undefined
}

/** Returns the fixes that would change the deciding results. */
function fixesFor({ verdict, reasons }: Verdict, tool: RegisteredTool, results: readonly Result[]): string[] {
  const fixes = (decided: (result: Result) => boolean) =>
    results.flatMap((result) => (decided(result) && result.fix?.()) || [])
  if (verdict === "deny") return fixes((result) => result.verdict === "deny")
  if (verdict === "ask" && reasons[0]?.code === "question") return ["Answer it when it waits: qm approvals answer <id>"]
  if (verdict === "ask") {
    const isBinding = reasons.some(({ binding }) => binding === true)
    const isDecisive = ({ verdict, reason }: Result) => verdict === "ask" && (!isBinding || reason.binding === true)
    return [approveFix(tool, isBinding), ...fixes(isDecisive)]
  }
  const wasAsked = results.some((result) => result.verdict === "ask")
  return wasAsked ? fixes((result) => result.verdict === "allow") : [askRuleFix(tool.name)]
}

function approveFix({ permission }: RegisteredTool, isBinding: boolean): string {
  const once = "Approve it when it waits: qm approvals approve <id>"
  return isBinding || permission.level === "sensitive" ? once : `${once} --remember tool-session`
}

const releases = ["never", "on-error", "always"] as const

function stricter(one: Explanation["release"], other: Explanation["release"]): Explanation["release"] {
  return releases.indexOf(one) > releases.indexOf(other) ? one : other
}
