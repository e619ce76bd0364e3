import { isObject } from "../lib/is-object.ts"

/** The text of an MCP result: its texts one below the other, and for all else what it is. Undefined for other values. */
export function mcpText(value: unknown): string | undefined {
  if (!isObject(value) || !Array.isArray(value["content"])) return undefined
  const { content, structuredContent } = value
  const texts = content.map(blockText)
  if (texts.includes(undefined)) return undefined
  if (texts.length > 0) return texts.join("\n")
  return structuredContent === undefined ? undefined : JSON.stringify(structuredContent)
}

function blockText(block: unknown): string | undefined {
  if (!isObject(block)) return undefined
  const { type, text, mimeType, uri, name, resource } = block
  if (type === "text") return typeof text === "string" ? text : undefined
  if (type === "image" || type === "audio") return `[${type === "image" ? "image" : "sound"}: ${String(mimeType)}]`
  if (type === "resource_link") return `[${String(name)}: ${String(uri)}]`
  if (type !== "resource" || !isObject(resource)) return undefined
  return typeof resource["text"] === "string" ? resource["text"] : `[file: ${String(resource["uri"])}]`
}
