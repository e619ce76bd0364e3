import type { Calls } from "./calls.ts"
import type { Ports } from "./ports.ts"
import { artifactLimit } from "../../core/tool.ts"

/** Stores a text that is too long for a model as an artifact of the agent that called, at most as much as one holds. */
export function storeText({ artifacts }: Pick<Ports, "artifacts">): Calls["storeText"] {
  return (of, text, mimeType = "text/plain") =>
    artifacts.forCall(of).put({ type: "tool_output", content: atMost(text, artifactLimit), mimeType })
}

/** Cuts the text to the size of an artifact and marks the cut. */
function atMost(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  const mark = `\n[cut: ${text.length} characters in all]`
  return (
    Buffer.from(text)
      .subarray(0, bytes - mark.length - 4)
      .toString("utf8") + mark
  )
}
