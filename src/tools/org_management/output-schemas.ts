import { z } from "zod"

/** A role as a model sees it. */
export const roleOutput = z.object({
  id: z.string(),
  name: z.string(),
  rolePrompt: z.string(),
  createdBy: z.string(),
  createdAt: z.string(),
  status: z.string(),
  llmServiceId: z.string().nullable(),
  toolGroups: z.array(z.string()).nullable(),
  department: z.string().optional(),
  level: z.number().optional(),
  dialect: z.string().optional(),
})

export const spawnedAgentOutput = z.object({ id: z.string(), roleId: z.string(), roleName: z.string() })
