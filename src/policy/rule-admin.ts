import type { Rule, RuleFlaw, RuleVerdict } from "../core/rule.ts"
import type { AuditFilter } from "../store/port.ts"
import type { AgentView } from "../core/organisation.ts"
import type { Reason } from "../core/reason.ts"
import type { RegisteredTool } from "../core/tool.ts"
import type { Verdict } from "../core/verdict.ts"
import type { StoredRuleFacts } from "./rules/rules-api.ts"

/** The rules in force, from the configuration and from the store. */
export interface RuleAdmin {
  list(): readonly Rule[]
  /** Returns the flaws of the rules. */
  flaws(): readonly RuleFlaw[]
  /** Loads what the examples of rules need. `createQuartermaster` does it. */
  ready(): Promise<void>
  /** Adds a rule to the store. Rejects with sentences when the rule has flaws. */
  add(rule: unknown, by: string): Promise<Rule>
  remove(id: string, by: string): Promise<Rule | undefined>
  /** Writes a rule of the store anew. Undefined when it is not stored, or changed after `revision`. */
  replace(id: string, rule: unknown, by: string, revision: string): Promise<Rule | undefined>
  /** Returns the author, the time and the text of a rule of the store. Undefined for any other rule. */
  stored(id: string): StoredRuleFacts | undefined
  /** The names of the tools that a rule is about. */
  toolsOf(rule: Rule): readonly string[]
  /** A rule that is not stored: what is wrong with it, and what it changes for these calls. Stores nothing. */
  tryDraft(
    draft: RuleDraft,
    calls: readonly DraftCall[],
    limits?: Pick<SimulationLimits, "mostSteps">,
  ): Promise<TriedDraft>
  /** Returns the verdict on each tool for an agent, whatever the input. The agent's list of tools comes from it. */
  toolsFor(who: AgentView): readonly ToolVerdict[]
  /**
   * Returns the recorded calls that would be decided differently with these rules in place of the configured ones, or
   * with drafts beside those in force.
   */
  simulate(rules: readonly unknown[] | RuleDrafts, filter: AuditFilter, limits?: SimulationLimits): Promise<Simulation>
  /** Rules for calls that people approved at least five times and never refused, from the audit log. Adds none. */
  suggest(filter: AuditFilter): Promise<RuleSuggestions>
  /** A hash of everything that decides calls. It changes with every rule, grant or setting. */
  version(): string
}

export interface RuleDraft {
  rule: unknown
  /** The id of the stored rule that it would be written over. */
  replaces?: string | undefined
}

export interface DraftCall {
  agentId: string
  tool: string
  input?: unknown
}

/** The rules of a simulation: those in force, without some of the store, and others beside them. */
export interface RuleDrafts {
  /** In place of those of the configuration. */
  rules?: readonly unknown[] | undefined
  add?: readonly unknown[] | undefined
  without?: readonly string[] | undefined
}

export interface TriedDraft {
  /** Undefined when it cannot be read. */
  rule?: Rule | undefined
  flaws: readonly RuleFlaw[]
  tools: readonly string[]
  calls: readonly { agentId: string; tool: string; before: DraftOutcome; after: DraftOutcome }[]
}

export type DraftOutcome = Pick<Verdict, "verdict" | "reasons">

export interface ToolVerdict {
  tool: RegisteredTool
  /** `denied`: it is not in the agent's list. */
  does: "runs" | "asks" | "denied"
  reason?: Reason | undefined
}

export interface RuleSuggestions {
  /** The number of answered calls that were read. */
  approved: number
  refused: number
  suggestions: readonly RuleSuggestion[]
}

export interface RuleSuggestion {
  /** The rule as it can be added. */
  rule: { allow: string; agent: string; touching: readonly string[]; because: string }
  /** The number of approved calls it would have covered, who approved them, and when they ended. */
  approvals: number
  people: readonly string[]
  first: number
  last: number
  /** Some of their inputs, as the audit log has them. */
  examples: readonly string[]
  /** The number of refused calls of this agent and tool. The rule covers none of them. */
  refusedCompared: number
}

/** Beyond them a simulation ends with an error. */
export interface SimulationLimits {
  signal?: AbortSignal
  /** Time limit in milliseconds. */
  mostMs?: number
  /** Limit of steps of matching patterns in one go; a second has about 100 million. */
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
    before: RuleVerdict
    after: RuleVerdict
    reasons: readonly Reason[]
    /** The recorded input, and how the call ended. */
    input: string
    code: string
  }[]
}
