import { z } from "zod"

/** The sandbox that a command ran in. */
export const sandboxOutput = z.object({
  kind: z.enum(["bubblewrap", "none"]),
  because: z.string().optional(),
  network: z.boolean(),
})

/** A background command. */
export const backgroundCommandOutput = z.object({
  id: z.string(),
  command: z.string(),
  status: z.enum(["running", "completed", "killed", "failed"]),
  exitCode: z.number().nullable(),
  startedAt: z.number(),
  exceeded: z.string().optional(),
})
