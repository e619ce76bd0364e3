import { z } from "zod"

/** What held a command. */
export const sandboxShape = z.object({
  kind: z.enum(["bubblewrap", "none"]),
  because: z.string().optional(),
  network: z.boolean(),
})

/** A background command. */
export const backgroundShape = z.object({
  id: z.string(),
  command: z.string(),
  status: z.enum(["running", "completed", "killed", "failed"]),
  exitCode: z.number().nullable(),
  startedAt: z.number(),
  exceeded: z.string().optional(),
  sealed: z.array(z.string()).optional(),
})
