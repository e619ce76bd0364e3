import type { RegisteredTool } from "../core/tool.ts"
import type { AgentView } from "../core/organisation.ts"
import type { Reason } from "../core/reason.ts"
import type { Verdict, LimitVerdict } from "../core/verdict.ts"
import type { Touches } from "../core/touches.ts"
import type { Finding } from "../core/guard.ts"

/** Rules, grants and session modes, as they are now. */
export interface Policy {
  /** A hash of everything that decides calls, written into the audit log. */
  readonly version: string
  /** The deny rule that applies to every input of this agent for this tool, if there is one. Such a tool is hidden. */
  hiddenByRule(tool: RegisteredTool, who: AgentView): Reason | undefined
  /** The verdict on one call. It has no side effects. */
  decide(facts: DecisionInput): Verdict
  /** Whether a search by this call may show a file. Undefined when no rule is about files. */
  searchFilter(
    facts: Pick<DecisionInput, "who" | "tool" | "input" | "workspace">,
  ): ((path: string) => boolean) | undefined
}

/** Everything a decision depends on. */
export interface DecisionInput {
  who: AgentView
  tool: RegisteredTool
  input: unknown
  touches: Touches
  /** What the guards found about the touches. */
  findings?: readonly Finding[] | undefined
  limit: LimitVerdict
  sessionId: string
  taskId?: string | undefined
  workspace: string
  at: number
  /** For `qm why`: the part of a command line that a rule may name. See `Guards.commandStem`. */
  commandStem?: ((line: string) => string | undefined) | undefined
}
