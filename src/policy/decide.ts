import type { SessionMode } from "../model/organisation.ts"
import type { Facts, Verdict } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { Finding } from "../model/guard.ts"
import type { Grant } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { CompiledRule } from "./conditions.ts"
import { fits, type GrantIndex } from "./grants.ts"
import { allowedByMode, deniedByMode } from "./modes.ts"
import { readsOnly } from "./reads-only.ts"
import { ended } from "./reasons.ts"
import type { RuleBook, Selection } from "./rules.ts"

const allow: Verdict = { verdict: "allow", reasons: [] }

/**
 * The verdict on one call. Any deny denies; then any binding ask asks; then the tool's level allows or asks, and only
 * from that ask an allow rule, a mode or, unless the tool is sensitive, a remembered yes leads back to allow.
 */
export function decide(facts: Facts, book: RuleBook, grants: GrantIndex, mode: SessionMode): Verdict {
  const { tool, who, limit } = facts
  const rules = book.select(tool, who)
  const remembered = grants.of(who.agent.id, tool.name)
  const level = levelAsk(facts)
  const own = ownAsks(facts)
  const silent = rules.isSilent && !facts.findings?.some(({ says }) => says === "deny")
  const plain = limit.ok && silent && remembered.length === 0 && mode === "ask"
  if (plain && level === undefined && own.length === 0) return allow
  const shadows = reasonsOf(rules.shadow.find(facts))
  const denials = denialsOf(facts, rules, remembered, mode)
  if (denials.length > 0) return denied(facts, denials, shadows)
  const asking = rules.ask.find(facts)
  const holding = asking.filter(({ rule }) => rule.release !== undefined)
  const asks = [...reasonsOf(asking.filter(({ rule }) => rule.release === undefined)), ...own]
  const loosened = level && loosenedBy(facts, book, rules, remembered, mode)
  if (level !== undefined && loosened === undefined) asks.push(level)
  const said = asks.length > 0 ? asks : loosened === undefined ? [] : [loosened]
  const reasons = [...said, ...reasonsOf(holding), ...shadows]
  if (asks.length === 0 && reasons.length === 0) return allow
  return { verdict: asks.length > 0 ? "ask" : "allow", reasons, ...termsOf(asking) }
}

/** What denies a call that may be known of: a limit, a guard, rules, the session's mode, a remembered no. */
function denialsOf(facts: Facts, rules: Selection, remembered: readonly Grant[], mode: SessionMode): Reason[] {
  const { limit, tool } = facts
  const denials: Reason[] = limit.ok ? [] : [{ voice: "limit", source: tool.id, sentence: limit.sentence }]
  denials.push(...found(facts, "deny"))
  for (const { reason } of rules.deny.find(facts)) denials.push(reason)
  const planned = deniedByMode(mode, facts)
  if (planned !== undefined) denials.push(planned)
  for (const grant of remembered) if (grant.verdict === "deny" && fits(grant, facts)) denials.push(rememberedNo(grant))
  return denials
}

const none: readonly Reason[] = []

/** What the guards found that denies, asks or allows. */
export function found({ findings = noFindings }: Facts, says: Finding["says"]): readonly Reason[] {
  if (findings.length === 0) return none
  return findings.filter((finding) => finding.says === says).map(({ reason }) => reason)
}

const noFindings: readonly Finding[] = []

/** The binding asks that no rule makes: what a guard found, touches nobody could prove, and the model's own wish. */
export function ownAsks(facts: Facts): readonly Reason[] {
  const { tool, input, touches } = facts
  const guarded = found(facts, "ask")
  const unproved = tool.touches !== undefined && !touches.proved && guarded.length === 0
  const wish = wishOf(input)
  if (!unproved && wish === undefined) return guarded
  const guard = {
    voice: "guard",
    source: tool.id,
    sentence: `It could not be proved what this call of ${tool.name} touches: a person looks at it first.`,
    binding: true,
  }
  const model = {
    voice: "wish",
    source: `input /${wish}`,
    sentence: "The call itself asks to be confirmed.",
    binding: true,
  }
  return [...guarded, ...(unproved ? [guard] : []), ...(wish === undefined ? [] : [model])]
}

