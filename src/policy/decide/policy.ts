import type { RegisteredTool } from "../../core/tool.ts"
import type { AgentView } from "../../core/organisation.ts"
import type { Reason } from "../../core/reason.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { Verdict } from "../../core/verdict.ts"

/** Rules, grants and session modes, as they are now. */
export interface Policy {
  /** A hash of everything that decides calls, written into the audit log. */
  readonly version: string
  /** The deny rule that applies to every input of this agent for this tool, if there is one. Such a tool is hidden. */
  hiddenByRule(tool: RegisteredTool, who: AgentView): Reason | undefined
  /** The verdict on one call. It has no side effects. */
  decide(facts: DecisionInput): Verdict
  /** Reports whether a search by this call may show a file. Undefined when no rule is about files. */
  searchFilter(
    facts: Pick<DecisionInput, "who" | "tool" | "input" | "workspace">,
  ): ((path: string) => boolean) | undefined
}
