import type { ConversationContexts } from "./context.ts"
import type { Tool } from "../../core/tool.ts"
import { compressContext } from "./compress-context.ts"
import { getContextStatus } from "./get-context-status.ts"

export const contextTools = (contexts: ConversationContexts): Tool[] => [
  compressContext(contexts),
  getContextStatus(contexts),
]
