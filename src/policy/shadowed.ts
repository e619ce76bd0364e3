import type { Rule } from "../model/rule.ts"
import { canonicalJson } from "../model/plain.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { isConditional, type CompiledRule } from "./conditions.ts"
import type { PlacedRule } from "./flaws.ts"

type About = PlacedRule["about"]

/**
 * Tells of rules that never decide anything, because another one always speaks for them. Only rules without conditions
 * can do that to others, and each rule is compared with those for its tools and people alone.
 */
export class Shadows {
  /** The first of the rules that say the same. */
  readonly #first = new Map<string, PlacedRule>()
  /** By the tools, then by one of the people, the rules that hold whatever the input is. */
  readonly #wide = new Map<About, Map<string, PlacedRule[]>>()
  readonly #wideOf = new Map<RegisteredTool, About[]>()
  readonly #wider = new Map<About, readonly About[]>()

  constructor(rules: readonly PlacedRule[]) {
    for (const rule of rules) {
      if (rule.rule.shadow === true || rule.about.size === 0) continue
      const first = this.#first.get(rule.fingerprint)
      if (first === undefined) this.#first.set(rule.fingerprint, rule)
      // What says the same as an earlier rule covers nothing that one does not.
      if (first === undefined && !isConditional(rule) && rule.rule.release === undefined) this.#file(rule)
    }
  }

  /** Why the rule never decides anything; undefined when it can. */
  sentence(placed: PlacedRule): string | undefined {
    if (placed.rule.shadow === true || placed.about.size === 0) return undefined
    const first = this.#first.get(placed.fingerprint)
    const same = first === placed ? undefined : first
    const wider = this.#coverOf(placed)
    if (same !== undefined && (wider === undefined || same.order <= wider.order)) {
      return `It says the same as the rule at ${same.rule.source}. Remove one of them.`
    }
    if (wider === undefined) return undefined
    return `It never decides: the rule at ${wider.rule.source} ${speaks[wider.rule.verdict]}. Remove it, or narrow that one.`
  }

  #file(rule: PlacedRule): void {
    let people = this.#wide.get(rule.about)
    if (people === undefined) {
      this.#wide.set(rule.about, (people = new Map()))
      for (const tool of rule.about) {
        if (this.#wideOf.get(tool)?.push(rule.about) === undefined) this.#wideOf.set(tool, [rule.about])
      }
    }
    for (const key of keysOf(rule.rule)) {
      if (people.get(key)?.push(rule) === undefined) people.set(key, [rule])
    }
  }

  /** The first rule that always speaks where this one could. */
  #coverOf(placed: PlacedRule): PlacedRule | undefined {
    let cover: PlacedRule | undefined
    for (const about of this.#widerThan(placed.about)) {
      const people = this.#wide.get(about)
      for (const key of lookupKeys(placed.rule)) {
        for (const other of people?.get(key) ?? []) {
          if (cover !== undefined && other.order > cover.order) break
          if (alwaysSpeaksFor(other, placed)) cover = other
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

/** A rule covers only what names some of the same people, so it is found by any one of theirs. */
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

/** Whether nothing is left for the weaker rule to say where the stronger one, found by its verdict, speaks. */
function alwaysSpeaksFor(stronger: PlacedRule, weaker: PlacedRule): boolean {
  if (stronger === weaker || !covers(stronger.rule, weaker.rule)) return false
  // Of two that cover each other and say the same, the later one is too much.
  const isEqual =
    stronger.rule.verdict === weaker.rule.verdict &&
    stronger.about === weaker.about &&
    !isConditional(weaker) &&
    covers(weaker.rule, stronger.rule)
  return !isEqual || stronger.order < weaker.order
}

/** Whether the wider rule is about everyone the narrower one is about. */
function covers(wider: Rule, narrower: Rule): boolean {
  const isWider = (all: readonly string[] | undefined, some: readonly string[] | undefined) =>
    all === undefined || (some !== undefined && some.every((name) => all.includes(name)))
  return (
    isWider(wider.role, narrower.role) &&
    isWider(wider.department, narrower.department) &&
    isWider(wider.agent, narrower.agent)
  )
}

function isWithin(some: About, all: About): boolean {
  if (some === all) return true
  if (some.size > all.size) return false
  for (const tool of some) if (!all.has(tool)) return false
  return true
}
