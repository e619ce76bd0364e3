import { dailySession } from "../../core/call.ts"
import type { AgentView } from "../../core/organisation.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { ToolVerdict } from "../rule-admin.ts"
import type { DecisionPorts } from "./ports.ts"
import { hiddenBecause } from "./visible.ts"

/**
 * Returns the verdict on each tool for an agent whatever the input: whether it is listed, and else what its level,
 * the mode, remembered answers and rules about every input decide. Guards and rules on the input may still ask or deny.
 */
export function toolsFor(
  who: AgentView,
  tools: readonly RegisteredTool[],
  { policy, tools: registry, settings: { levelOrder, workspace }, now }: DecisionPorts,
): ToolVerdict[] {
  const names = [...new Set(tools.filter(({ exposedAs = "tool" }) => exposedAs === "tool").map(({ name }) => name))]
  const at = now()
  const sessionId = dailySession(who.agent.id, at)
  return names.flatMap((name): ToolVerdict[] => {
    const tool = registry.resolve(name, who)
    if (tool === undefined) return []
    const hidden = hiddenBecause(tool, who, registry, levelOrder, policy)
    if (hidden !== undefined) return [{ tool, does: "denied", reason: hidden }]
    const touches = { list: [], proved: true }
    const facts = { who, tool, input: {}, touches, limit: { ok: true as const }, sessionId, workspace, at }
    const { verdict, reasons } = policy.decide(facts)
    const does = verdict === "allow" ? "runs" : verdict === "ask" ? "asks" : "denied"
    return [{ tool, does, reason: reasons.find(({ shadow }) => shadow === undefined) }]
  })
}
