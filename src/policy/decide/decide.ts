import type { SessionMode } from "../../core/organisation.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { HoldingRule, Verdict } from "../../core/verdict.ts"
import type { Finding } from "../../core/guard.ts"
import { resultsOf, type CallFacts, type Check, type Need, type Result } from "../check.ts"
import { checksOf } from "../checks/list.ts"
import type { GrantIndex } from "../grants.ts"
import type { RuleSet } from "../rules/rules.ts"

const allowed: Verdict = { verdict: "allow", reasons: [] }

/**
 * The verdict on one call of a visible tool. Any deny denies; then any ask of stage `ask` asks; then the tool's level
 * allows or asks, and only from that ask a check of stage `loosen` leads back to allow.
 */
export function decide(call: DecisionInput, ruleSet: RuleSet, grants: GrantIndex, mode: SessionMode): Verdict {
  const facts = callFacts(call, ruleSet, grants, mode)
  const checks = checksFor(facts)
  const denials = gather(checks.deny, facts)
  if (denials.length > 0) return denied(denials, gather(checks.shadow, facts))
  const level = gather(checks.level, facts)
  const loosened = level.length === 0 ? none : firstOf(checks.loosen, facts)
  const asks = joined(gather(checks.ask, facts), loosened.length === 0 ? level : none)
  const holds = gather(checks.release, facts)
  const shadows = gather(checks.shadow, facts)
  const deciding = asks.length > 0 ? asks : loosened
  if (deciding.length + holds.length + shadows.length === 0) return allowed
  const reasons = [...deciding, ...holds, ...shadows].map(({ reason }) => reason)
  return {
    verdict: asks.length > 0 ? "ask" : "allow",
    reasons,
    ...termsOf(joined(asks, holds)),
    ...(holds.length > 0 ? { holds: holds.flatMap(holdingRule) } : {}),
  }
}

function holdingRule({ rule, reason }: Result): HoldingRule[] {
  const when = rule?.rule.release
  return when === undefined ? [] : [{ when, reason }]
}

/** Puts together what the checks look at. */
export function callFacts(call: DecisionInput, ruleSet: RuleSet, grants: GrantIndex, mode: SessionMode): CallFacts {
  const { who, tool, input, touches, findings = noFindings, limit, sessionId, taskId, workspace, at } = call
  return {
    who,
    tool,
    input,
    touches,
    findings,
    limit,
    sessionId,
    taskId,
    workspace,
    at,
    rules: ruleSet.select(tool, who),
    grants: grants.of(who.agent.id, tool.name),
    mode,
    tools: ruleSet.tools,
  }
}

const noFindings: readonly Finding[] = []
const none: readonly Result[] = []

function gather(checks: readonly CallCheck[], facts: CallFacts): readonly Result[] {
  let found = none
  for (const check of checks) found = joined(found, resultsOf(check, facts))
  return found
}

function firstOf(checks: readonly CallCheck[], facts: CallFacts): readonly Result[] {
  for (const check of checks) {
    const [result] = resultsOf(check, facts)
    if (result !== undefined) return [result]
  }
  return none
}

function joined(some: readonly Result[], more: readonly Result[]): readonly Result[] {
  if (some.length === 0) return more
  return more.length === 0 ? some : [...some, ...more]
}

const callStages = ["deny", "ask", "level", "loosen", "release", "shadow"] as const
type CallStage = (typeof callStages)[number]
type CallCheck = { [S in CallStage]: Check<S> }[CallStage]
type CallChecks = Readonly<Record<CallStage, readonly CallCheck[]>>

const needs: readonly Need[] = ["rules", "findings", "grants", "mode"]

/** The checks that can find something, for each combination of needs that are met. */
const checksByNeeds: readonly CallChecks[] = Array.from({ length: 2 ** needs.length }, (_, met) => {
  const isMet = (need: Need | undefined) => need === undefined || (met & (1 << needs.indexOf(need))) !== 0
  const entries = callStages.map((stage) => [stage, checksOf(stage).filter(({ needs }) => isMet(needs))])
  return Object.fromEntries(entries) as CallChecks
})

/** A plain call, about which there is no rule, finding, grant or mode, is looked at by few checks only. */
function checksFor({ rules, findings, grants, mode }: CallFacts): CallChecks {
  const met =
    (rules.isEmpty ? 0 : 1) | (findings.length === 0 ? 0 : 2) | (grants.length === 0 ? 0 : 4) | (mode === "ask" ? 0 : 8)
  return checksByNeeds[met]!
}

/** The call ends with the code of the first denial. */
function denied(denials: readonly Result[], shadows: readonly Result[]): Verdict {
  const [{ ending = "permission_denied", retryAfterMs } = {}] = denials
  const reasons = [...denials, ...shadows].map(({ reason }) => reason)
  return { verdict: "deny", reasons, code: ending, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** Combines the terms of all rules that ask: the approvers, the deadline, and when the result is held. */
function termsOf(results: readonly Result[]): Pick<Verdict, "approvers" | "deadlineMs" | "release"> {
  const rules = results
    .flatMap(({ rule }) => rule ?? [])
    .sort((one, other) => one.order - other.order)
    .map(({ rule }) => rule)
  if (rules.length === 0) return {}
  const approvers = rules.flatMap((rule) => rule.approvers ?? [])
  const deadlines = rules.flatMap(({ deadline }) => (deadline === undefined ? [] : [deadline * 60_000]))
  const releases = rules.flatMap(({ release }) => release ?? [])
  return {
    ...(approvers.length > 0 ? { approvers } : {}),
    ...(deadlines.length > 0 ? { deadlineMs: Math.min(...deadlines) } : {}),
    ...(releases.length > 0 ? { release: releases.includes("always") ? "always" : "on-error" } : {}),
  }
}
