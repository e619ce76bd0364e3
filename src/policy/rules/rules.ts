import type { AgentView } from "../../core/organisation.ts"
import type { Reason } from "../../core/reason.ts"
import type { Rule, RuleVerdict } from "../../core/rule.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import {
  compileRule,
  isAboutAgent,
  isAboutTool,
  isConditional,
  type CompiledRule,
  type RuleTools,
} from "./conditions.ts"
import { RuleList } from "./rule-list.ts"

/** The rules about one tool and one agent. Which of them match depends on the input. */
export interface Selection {
  readonly deny: RuleList
  readonly ask: RuleList
  /** Those of `ask` that are about the result only. */
  readonly release: RuleList
  readonly allow: RuleList
  readonly shadow: RuleList
  /** True when no rule is about the two. */
  readonly isEmpty: boolean
  /** The reason of the first rule that denies at this time, whatever the input. */
  hidden(at: number): Reason | undefined
  /** All of them, in the order they were written. */
  readonly rules: readonly CompiledRule[]
}

/** Every rule, compiled. */
export interface RuleSet {
  readonly tools: RuleTools
  select(tool: RegisteredTool, who: AgentView): Selection
}

/** Compiles rules and leaves out those that cannot be read. What `tools` answers must not change while the result is used. */
export function compileRules(rules: readonly Rule[], tools: RuleTools): RuleSet {
  return new CompiledRules(
    rules.flatMap((rule, order) => compileRule(rule, order, tools) ?? []),
    tools,
  )
}

/** Limits of cached pairs of tool and agent, and of cached rules over all selections. */
const mostPairs = 50_000
const mostRules = 500_000

/** Selections are cached by the objects of agent and tool; whatever changes one makes a new object. */
class CompiledRules implements RuleSet {
  readonly tools: RuleTools
  readonly #byName = new Map<string, CompiledRule[]>()
  readonly #others: CompiledRule[] = []
  #pairs = new WeakMap<AgentView, Map<RegisteredTool, Selection>>()
  #pairCount = 0
  readonly #selections = new Map<string, Selection>()
  #ruleCount = 0

  constructor(rules: readonly CompiledRule[], tools: RuleTools) {
    this.tools = tools
    for (const rule of rules) {
      if (!("name" in rule.tool)) this.#others.push(rule)
      else if (this.#byName.get(rule.tool.name)?.push(rule) === undefined) this.#byName.set(rule.tool.name, [rule])
    }
  }

  select(tool: RegisteredTool, who: AgentView): Selection {
    if (this.#byName.size === 0 && this.#others.length === 0) return noRules
    const cached = this.#pairs.get(who)?.get(tool)
    if (cached !== undefined) return cached
    const selection = this.#selectionFor(tool, who)
    if (++this.#pairCount > mostPairs || this.#ruleCount > mostRules) this.#clearCache()
    let known = this.#pairs.get(who)
    if (known === undefined) this.#pairs.set(who, (known = new Map()))
    known.set(tool, selection)
    return selection
  }

  #clearCache(): void {
    this.#pairs = new WeakMap()
    this.#selections.clear()
    this.#pairCount = 0
    this.#ruleCount = 0
  }

  #selectionFor(tool: RegisteredTool, who: AgentView): Selection {
    const isAbout = (rule: CompiledRule) => isAboutAgent(rule, who) && isAboutTool(rule, tool, this.tools)
    const named = (this.#byName.get(tool.name) ?? []).filter(isAbout)
    const rules = [...named, ...this.#others.filter(isAbout)].sort((one, other) => one.order - other.order)
    return rules.length === 0 ? noRules : this.#share(rules)
  }

  /** Agents and tools that have the same rules share one selection. */
  #share(rules: readonly CompiledRule[]): Selection {
    const key = rules.map(({ order }) => order).join()
    const known = this.#selections.get(key)
    if (known !== undefined) return known
    const selection = selectionOf(rules)
    this.#selections.set(key, selection)
    this.#ruleCount += rules.length
    return selection
  }
}

function selectionOf(rules: readonly CompiledRule[]): Selection {
  const withVerdict = (verdict: RuleVerdict) =>
    new RuleList(rules.filter(({ rule }) => rule.shadow !== true && rule.verdict === verdict))
  const hiding = rules.filter((one) => one.rule.verdict === "deny" && one.rule.shadow !== true && !isConditional(one))
  return {
    deny: withVerdict("deny"),
    ask: withVerdict("ask"),
    release: new RuleList(
      rules.filter(({ rule }) => rule.shadow !== true && rule.verdict === "ask" && rule.release !== undefined),
    ),
    allow: withVerdict("allow"),
    shadow: new RuleList(rules.filter(({ rule }) => rule.shadow === true)),
    isEmpty: rules.length === 0,
    hidden: (at) => hiding.find(({ expiresAt }) => expiresAt > at)?.reason,
    rules,
  }
}

const noRules = selectionOf([])
