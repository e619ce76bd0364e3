import type { AgentView, Role } from "../model/organisation.ts"
import { readRule } from "../model/rule-schema.ts"
import type { Rule, RuleFlaw, Touches } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { compileRule, isAboutTool, type CompiledRule, type RuleTools } from "./conditions.ts"
import { deadSentences } from "./dead.ts"
import { exampleSentences } from "./examples.ts"
import { fingerprintOf, Shadows } from "./shadowed.ts"

/** What there is, so that a rule about something else can be told. */
export interface Known extends RuleTools {
  /** Every tool of every layer. */
  tools(): readonly RegisteredTool[]
  groups(): readonly string[]
  roles(): readonly Pick<Role, "id" | "name" | "madeBy">[]
  departments(): readonly string[]
  agents(): readonly string[]
  view(agentId: string): AgentView | undefined
  touches(tool: RegisteredTool, input: unknown): Touches
  /** What relative paths are counted from. */
  workspace: string
}

/** A rule that can be read, with the tools it is about. */
export interface PlacedRule extends CompiledRule {
  readonly about: ReadonlySet<RegisteredTool>
  /** Equal for rules that say the same about the same. */
  readonly fingerprint: string
}

/**
 * Everything that is wrong with the rules as a whole, in their order. Malformed rules do not count; the others do. What
 * comes with the house is never wrong: nobody could mend it.
 */
export function findFlaws(rules: readonly Rule[], given: Known): RuleFlaw[] {
  const known = readOnce(given)
  const placed = placeRules(rules, known)
  const shadows = new Shadows(placed.filter((rule) => rule !== undefined))
  return rules.flatMap((rule, order) => {
    const found = placed[order]
    if (rule.source === "built in") return []
    if (found === undefined) return malformed(rule)
    const shadowed = shadows.sentence(found)
    const say = (kind: RuleFlaw["kind"], sentences: readonly string[]) =>
      sentences.map((sentence) => ({ kind, source: rule.source, sentence }))
    return [
      ...say("dead", deadSentences(found, known)),
      ...say("shadowed", shadowed === undefined ? [] : [shadowed]),
      ...say("example", exampleSentences(found, known)),
    ]
  })
}

/** The same, with lists that are made once and not for each rule. */
function readOnce(known: Known): Known {
  const [tools, groups, roles] = [known.tools(), known.groups(), known.roles()]
  const [departments, agents] = [known.departments(), known.agents()]
  return {
    ...known,
    tools: () => tools,
    groups: () => groups,
    roles: () => roles,
    departments: () => departments,
    agents: () => agents,
  }
}

/** Rules about the same tools share one set of them. */
function placeRules(rules: readonly Rule[], known: Known): (PlacedRule | undefined)[] {
  const tools = known.tools()
  const byName = new Map<string, RegisteredTool[]>()
  for (const tool of tools) {
    if (byName.get(tool.name)?.push(tool) === undefined) byName.set(tool.name, [tool])
  }
  const numbers = new Map(tools.map((tool, index) => [tool, index]))
  const byPattern = new Map<string, Set<RegisteredTool>>()
  const byTools = new Map<string, Set<RegisteredTool>>()
  const place = (compiled: CompiledRule): Set<RegisteredTool> => {
    const { tool: pattern } = compiled
    const named = "name" in pattern ? (byName.get(pattern.name) ?? []) : tools
    const about = named.filter((tool) => isAboutTool(compiled, tool, known))
    const key = about.map((tool) => numbers.get(tool)).join()
    const same = byTools.get(key) ?? new Set(about)
    byTools.set(key, same)
    return same
  }
  return rules.map((rule, order) => {
    const compiled = compileRule(rule, order, known)
    if (compiled === undefined) return undefined
    const key = JSON.stringify([rule.tool, rule.effect, rule.verdict === "allow"])
    const about = byPattern.get(key) ?? place(compiled)
    byPattern.set(key, about)
    return { ...compiled, about, fingerprint: fingerprintOf(compiled) }
  })
}

function malformed({ id, source, verdict, tool, ...fields }: Rule): RuleFlaw[] {
  const read = readRule({ ...fields, [verdict]: tool }, id, source)
  return "flaws" in read ? read.flaws : []
}
