import type { AgentView, Role } from "../../core/organisation.ts"
import { readRule } from "../../schema/rule-schema.ts"
import type { Rule, RuleFlaw } from "../../core/rule.ts"
import type { Touches } from "../../core/touches.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { compileRule, isAboutTool, type CompiledRule, type RuleTools } from "./conditions.ts"
import { deadSentences } from "./dead-rules.ts"
import { doubtfulSentences } from "./doubtful-rules.ts"
import { exampleSentences } from "./rule-examples.ts"
import { fingerprintOf, CoveredRules } from "./covered-rules.ts"

/** Everything a rule may name, so that a rule about something that does not exist is found. */
export interface RuleContext extends RuleTools {
  /** Every tool of every layer. */
  tools(): readonly RegisteredTool[]
  groups(): readonly string[]
  roles(): readonly Pick<Role, "id" | "name" | "madeBy">[]
  departments(): readonly string[]
  agents(): readonly string[]
  view(agentId: string): AgentView | undefined
  touches(tool: RegisteredTool, input: unknown): Touches
  /** The folder that relative paths start from. */
  workspace: string
}

/** A rule that can be read, with the tools it is about. */
export interface RuleWithTools extends CompiledRule {
  readonly tools: ReadonlySet<RegisteredTool>
  /** Equal for rules that say the same about the same. */
  readonly fingerprint: string
}

/**
 * Everything that is wrong with the rules, in their order. Malformed rules are not applied; the others are. Built-in rules
 * are not reported, because a user cannot change them, nor those of `trustReadOnly`, whose server may not be connected.
 */
export function findFlaws(rules: readonly Rule[], given: RuleContext): RuleFlaw[] {
  const known = readOnce(given)
  const placed = placeRules(rules, known)
  const covered = new CoveredRules(placed.filter((rule) => rule !== undefined))
  return rules.flatMap((rule, order) => {
    const found = placed[order]
    if (rule.source === "built in" || rule.readOnlyHint === true) return []
    if (found === undefined) return malformed(rule)
    const coveredBy = covered.sentence(found)
    const flawsOf = (kind: RuleFlaw["kind"], sentences: readonly string[]) =>
      sentences.map((sentence) => ({ kind, source: rule.source, sentence }))
    return [
      ...flawsOf("dead", deadSentences(found, known)),
      ...flawsOf("shadowed", coveredBy === undefined ? [] : [coveredBy]),
      ...flawsOf("doubtful", doubtfulSentences(found)),
      ...flawsOf("example", exampleSentences(found, known)),
    ]
  })
}

/** The same context with lists that are made once, not for each rule. */
function readOnce(known: RuleContext): RuleContext {
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
function placeRules(rules: readonly Rule[], known: RuleContext): (RuleWithTools | undefined)[] {
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
    return { ...compiled, tools: about, fingerprint: fingerprintOf(compiled) }
  })
}

function malformed({ id, source, verdict, tool, ...fields }: Rule): RuleFlaw[] {
  const read = readRule({ ...fields, [verdict]: tool }, id, source)
  return "flaws" in read ? read.flaws : []
}
