import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import { compileSchema } from "../../schema/compile-schema.ts"
import { asToolFailure, agentActor } from "./as-tool-failure.ts"
import { spawnedAgentOutput } from "./output-schemas.ts"
import { spawnWithBrief } from "./spawn-agent.ts"
import { briefPreview, spawnInputWithoutBriefCheck, spawnInputSchema, type SpawnInput } from "./task-brief.ts"

interface Input extends SpawnInput {
  initialMessage?: unknown
}

const initialMessage = z
  .union([z.looseObject({ message_type: z.string().optional() }), z.string().min(1)])
  .describe("The first message: a text, or an object; message_type is task_assignment when left out")

/** Spawns an agent and sends its first message. If the message cannot be stored, the agent is terminated again. */
export const spawnAgentWithTask = (book: OrganisationAdmin) => {
  const shown = compileSchema(spawnInputSchema.extend({ initialMessage }) as never, "refuse")
  const judged = spawnInputWithoutBriefCheck.extend({ initialMessage: z.unknown().optional() })
  return defineTool<Input>({
    name: "spawn_agent_with_task",
    group: "org_management",
    category: "communication",
    description: "Spawn an agent with a role you made and send it its first message at once.",
    effect: "communicate",
    permission: { level: "moderate" },
    input: {
      get json() {
        return shown.json
      },
      check: compileSchema(judged as never, "refuse").check,
    },
    output: spawnedAgentOutput.extend({ messageId: z.string() }),
    preview: (given) => `${briefPreview(given)}\n\n${JSON.stringify(given.initialMessage ?? null, null, 2)}`,

    execute(given, context) {
      return asToolFailure(async () => {
        const payload = payloadOf(given.initialMessage)
        const spawned = await spawnWithBrief(book, given, context)
        const from = agentActor(context)
        try {
          const { taskId, userId, sessionId: conversationId } = context
          const about = { from: from.id, to: spawned.id, taskId, userId, conversationId }
          const { id } = await book.sendMessage({ ...about, payload })
          return { ...spawned, messageId: id }
        } catch (error) {
          await book.terminateAgent(spawned.id, from, "Its first message could not be kept.")
          throw error
        }
      })
    },
  })
}

function payloadOf(message: unknown): unknown {
  if (typeof message === "string" && message !== "") return { message_type: "task_assignment", message }
  const isObject = typeof message === "object" && message !== null && !Array.isArray(message)
  if (isObject && Object.keys(message).length > 0) return { message_type: "task_assignment", ...message }
  const sentence = "The first message is missing. Give initialMessage as a text or an object with something in it."
  throw failure(sentence, { toolCode: "missing_initial_message" })
}
