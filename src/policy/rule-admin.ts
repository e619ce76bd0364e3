import type { Rule, RuleFlaw } from "../core/rule.ts"
import type { AuditFilter } from "../store/port.ts"
import type { Reason } from "../core/reason.ts"

/** The rules in force, from the configuration and from the store. */
export interface RuleAdmin {
  list(): readonly Rule[]
  /** What is wrong with them. */
  flaws(): readonly RuleFlaw[]
  /** Loads what the examples of rules need. `createQuartermaster` does it. */
  ready(): Promise<void>
  /** Adds a rule to the store. Rejects with sentences when the rule has flaws. */
  add(rule: unknown, by: string): Promise<Rule>
  remove(id: string, by: string): Promise<Rule | undefined>
  /** Which recorded calls would have been decided differently with these rules in place of the configured ones. */
  simulate(rules: readonly unknown[], filter: AuditFilter, limits?: SimulationLimits): Promise<Simulation>
  /** Rules for calls that people approved at least five times and never refused, from the audit log. Adds none. */
  suggest(filter: AuditFilter): Promise<RuleSuggestions>
  /** A hash of everything that decides calls. It changes with every rule, grant or setting. */
  version(): string
}

export interface RuleSuggestions {
  /** How many answered calls were read. */
  approved: number
  refused: number
  suggestions: readonly RuleSuggestion[]
}

export interface RuleSuggestion {
  /** The rule as it can be added. */
  rule: { allow: string; agent: string; touching: readonly string[]; because: string }
  /** How many approved calls it would have covered, who approved them, and when they ended. */
  approvals: number
  people: readonly string[]
  first: number
  last: number
  /** Some of their inputs, as the audit log has them. */
  examples: readonly string[]
  /** How many refused calls of this agent and tool there are. The rule covers none of them. */
  refusedCompared: number
}

/** Beyond them a simulation ends with an error. */
export interface SimulationLimits {
  signal?: AbortSignal
  /** How long it may take, in milliseconds. */
  mostMs?: number
  /** How many steps of matching patterns may be taken in one go; a second has about 100 million. */
  mostSteps?: number
}

export interface Simulation {
  looked: number
  flaws: readonly RuleFlaw[]
  /** Calls whose input is masked or cut in the audit log, so that rules on arguments may decide them differently. */
  uncertain: number
  changed: readonly {
    callId: string
    at: number
    agentId: string
    tool: string
    before: string
    after: string
    reasons: readonly Reason[]
  }[]
}
