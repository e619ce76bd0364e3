import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { OrganisationBook } from "../../model/organisation-book.ts"
import { asToolFailure, callerOf } from "./refused.ts"

/** Ends an agent that the calling one spawned, and everyone below it. */
export const terminateAgent = (book: OrganisationBook) =>
  defineTool({
    name: "terminate_agent",
    group: "org_management",
    category: "communication",
    description: "Terminate an agent you spawned, with every agent below it. It cannot be undone.",
    effect: "communicate",
    permission: { level: "moderate" },
    input: z.object({
      agentId: z.string().min(1).describe("The id that spawn_agent returned"),
      reason: z.string().max(10_000).optional().describe("Why, for the record"),
    }),
    output: z.object({ ok: z.boolean(), terminatedAgentId: z.string() }),

    execute({ agentId, reason }, context) {
      return asToolFailure(async () => {
        await book.terminateAgent(agentId, callerOf(context), reason)
        return { ok: true, terminatedAgentId: agentId }
      })
    },
  })
