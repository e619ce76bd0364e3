import type { Explanation } from "../model/app.ts"
import type { AgentView, SessionMode } from "../model/organisation.ts"
import type { LevelOrder } from "../model/permission.ts"
import type { Facts, Policy, Verdict } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { Grant, Rule } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { decide } from "./decide.ts"
import { explain, type Asked } from "./explain.ts"
import { GrantIndex } from "./grants.ts"
import { compile, type RuleBook } from "./rules.ts"
import { sieve } from "./sieve.ts"
import type { Groups } from "./visible.ts"

export interface PolicySources {
  rules(): readonly Rule[]
  grants(): Iterable<Grant>
  modeOf(sessionId: string): SessionMode
  /** Another one whenever rules or grants may have changed. */
  version(): string | number
  tools: Groups & {
    /** The tool's own name for a name or an alias; what nobody knows stays as it is. */
    canonical(name: string): string
  }
  /** Another one whenever a name, an alias or a group may mean other tools. */
  toolsVersion(): string | number
  /** The hash of everything that decides. */
  policyVersion(): string
}

/** Rules, grants and modes as they are now. What was made ready is made again when something changed. */
export class PolicyBook implements Policy {
  readonly #sources: PolicySources
  #seen: { version: string | number; tools: string | number } | undefined
  #rules: readonly Rule[] = []
  #book: RuleBook
  #grants = new GrantIndex()

  constructor(sources: PolicySources) {
    this.#sources = sources
    this.#book = compile([], sources.tools)
  }

  get version(): string {
    return this.#sources.policyVersion()
  }

  hidden(tool: RegisteredTool, who: AgentView): Reason | undefined {
    this.#refresh()
    return this.#book.select(tool, who).hidden
  }

  decide(facts: Facts): Verdict {
    this.#refresh()
    return decide(facts, this.#book, this.#grants, this.#sources.modeOf(facts.sessionId))
  }

  sieve(facts: Pick<Facts, "who" | "tool" | "input" | "workspace">): ((path: string) => boolean) | undefined {
    this.#refresh()
    return sieve(facts, this.#book)
  }

  explain(asked: Asked, levelOrder: LevelOrder): Explanation {
    this.#refresh()
    return explain(asked, {
      book: this.#book,
      grants: this.#grants,
      mode: this.#sources.modeOf(asked.sessionId),
      groups: this.#sources.tools,
      levelOrder,
      version: this.version,
    })
  }

  #refresh(): void {
    const version = this.#sources.version()
    const tools = this.#sources.toolsVersion()
    const sameTools = this.#seen?.tools === tools
    if (sameTools && this.#seen?.version === version) return
    this.#seen = { version, tools }
    const rules = this.#sources.rules()
    if (!sameTools || !areSame(rules, this.#rules)) this.#book = compile(rules, this.#sources.tools)
    this.#rules = rules
    this.#grants = new GrantIndex(this.#sources.grants())
  }
}

function areSame(some: readonly Rule[], others: readonly Rule[]): boolean {
  return some.length === others.length && some.every((rule, index) => rule === others[index])
}
