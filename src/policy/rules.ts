import type { AgentView } from "../model/organisation.ts"
import type { Reason } from "../model/record.ts"
import type { Rule, RuleVerdict } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import {
  compileRule,
  isAboutAgent,
  isAboutTool,
  isConditional,
  type CompiledRule,
  type RuleTools,
} from "./conditions.ts"
import { RuleList } from "./rule-list.ts"

/** The rules about one tool and one agent. What is left to look at is the input. */
export interface Selection {
  readonly deny: RuleList
  readonly ask: RuleList
  readonly allow: RuleList
  readonly shadow: RuleList
  /** No rule says anything about the two. */
  readonly isSilent: boolean
  /** The first rule that denies whatever the input is. */
  readonly hidden: Reason | undefined
  /** All of them, in the order they were written. */
  readonly rules: readonly CompiledRule[]
}

/** Every rule that counts, ready to be asked. */
export interface RuleBook {
  readonly tools: RuleTools
  select(tool: RegisteredTool, who: AgentView): Selection
}

/** Rules that cannot be read are left out. The answers of `tools` must stay the same as long as the book is used. */
export function compile(rules: readonly Rule[], tools: RuleTools): RuleBook {
  return new Book(
    rules.flatMap((rule, order) => compileRule(rule, order, tools) ?? []),
    tools,
  )
}

/** How many pairs of tool and agent, and how many rules over all selections, are remembered. */
const mostPairs = 50_000
const mostRules = 500_000

/** Selections are remembered by what an agent and a tool are at the moment: a changed one is another object. */
class Book implements RuleBook {
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
    if (this.#byName.size === 0 && this.#others.length === 0) return silent
    const remembered = this.#pairs.get(who)?.get(tool)
    if (remembered !== undefined) return remembered
    const selection = this.#look(tool, who)
    if (++this.#pairCount > mostPairs || this.#ruleCount > mostRules) this.#forget()
    let known = this.#pairs.get(who)
    if (known === undefined) this.#pairs.set(who, (known = new Map()))
    known.set(tool, selection)
    return selection
  }

  #forget(): void {
    this.#pairs = new WeakMap()
    this.#selections.clear()
    this.#pairCount = 0
    this.#ruleCount = 0
  }

  #look(tool: RegisteredTool, who: AgentView): Selection {
    const isAbout = (rule: CompiledRule) => isAboutAgent(rule, who) && isAboutTool(rule, tool, this.tools)
    const named = (this.#byName.get(tool.name) ?? []).filter(isAbout)
    const rules = [...named, ...this.#others.filter(isAbout)].sort((one, other) => one.order - other.order)
    return rules.length === 0 ? silent : this.#share(rules)
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
  const saying = (verdict: RuleVerdict) =>
    new RuleList(rules.filter(({ rule }) => rule.shadow !== true && rule.verdict === verdict))
  const always = rules.find((one) => one.rule.verdict === "deny" && one.rule.shadow !== true && !isConditional(one))
  return {
    deny: saying("deny"),
    ask: saying("ask"),
    allow: saying("allow"),
    shadow: new RuleList(rules.filter(({ rule }) => rule.shadow === true)),
    isSilent: rules.length === 0,
    hidden: always?.reason,
    rules,
  }
}

const silent = selectionOf([])
