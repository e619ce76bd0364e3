import { z } from "zod"
import { failure } from "../../core/ending.ts"
import { compileSchema } from "../../schema/compile-schema.ts"

const given = z.unknown().refine((value) => value !== null && value !== "", "is empty")

/** The description of a spawned agent's task. */
const taskBrief = z.looseObject({
  objective: z.string().min(1).describe("The goal"),
  constraints: z.array(z.string()).describe("Constraints to respect; an empty list when there are none"),
  inputs: given.describe("What there is to work with"),
  outputs: given.describe("What to deliver"),
  completion_criteria: given.describe("How to tell that it is done"),
  collaborators: z.unknown().optional().describe("Whom to work with: agent ids and what they do"),
  references: z.unknown().optional().describe("What to read, for example artifact references"),
  priority: z.unknown().optional().describe("How much it matters, for example high"),
})

/** The parameters of spawn_agent as models see them. `checkBrief` validates the brief itself, with its own code. */
export const spawnInputSchema = z.object({
  roleId: z.string().min(1).describe("The id of a role you made with create_role"),
  taskBrief: taskBrief.describe("The task, so that the agent can begin without asking"),
  folder: z
    .string()
    .min(1)
    .optional()
    .describe("The folder of the workspace it may use, inside yours; left out: yours"),
})

export const spawnInputWithoutBriefCheck = z.object({
  roleId: spawnInputSchema.shape.roleId,
  taskBrief: z.unknown().optional(),
  folder: spawnInputSchema.shape.folder,
})

export interface SpawnInput {
  roleId: string
  taskBrief?: unknown
  folder?: string
}

const judge = compileSchema(z.object({ taskBrief }) as never, "output")

/** Fails with all problems of the brief at once. */
export function checkBrief(brief: unknown): void {
  const checked = judge.check({ taskBrief: brief })
  if (checked.ok) return
  const { problems } = checked
  throw failure(`The task brief is not complete: ${problems.join(", ")}. Correct it and call again.`, {
    toolCode: "invalid_task_brief",
    metadata: { problems },
  })
}

/** The brief as approvers read it. */
export function briefPreview({ roleId, taskBrief: brief, folder }: SpawnInput): string {
  const where = folder === undefined ? "" : `, in the folder ${folder}`
  return `An agent with the role ${roleId}${where}\n\n${JSON.stringify(brief ?? null, null, 2)}`
}
