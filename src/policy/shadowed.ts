import type { Rule } from "../model/rule.ts"
import { canonicalJson } from "../model/plain.ts"
import { isConditional, type CompiledRule } from "./conditions.ts"
import type { PlacedRule } from "./flaws.ts"

/** Why a rule never decides anything: another one always speaks for it. Undefined when it can. */
export function shadowedSentence(placed: PlacedRule, all: readonly PlacedRule[]): string | undefined {
  if (placed.rule.shadow === true || placed.about.size === 0) return undefined
  for (const other of all) {
    if (other === placed || other.rule.shadow === true) continue
    if (other.order < placed.order && other.fingerprint === placed.fingerprint) {
      return `It says the same as the rule at ${other.rule.source}. Remove one of them.`
    }
    if (!outranks(other.rule, placed.rule) || !covers(other, placed)) continue
    // Of two that cover each other and say the same, the later one is too much.
    if (other.rule.verdict === placed.rule.verdict && covers(placed, other) && other.order > placed.order) continue
    return `It never decides: the rule at ${other.rule.source} ${speaks[other.rule.verdict]}. Remove it, or narrow that one.`
  }
  return undefined
}

/** Equal for rules that say the same about the same; why they do does not count. */
export function fingerprintOf({ rule, tool }: CompiledRule): string {
  const { verdict, role, department, agent, effect, touching, args, except, release, approvers, deadline } = rule
  const named = "name" in tool ? tool.name : rule.tool
  const lists = [role, department, agent, effect, touching, except].map((list) => list && [...list].sort())
  return canonicalJson([verdict, named, lists, args, release, approvers, deadline])
}

const speaks = {
  allow: "allows everything it is about already",
  ask: "asks about everything it allows",
  deny: "denies everything it is about",
}

/** Whether nothing is left for the weaker rule to say where the stronger one speaks. */
function outranks(stronger: Rule, weaker: Rule): boolean {
  if (stronger.verdict === "deny") return true
  return weaker.verdict === "allow" && stronger.release === undefined
}

/** Whether the wider rule holds, whatever the input, wherever the narrower one can. */
function covers(wider: PlacedRule, narrower: PlacedRule): boolean {
  if (isConditional(wider)) return false
  // An allow also needs its touches proved; so does every other one.
  const [one, other] = [wider.rule, narrower.rule]
  const isWider = (all: readonly string[] | undefined, some: readonly string[] | undefined) =>
    all === undefined || (some !== undefined && some.every((name) => all.includes(name)))
  return (
    isWider(one.role, other.role) &&
    isWider(one.department, other.department) &&
    isWider(one.agent, other.agent) &&
    (wider.about === narrower.about || [...narrower.about].every((tool) => wider.about.has(tool)))
  )
}
