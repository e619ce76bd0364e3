import { z } from "zod"
import type { ConversationContexts } from "./context.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { currentContext } from "./current-context.ts"

/** Replaces the older messages of the conversation by a summary that the model writes. */
export const compressContext = (contexts: ConversationContexts) =>
  defineTool({
    name: "compress_context",
    group: "context",
    description:
      "Replace the older messages of this conversation by your summary, to make room. The last messages stay as they are.",
    effect: "none",
    input: () =>
      z.object({
        summary: z
          .string()
          .min(1)
          .describe("What must not be forgotten: the task, decisions, facts, file names, what is left to do"),
        keepRecentCount: z
          .int()
          .min(1)
          .max(1000)
          .default(10)
          .describe("How many of the last messages stay as they are"),
      }),
    output: () =>
      z.object({ ok: z.boolean(), compressed: z.boolean(), originalCount: z.number(), newCount: z.number() }),
    async execute({ summary, keepRecentCount }, context) {
      return { ok: true, ...(await currentContext(contexts, context).compress(summary, keepRecentCount)) }
    },
  })
