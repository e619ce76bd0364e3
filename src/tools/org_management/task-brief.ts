import { z } from "zod"
import { failure } from "../../model/ending.ts"
import { compileSchema } from "../../model/schema.ts"

const given = z.unknown().refine((value) => value !== null && value !== "", "is empty")

/** What a spawned agent is told about its task. */
const taskBrief = z.looseObject({
  objective: z.string().min(1).describe("What is to be reached"),
  constraints: z.array(z.string()).describe("What must be kept to; empty when there is nothing"),
  inputs: given.describe("What there is to work with"),
  outputs: given.describe("What is to be handed over"),
  completion_criteria: given.describe("How to tell that it is done"),
  collaborators: z.unknown().optional().describe("Whom to work with: agent ids and what they do"),
  references: z.unknown().optional().describe("What to read, for example artifact references"),
  priority: z.unknown().optional().describe("How much it matters, for example high"),
})

/** What a model is shown of spawn_agent's parameters. The brief itself is judged by `checkBrief`, which has a code of its own. */
export const spawnShape = z.object({
  roleId: z.string().min(1).describe("The id of a role you made with create_role"),
  taskBrief: taskBrief.describe("The task, so that the agent can begin without asking"),
})

export const spawnJudged = z.object({ roleId: spawnShape.shape.roleId, taskBrief: z.unknown().optional() })

export interface SpawnInput {
  roleId: string
  taskBrief?: unknown
}

const judge = compileSchema(z.object({ taskBrief }) as never, false)

/** Ends the call with every problem of the brief at once. */
export function checkBrief(brief: unknown): void {
  const checked = judge.check({ taskBrief: brief })
  if (checked.ok) return
  const { problems } = checked
  throw failure(`The task brief is not complete: ${problems.join(", ")}. Correct it and call again.`, {
    toolCode: "invalid_task_brief",
    metadata: { problems },
  })
}

/** The brief in the words an approver reads first. */
export function briefInWords({ roleId, taskBrief: brief }: SpawnInput): string {
  return `An agent with the role ${roleId}\n\n${JSON.stringify(brief ?? null, null, 2)}`
}
