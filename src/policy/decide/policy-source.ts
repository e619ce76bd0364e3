import type { Explanation } from "../explanation.ts"
import type { AgentView, SessionMode } from "../../core/organisation.ts"
import type { LevelOrder } from "../../core/permission.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { Policy } from "./policy.ts"
import type { Verdict } from "../../core/verdict.ts"
import type { Reason } from "../../core/reason.ts"
import { isExpired, type Grant, type Rule } from "../../core/rule.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { decide } from "./decide.ts"
import { explain, type Asked } from "./explain.ts"
import { GrantIndex } from "../grants.ts"
import { compileRules, type RuleSet } from "../rules/rules.ts"
import { searchFilter } from "./search-filter.ts"
import type { ToolLookup } from "../check.ts"

export interface PolicyInputs {
  rules(): readonly Rule[]
  grants(): Iterable<Grant>
  modeOf(who: AgentView, sessionId: string): SessionMode
  /** Changes whenever rules or grants may have changed. */
  version(): string | number
  tools: ToolLookup & {
    /** The tool's own name for a name or an alias; an unknown name is returned unchanged. */
    canonical(name: string): string
  }
  /** Changes whenever a name, an alias or a group may mean other tools. */
  toolsVersion(): string | number
  /** The hash of everything that decides; `expired` is how many rules have expired. */
  policyVersion(expired: number): string
  now(): number
}

/** The policy with the current rules, grants and modes. Rules are compiled again only when something has changed. */
export class PolicySource implements Policy {
  readonly #inputs: PolicyInputs
  #versions: { version: string | number; tools: string | number } | undefined
  #rules: readonly Rule[] = []
  #expiring: readonly Rule[] = []
  #ruleSet: RuleSet
  #grants = new GrantIndex()

  constructor(inputs: PolicyInputs) {
    this.#inputs = inputs
    this.#ruleSet = compileRules([], inputs.tools)
  }

  get version(): string {
    this.#refresh()
    const at = this.#inputs.now()
    return this.#inputs.policyVersion(this.#expiring.filter((rule) => isExpired(rule, at)).length)
  }

  hiddenByRule(tool: RegisteredTool, who: AgentView): Reason | undefined {
    this.#refresh()
    return this.#ruleSet.select(tool, who).hidden(this.#inputs.now())
  }

  decide(facts: DecisionInput): Verdict {
    this.#refresh()
    return decide(facts, this.#ruleSet, this.#grants, this.#inputs.modeOf(facts.who, facts.sessionId))
  }

  searchFilter(
    facts: Pick<DecisionInput, "who" | "tool" | "input" | "workspace">,
  ): ((path: string) => boolean) | undefined {
    this.#refresh()
    return searchFilter({ ...facts, at: this.#inputs.now() }, this.#ruleSet)
  }

  explain(asked: Asked, levelOrder: LevelOrder): Explanation {
    this.#refresh()
    return explain(asked, {
      ruleSet: this.#ruleSet,
      grants: this.#grants,
      mode: asked.who === undefined ? "ask" : this.#inputs.modeOf(asked.who, asked.sessionId),
      tools: this.#inputs.tools,
      levelOrder,
      version: this.version,
    })
  }

  #refresh(): void {
    const version = this.#inputs.version()
    const tools = this.#inputs.toolsVersion()
    const sameTools = this.#versions?.tools === tools
    if (sameTools && this.#versions?.version === version) return
    this.#versions = { version, tools }
    const rules = this.#inputs.rules()
    if (!sameTools || !areSame(rules, this.#rules)) this.#ruleSet = compileRules(rules, this.#inputs.tools)
    this.#rules = rules
    this.#expiring = rules.filter(({ expiresAt }) => expiresAt !== undefined)
    this.#grants = new GrantIndex(this.#inputs.grants())
  }
}

function areSame(some: readonly Rule[], others: readonly Rule[]): boolean {
  return some.length === others.length && some.every((rule, index) => rule === others[index])
}
