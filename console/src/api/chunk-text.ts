/** Returns the output of a tool while it ran: text, or `{ stream, text }`, or anything else as JSON. */
export function chunkText(chunk: unknown): string {
  if (typeof chunk === "string") return chunk
  if (typeof chunk === "object" && chunk !== null && "text" in chunk && typeof chunk.text === "string")
    return chunk.text
  return `${JSON.stringify(chunk)}\n`
}
