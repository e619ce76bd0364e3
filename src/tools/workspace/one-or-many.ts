import { z } from "zod"

/** A text or a list of texts: models send either. */
export const oneOrMany = z.union([z.string().min(1).max(1000), z.array(z.string().min(1).max(1000)).max(50)])

export function listOf(value: z.infer<typeof oneOrMany> | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === "string" ? [value] : value
}