/** What a tool that is a question asks for by itself. The walk asks it only where nothing else asks already. */
export function questionAsk({ question, id, name }: RegisteredTool): Reason | undefined {
  return question && { voice: "tool", source: id, sentence: `Tool ${name} asks a person.`, binding: true }
}

/** The ask of the tool's level, or undefined when the level allows. */
export function levelAsk({ tool, input }: Pick<Facts, "tool" | "input">): Reason | undefined {
  // A person who wants to be asked each time is asked all the same.
  if (tool.permission.requireExecutionApproval !== true && readsOnly(tool, input)) return undefined
  const sentence = asksBecause(tool)
  return sentence === undefined ? undefined : { voice: "level", source: tool.id, sentence }
}

/** What leads from the level's ask back to allow. A remembered yes is never for a sensitive tool. */
function loosenedBy(
  facts: Facts,
  book: RuleBook,
  rules: Selection,
  remembered: readonly Grant[],
  mode: SessionMode,
): Reason | undefined {
  const [rule] = rules.allow.find(facts)
  const [listed] = found(facts, "allow")
  if (rule !== undefined || listed !== undefined) return rule?.reason ?? listed
  const edits = allowedByMode(mode, facts, book.tools)
  if (edits !== undefined || facts.tool.permission.level === "sensitive") return edits
  const grant = remembered.find((one) => one.verdict === "allow" && fits(one, facts))
  return grant && rememberedYes(grant)
}

export function rememberedYes({ id, by, words }: Grant): Reason {
  return { voice: "grant", source: `grant ${id}`, sentence: `${by} said yes, and it is remembered: ${ended(words)}` }
}

export function rememberedNo({ id, by, words, reason }: Grant): Reason {
  return {
    voice: "grant",
    source: `grant ${id}`,
    sentence: `${by} said no, and it is remembered: ${ended(reason ?? words)}`,
  }
}

/** The code a denied call ends with is that of the first voice. */
function denied(
  { limit, findings = noFindings }: Facts,
  denials: readonly Reason[],
  shadows: readonly Reason[],
): Verdict {
  const reasons = [...denials, ...shadows]
  if (!limit.ok) return { verdict: "deny", reasons, code: "rate_limited", retryAfterMs: limit.retryAfterMs }
  const guard = findings.find(({ reason }) => reason === denials[0])
  if (guard !== undefined) return { verdict: "deny", reasons, code: guard.code ?? "permission_denied" }
  return { verdict: "deny", reasons, code: denials[0]?.voice === "grant" ? "approval_rejected" : "permission_denied" }
}

/** Who must agree and for how long it waits, and when the result is held: what all rules that ask say together. */
function termsOf(asking: readonly CompiledRule[]): Pick<Verdict, "approvers" | "deadlineMs" | "release"> {
  const approvers = asking.flatMap(({ rule }) => rule.approvers ?? [])
  const deadlines = asking.flatMap(({ rule }) => (rule.deadline === undefined ? [] : [rule.deadline * 60_000]))
  const releases = asking.flatMap(({ rule }) => rule.release ?? [])
  return {
    ...(approvers.length > 0 ? { approvers } : {}),
    ...(deadlines.length > 0 ? { deadlineMs: Math.min(...deadlines) } : {}),
    ...(releases.length > 0
      ? { release: releases.includes("always") ? ("always" as const) : ("on-error" as const) }
      : {}),
  }
}

function asksBecause({ name, permission }: RegisteredTool): string | undefined {
  const { level, requireExecutionApproval } = permission
  if (level === "sensitive") return `Tool ${name} is sensitive: a person agrees to every call.`
  if (requireExecutionApproval === true) return `Tool ${name} asks for approval before it runs.`
  if (level === "moderate" && requireExecutionApproval !== false)
    return `Tool ${name} is moderate: a person agrees first.`
  return undefined
}

function reasonsOf(rules: readonly CompiledRule[]): Reason[] {
  return rules.map(({ reason }) => reason)
}

function wishOf(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) return undefined
  return wishes.find((name) => Object.hasOwn(input, name) && (input as Record<string, unknown>)[name] === true)
}

const wishes = ["require_confirmation", "requireConfirmation"]
