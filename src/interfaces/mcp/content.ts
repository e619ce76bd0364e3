/** Tests whether a value is a content block of the protocol. A result that a person changed may contain others. */
export function isContent(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  const part = value as Record<string, unknown>
  switch (part["type"]) {
    case "text":
      return typeof part["text"] === "string"
    case "image":
    case "audio":
      return typeof part["data"] === "string" && typeof part["mimeType"] === "string"
    case "resource_link":
      return typeof part["uri"] === "string" && typeof part["name"] === "string"
    case "resource":
      return isContents(part["resource"])
    default:
      return false
  }
}

function isContents(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  const { uri, text, blob } = value as Record<string, unknown>
  return typeof uri === "string" && (typeof text === "string" || typeof blob === "string")
}
