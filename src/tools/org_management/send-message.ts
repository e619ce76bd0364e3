import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import { asToolFailure, agentActor } from "./as-tool-failure.ts"

/** Sends a message from the calling agent to another. */
export const sendMessage = (book: OrganisationAdmin) =>
  defineTool({
    name: "send_message",
    group: "org_management",
    category: "communication",
    description: "Send a message to an agent of your task, to root or to user.",
    effect: "communicate",
    permission: { level: "moderate" },
    input: () =>
      z.object({
        to: z.string().min(1).describe("An agent's id, root or user"),
        payload: z.unknown().describe("The message: a text or any JSON, 1 MB at most"),
        delayMs: z.int().min(0).optional().describe("Deliver it this many milliseconds later"),
      }),
    output: () => z.object({ messageId: z.string() }),
    preview: ({ to, payload }) => `To ${to}\n\n${JSON.stringify(payload, null, 2)}`,

    execute({ to, payload, delayMs }, context) {
      return asToolFailure(async () => {
        const { id: from } = agentActor(context)
        const { taskId, userId, sessionId: conversationId } = context
        const message = await book.sendMessage({ from, to, payload, taskId, delayMs, userId, conversationId })
        return { messageId: message.id }
      })
    },
  })
