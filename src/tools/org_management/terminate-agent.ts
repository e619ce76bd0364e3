import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import { asToolFailure, agentActor } from "./as-tool-failure.ts"

/** Terminates an agent that the calling agent spawned, and all agents below it. */
export const terminateAgent = (book: OrganisationAdmin) =>
  defineTool({
    name: "terminate_agent",
    group: "org_management",
    category: "communication",
    description: "Terminate an agent you spawned, with every agent below it. It cannot be undone.",
    effect: "communicate",
    permission: { level: "moderate" },
    input: () =>
      z.object({
        agentId: z.string().min(1).describe("The id that spawn_agent returned"),
        reason: z.string().max(10_000).optional().describe("Why, for the audit log"),
      }),
    output: () => z.object({ ok: z.boolean(), terminatedAgentId: z.string() }),

    execute({ agentId, reason }, context) {
      return asToolFailure(async () => {
        await book.terminateAgent(agentId, agentActor(context), reason)
        return { ok: true, terminatedAgentId: agentId }
      })
    },
  })
