import { z } from "zod"
import type { Preview } from "../core/preview.ts"

const bytes = z.number().optional()

const params = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]))
const line = z.union([z.string(), z.object({ code: z.string(), params: params.optional(), text: z.string() })])

const previewSchema = z.union([
  z.object({ kind: z.literal("text"), text: z.string(), bytes }),
  z.object({
    kind: z.literal("diff"),
    files: z.array(z.object({ path: z.string(), diff: z.string(), added: z.number(), removed: z.number() })),
    bytes,
  }),
  z.object({
    kind: z.literal("request"),
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.string().optional(),
    bytes,
  }),
  z.object({
    kind: z.literal("command"),
    command: z.string(),
    cwd: z.string().optional(),
    network: z.boolean(),
    details: z.array(line),
    bytes,
  }),
  z.object({ kind: z.literal("image"), mimeType: z.string(), data: z.string(), bytes }),
])

/** Reads the return value of a tool's `preview`. Anything that is not a preview is shown as text. */
export function readPreview(shown: unknown): Preview {
  const read = previewSchema.safeParse(shown)
  if (read.success) return read.data
  return { kind: "text", text: typeof shown === "object" ? JSON.stringify(shown) : String(shown) }
}
