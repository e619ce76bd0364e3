import type { OfferedRule } from "../../core/approval.ts"
import type { CallRow } from "../../core/call.ts"
import type { DecisionPorts } from "../../policy/decide/ports.ts"
import type { Verdict } from "../../core/verdict.ts"
import type { Touches } from "../../core/touches.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { patternsFor } from "../../schema/rule-for-touches.ts"
import { onlyLevelAsks } from "../../policy/only-level-asks.ts"

/** The touches of a rule for calls like this one. Undefined where a yes can be remembered, or a rule would not count. */
export function ruleTouching(
  tool: RegisteredTool,
  verdict: Verdict,
  touches: Touches,
  { guards, settings }: Pick<DecisionPorts, "guards" | "settings">,
): readonly string[] | undefined {
  if (tool.permission.level !== "sensitive" || !onlyLevelAsks(tool, verdict, touches)) return undefined
  return patternsFor(touches, settings.workspace, (line) => guards.commandStem(line))
}

/** The rule that the card of a stored call offers. */
export function offeredRule({ agentId, tool, card, state }: CallRow): OfferedRule | undefined {
  const { ruleTouching: touching } = card
  if (touching === undefined || state !== "waiting") return undefined
  const words = `Agent ${agentId} may call ${tool} where it touches nothing but: ${touching.join(", ")}.`
  return { allow: tool, agent: agentId, touching, words }
}
