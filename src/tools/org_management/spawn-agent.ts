import { defineTool } from "../../model/define-tool.ts"
import type { OrganisationBook } from "../../model/organisation-book.ts"
import { compileSchema } from "../../model/schema.ts"
import type { ToolContext } from "../../model/tool.ts"
import { asToolFailure, callerOf } from "./refused.ts"
import { spawnedShape } from "./shapes.ts"
import { briefInWords, checkBrief, spawnJudged, spawnShape, type SpawnInput } from "./task-brief.ts"

/** Spawns an agent below the one that calls. It is sent nothing: send_message starts its work. */
export const spawnAgent = (book: OrganisationBook) => {
  const shown = compileSchema(spawnShape as never, true)
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
      check: compileSchema(spawnJudged as never, true).check,
    },
    output: spawnedShape,
    preview: briefInWords,

    execute(given, context) {
      return asToolFailure(() => spawn(book, given, context))
    },
  })
}

export async function spawn(
  book: OrganisationBook,
  { roleId, taskBrief }: SpawnInput,
  context: ToolContext,
): Promise<{ id: string; roleId: string; roleName: string }> {
  checkBrief(taskBrief)
  const agent = await book.createAgent({ role: roleId, taskBrief, taskId: context.taskId }, callerOf(context))
  return { id: agent.id, roleId: agent.roleId, roleName: book.findRole(agent.roleId)?.name ?? roleId }
}
