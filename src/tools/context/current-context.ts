import { failure } from "../../core/ending.ts"
import type { ConversationContext, ConversationContexts } from "./context.ts"
import type { ToolContext } from "../../core/tool.ts"

/** The conversation that a call belongs to. Fails for calls that come from elsewhere, for example an MCP client. */
export function currentContext(contexts: ConversationContexts, { sessionId, agent }: ToolContext): ConversationContext {
  const found = contexts.get(sessionId)
  if (found !== undefined && found.agentId === agent.id) return found
  throw failure(
    "This tool works only in a conversation that Quartermaster runs (qm chat, qm run, app.chain). Manage the context in your own program.",
    { toolCode: "no_conversation" },
  )
}
