import type { Reason } from "../../core/reason.ts"
import type { AgentView } from "../../core/organisation.ts"
import type { LevelOrder } from "../../core/permission.ts"
import type { Policy } from "./policy.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { resultsOf, type Result, type ToolLookup, type VisibleFacts } from "../check.ts"
import { agentCheck } from "../checks/agent.ts"
import { checksOf } from "../checks/list.ts"

const visibleChecks = checksOf("visible")

/**
 * Why a tool is hidden from an agent, or undefined when it is visible. Only the agent and the tool count, never the
 * input. A tool is listed exactly when this returns undefined, and a tool that is not listed cannot be called.
 */
export function hiddenBecause(
  tool: RegisteredTool,
  who: AgentView | undefined,
  tools: ToolLookup,
  levelOrder: LevelOrder,
  policy?: Pick<Policy, "hiddenByRule">,
): Reason | undefined {
  return firstDenial(tool, who, { tools, levelOrder, policy })?.reason
}

/** The facts that the visible checks read besides agent and tool. */
export interface VisibleContext {
  tools: ToolLookup
  levelOrder: LevelOrder
  policy?: Pick<Policy, "hiddenByRule">
}

/** The same with the code the call ends with. */
export function firstDenial(
  tool: RegisteredTool,
  who: AgentView | undefined,
  context: VisibleContext,
): Result | undefined {
  if (who === undefined) return unknownAgent()
  return deniedBy(visibleFacts(tool, who, context))
}

export function unknownAgent(agentId?: string): Result {
  return resultsOf(agentCheck, { ...(agentId === undefined ? {} : { agentId }), who: undefined })[0]!
}

/** `above` are the tools that are being checked already because they need this one. */
export function visibleFacts(
  tool: RegisteredTool,
  who: AgentView,
  context: VisibleContext,
  above: readonly string[] = [],
): VisibleFacts {
  const { tools, levelOrder, policy } = context
  return {
    who,
    tool,
    tools,
    levelOrder,
    hidingRule: () => policy?.hiddenByRule(tool, who),
    hides(needed) {
      const checking = [...above, tool.name]
      // By other names tools may need each other in a circle; a tool that is being checked already needs no second answer.
      if (checking.includes(needed.name)) return undefined
      return deniedBy(visibleFacts(needed, who, context, checking))
    },
  }
}

function deniedBy(facts: VisibleFacts): Result | undefined {
  for (const check of visibleChecks) {
    const [denial] = resultsOf(check, facts)
    if (denial !== undefined) return denial
  }
  return undefined
}
