import { previewText } from "../core/preview.ts"
import type { Tool } from "../core/tool.ts"
import { readPreview } from "../schema/read-preview.ts"

/** A tool's preview as the terminal shows it. */
export async function previewTextOf(tool: Tool, input: unknown): Promise<string> {
  return previewText(readPreview(await tool.preview!(input)))
}
