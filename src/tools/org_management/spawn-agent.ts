import { defineTool } from "../../schema/define-tool.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import { compileSchema } from "../../schema/compile-schema.ts"
import type { ToolContext } from "../../core/tool.ts"
import { asToolFailure, agentActor } from "./as-tool-failure.ts"
import { spawnedAgentOutput } from "./output-schemas.ts"
import {
  briefPreview,
  checkBrief,
  spawnInputWithoutBriefCheck,
  spawnInputSchema,
  type SpawnInput,
} from "./task-brief.ts"

/** Spawns an agent below the calling one. Its work starts with the first message. */
export const spawnAgent = (book: OrganisationAdmin) => {
  const shown = compileSchema(spawnInputSchema as never, "refuse")
  return defineTool<SpawnInput>({
    name: "spawn_agent",
    group: "org_management",
    category: "communication",
    description: "Spawn an agent with a role you made. It gets no message; write to it with send_message.",
    effect: "communicate",
    permission: { level: "moderate" },
    input: {
      get json() {
        return shown.json
      },
      check: compileSchema(spawnInputWithoutBriefCheck as never, "refuse").check,
    },
    output: spawnedAgentOutput,
    preview: briefPreview,

    execute(given, context) {
      return asToolFailure(() => spawnWithBrief(book, given, context))
    },
  })
}

export async function spawnWithBrief(
  book: OrganisationAdmin,
  { roleId, taskBrief, folder }: SpawnInput,
  context: ToolContext,
): Promise<{ id: string; roleId: string; roleName: string }> {
  checkBrief(taskBrief)
  const agent = await book.createAgent({ role: roleId, taskBrief, folder, taskId: context.taskId }, agentActor(context))
  return { id: agent.id, roleId: agent.roleId, roleName: book.findRole(agent.roleId)?.name ?? roleId }
}
