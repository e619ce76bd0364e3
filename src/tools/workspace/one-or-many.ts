import { z } from "zod"

/** One text or a list of them, for what models give either way. */
export const oneOrMany = z.union([z.string().min(1).max(1000), z.array(z.string().min(1).max(1000)).max(50)])

export function listOf(given: z.infer<typeof oneOrMany> | undefined): readonly string[] {
  return given === undefined ? [] : typeof given === "string" ? [given] : given
}
