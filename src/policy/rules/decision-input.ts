import type { AgentView } from "../../core/organisation.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { Touches } from "../../core/touches.ts"
import type { Finding } from "../../core/guard.ts"
import type { LimitVerdict } from "../../core/verdict.ts"

/** Everything a decision depends on. */
export interface DecisionInput {
  who: AgentView
  tool: RegisteredTool
  input: unknown
  touches: Touches
  /** The findings of the guards about the touches. */
  findings?: readonly Finding[]
  limit: LimitVerdict
  sessionId: string
  taskId?: string
  workspace: string
  at: number
  /** For `qm why`: the part of a command line that a rule may name. See `Guards.commandStem`. */
  commandStem?: (line: string) => string | undefined
}
