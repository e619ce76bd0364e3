import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { OrganisationBook } from "../../model/organisation-book.ts"
import { asToolFailure, callerOf } from "./refused.ts"

/** Writes to another agent, as the one that calls. */
export const sendMessage = (book: OrganisationBook) =>
  defineTool({
    name: "send_message",
    group: "org_management",
    category: "communication",
    description: "Send a message to an agent of your task, to root or to user.",
    effect: "communicate",
    permission: { level: "moderate" },
    input: z.object({
      to: z.string().min(1).describe("An agent's id, root or user"),
      payload: z.unknown().describe("The message: a text or any JSON, 1 MB at most"),
      delayMs: z.int().min(0).optional().describe("Deliver it this many milliseconds later"),
    }),
    output: z.object({ messageId: z.string() }),
    preview: ({ to, payload }) => `To ${to}\n\n${JSON.stringify(payload, null, 2)}`,

    execute({ to, payload, delayMs }, context) {
      return asToolFailure(async () => {
        const { id: from } = callerOf(context)
        const message = await book.sendMessage({ from, to, payload, taskId: context.taskId, delayMs })
        return { messageId: message.id }
      })
    },
  })
