import { previewText } from "../model/preview.ts"
import type { Tool } from "../model/tool.ts"
import { readPreview } from "../schema/read-preview.ts"

/** A tool's preview as the terminal shows it. */
export async function previewTextOf(tool: Tool, input: unknown): Promise<string> {
  return previewText(readPreview(await tool.preview!(input)))
}
