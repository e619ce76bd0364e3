import { z } from "zod"
import type { ConversationContexts } from "./context.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { currentContext } from "./current-context.ts"

/** Tells how full the context window of the conversation is. */
export const getContextStatus = (contexts: ConversationContexts) =>
  defineTool({
    name: "get_context_status",
    group: "context",
    description: "Get how many tokens of the context window this conversation uses.",
    effect: "none",
    input: () => z.object({}),
    output: () =>
      z.object({
        usedTokens: z.number(),
        maxTokens: z.number(),
        usagePercent: z.number(),
        usagePercentStr: z.string(),
        status: z.enum(["normal", "warning", "critical", "exceeded"]),
        thresholds: z.object({ warning: z.number(), critical: z.number(), exceeded: z.number() }),
      }),
    execute: (_input, context) => currentContext(contexts, context).status(),
  })
