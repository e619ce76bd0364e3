import type { Rule } from "../../core/rule.ts"
import { canonicalJson } from "../../lib/canonical-json.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { isConditional, type CompiledRule } from "./conditions.ts"
import type { RuleWithTools } from "./flaws.ts"

type About = RuleWithTools["tools"]

/**
 * Finds rules that never decide anything, because another rule always decides first. Only rules without conditions can
 * cover others, and each rule is compared only with those about its tools and agents.
 */
export class CoveredRules {
  /** The first of the rules that say the same. */
  readonly #first = new Map<string, RuleWithTools>()
  /** The rules that match any input, by their tools and then by one of the agents, roles or departments they name. */
  readonly #wide = new Map<About, Map<string, RuleWithTools[]>>()
  readonly #wideOf = new Map<RegisteredTool, About[]>()
  readonly #wider = new Map<About, readonly About[]>()

  constructor(rules: readonly RuleWithTools[]) {
    for (const rule of rules) {
      if (rule.rule.shadow === true || rule.tools.size === 0) continue
      const first = this.#first.get(rule.fingerprint)
      if (first === undefined) this.#first.set(rule.fingerprint, rule)
      // A rule that repeats an earlier one covers nothing more.
      if (first === undefined && !isConditional(rule) && rule.rule.release === undefined) this.#add(rule)
    }
  }

  /** Why the rule never decides anything; undefined when it can. */
  sentence(placed: RuleWithTools): string | undefined {
    if (placed.rule.shadow === true || placed.tools.size === 0) return undefined
    const first = this.#first.get(placed.fingerprint)
    const same = first === placed ? undefined : first
    const wider = this.#coverOf(placed)
    if (same !== undefined && (wider === undefined || same.order <= wider.order)) {
      return `It says the same as the rule at ${same.rule.source}. Remove one of them.`
    }
    if (wider === undefined) return undefined
    return `It never decides: the rule at ${wider.rule.source} ${covering[wider.rule.verdict]}. Remove it, or narrow that one.`
  }

  #add(rule: RuleWithTools): void {
    let people = this.#wide.get(rule.tools)
    if (people === undefined) {
      this.#wide.set(rule.tools, (people = new Map()))
      for (const tool of rule.tools) {
        if (this.#wideOf.get(tool)?.push(rule.tools) === undefined) this.#wideOf.set(tool, [rule.tools])
      }
    }
    for (const key of keysOf(rule.rule)) {
      if (people.get(key)?.push(rule) === undefined) people.set(key, [rule])
    }
  }

  /** The first rule that always decides where this one could. */
  #coverOf(placed: RuleWithTools): RuleWithTools | undefined {
    let cover: RuleWithTools | undefined
    for (const about of this.#widerThan(placed.tools)) {
      const people = this.#wide.get(about)
      for (const key of lookupKeys(placed.rule)) {
        for (const other of people?.get(key) ?? []) {
          if (cover !== undefined && other.order > cover.order) break
          if (alwaysCovers(other, placed)) cover = other
        }
      }
    }
    return cover
  }

  #widerThan(about: About): readonly About[] {
    let wider = this.#wider.get(about)
    if (wider === undefined) {
      const [tool] = about
      wider = (tool && this.#wideOf.get(tool)?.filter((other) => isWithin(about, other))) ?? []
      this.#wider.set(about, wider)
    }
    return wider
  }
}

/** Equal for rules that say the same about the same; why they do does not count. */
export function fingerprintOf({ rule, tool }: CompiledRule): string {
  const { verdict, role, department, agent, effect, touching, args, except, release, approvers, deadline, expiresAt } =
    rule
  const named = "name" in tool ? tool.name : rule.tool
  const lists = [role, department, agent, effect, touching, except].map((list) => list && [...list].sort())
  return canonicalJson([verdict, named, lists, args, release, approvers, deadline, expiresAt])
}

const covering = {
  allow: "allows everything it is about already",
  ask: "asks about everything it allows",
  deny: "denies everything it is about",
}

/**
 * A rule covers only rules that name some of the same agents, roles or departments, so it is found by any one of them.
 */
function keysOf({ verdict, agent, role, department }: Rule): string[] {
  const [field, names] = agent ? ["agent", agent] : role ? ["role", role] : ["department", department ?? [""]]
  return [...new Set(names)].map((name) => `${verdict} ${field} ${name}`)
}

function lookupKeys({ verdict, agent, role, department }: Rule): string[] {
  const stronger = verdict === "allow" ? (["deny", "ask", "allow"] as const) : (["deny"] as const)
  const people = [
    "department ",
    ...["agent", "role", "department"].map((field, at) => `${field} ${[agent, role, department][at]?.[0]}`),
  ]
  return stronger.flatMap((one) => people.map((key) => `${one} ${key}`))
}

/** Reports whether the weaker rule can never decide anything beside the stronger one. */
function alwaysCovers(stronger: RuleWithTools, weaker: RuleWithTools): boolean {
  if (stronger === weaker || !covers(stronger.rule, weaker.rule)) return false
  // Of two rules that cover each other and say the same, the later one is superfluous.
  const isEqual =
    stronger.rule.verdict === weaker.rule.verdict &&
    stronger.tools === weaker.tools &&
    !isConditional(weaker) &&
    covers(weaker.rule, stronger.rule)
  return !isEqual || stronger.order < weaker.order
}

/** Reports whether the wider rule is about everyone the narrower one is about, for as long. */
function covers(wider: Rule, narrower: Rule): boolean {
  const isWider = (all: readonly string[] | undefined, some: readonly string[] | undefined) =>
    all === undefined || (some !== undefined && some.every((name) => all.includes(name)))
  return (
    isWider(wider.role, narrower.role) &&
    isWider(wider.department, narrower.department) &&
    isWider(wider.agent, narrower.agent) &&
    endOf(wider) >= endOf(narrower)
  )
}

function endOf({ expiresAt }: Rule): number {
  return expiresAt === undefined ? Infinity : Date.parse(expiresAt)
}

function isWithin(some: About, all: About): boolean {
  if (some === all) return true
  if (some.size > all.size) return false
  for (const tool of some) if (!all.has(tool)) return false
  return true
}
