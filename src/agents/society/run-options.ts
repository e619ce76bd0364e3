import type { AgentTools } from "../../registry/agent-tools.ts"
import type { Conversation } from "../../core/conversation.ts"
import type { DialectNames } from "../../core/dialect-text.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import { isSocietyConversation } from "../../core/society-conversation.ts"
import type { ToolChainOptions } from "../chain/chain-options.ts"
import { afterFreeze } from "./after-freeze.ts"
import { instructionsFor } from "./instructions.ts"

/** The parts that the options of a run are made of. */
export interface RunOptionParts {
  org: Pick<OrganisationAdmin, "view">
  mcpTools: AgentTools["mcpTools"]
  dialectNames(dialect: string): DialectNames | undefined
  /** The limits of one run. */
  limits: { maxRounds: number; maxCalls: number }
}

/**
 * Returns the options of a resumed conversation of the society, whoever resumes it: the instructions, task and limits
 * of its agent. Undefined for any other conversation, and for one whose agent has ended.
 */
export function societyOptions(
  { org, mcpTools, dialectNames, limits }: RunOptionParts,
  { id, agentId, settings }: Pick<Conversation, "id" | "agentId" | "settings">,
): ToolChainOptions | undefined {
  const view = isSocietyConversation(id) ? org.view(agentId) : undefined
  if (view === undefined) return undefined
  const taskId = view.agent.taskId ?? (settings as { taskId?: string }).taskId
  const offered = new Set(mcpTools(agentId).map(({ name }) => name))
  const names = view.role.dialect === undefined ? undefined : dialectNames(view.role.dialect)
  return { taskId, instructions: instructionsFor({ view, taskId, offered, names }), reflect: afterFreeze, ...limits }
}
