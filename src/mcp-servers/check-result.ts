import { Ending, failure, type ToolFailure } from "../core/ending.ts"
import type { McpContent, McpToolValue } from "../core/mcp.ts"
import { modelTextLimit, wholeCharacters } from "../core/model-text.ts"

/** The most characters of text and encoded data a result may have. */
export const maxResultCharacters = 10 * 1024 * 1024
const maxParts = 10_000

/**
 * Checks a server's `CallToolResult` and returns it complete. Throws the server's own error as a failure, and
 * *output_invalid* for anything that is not a valid result.
 */
export function toolValue(tool: string, raw: unknown): McpToolValue {
  const result = objectOf(raw) ?? refuse(tool, "an answer that is not an object")
  const content = checkedContent(tool, result["content"] ?? [])
  const { structuredContent, _meta } = result
  if (result["isError"] === true) throw mcpError(content, structuredContent)
  return {
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(objectOf(_meta) === undefined ? {} : { _meta: _meta as Record<string, unknown> }),
  }
}

/** Checks the result of `resources/read` and returns it as the server sent it. */
export function resourceValue(part: string, raw: unknown): unknown {
  const contents = objectOf(raw)?.["contents"]
  if (!Array.isArray(contents)) refuse(part, "an answer without contents")
  checkParts(part, contents as unknown[], "contents", resourceProblem)
  return raw
}

/** Checks the result of `prompts/get` and returns it as the server sent it. */
export function promptValue(part: string, raw: unknown): unknown {
  const messages = objectOf(raw)?.["messages"]
  if (!Array.isArray(messages)) refuse(part, "an answer without messages")
  checkParts(part, messages as unknown[], "messages", (message) => {
    if (typeof message["role"] !== "string") return { problem: "has no role" }
    const content = objectOf(message["content"])
    return content === undefined ? { problem: "has no content" } : contentProblem(content)
  })
  return raw
}

/** Checks the result of `completion/complete` and returns it as the server sent it. */
export function completionValue(part: string, raw: unknown): unknown {
  const values = objectOf(objectOf(raw)?.["completion"])?.["values"]
  if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) {
    refuse(part, "an answer without completion values")
  }
  return raw
}

function mcpError(content: readonly McpContent[], structuredContent: unknown): ToolFailure {
  const text = content.flatMap((part) => (part.type === "text" ? [part["text"] as string] : [])).join("\n")
  const sentence = text.trim() === "" ? "The server reported that the tool failed, but not why." : text
  return failure(wholeCharacters(sentence, modelTextLimit), {
    toolCode: "mcp_error",
    metadata: { content, ...(structuredContent === undefined ? {} : { structuredContent }) },
  })
}

function checkedContent(tool: string, content: unknown): readonly McpContent[] {
  if (!Array.isArray(content)) refuse(tool, "content that is not a list")
  checkParts(tool, content as unknown[], "content", contentProblem)
  return content as McpContent[]
}

/** The size of one part in characters, or what is wrong with it. */
type PartCheck = { size: number; problem?: undefined } | { problem: string }

function checkParts(
  tool: string,
  parts: readonly unknown[],
  name: string,
  checkPart: (part: Record<string, unknown>) => PartCheck,
): void {
  if (parts.length > maxParts) refuse(tool, `${name} of ${parts.length} parts, where ${maxParts} are the most`)
  let size = 0
  for (const [index, part] of parts.entries()) {
    const object = objectOf(part)
    const checked = object === undefined ? { problem: "is not an object" } : checkPart(object)
    if (checked.problem !== undefined) refuse(tool, `${name} whose part ${index} ${checked.problem}`)
    else size += checked.size
  }
  if (size > maxResultCharacters) refuse(tool, `${size} characters, where ${maxResultCharacters} are the most`)
}

function contentProblem(part: Record<string, unknown>): PartCheck {
  switch (part["type"]) {
    case "text":
      return sized(part["text"], "has no text")
    case "image":
    case "audio":
      if (typeof part["mimeType"] !== "string") return { problem: `is ${article(part["type"])} without a mimeType` }
      return encoded(part["data"])
    case "resource": {
      const resource = objectOf(part["resource"])
      return resource === undefined ? { problem: "has no resource" } : resourceProblem(resource)
    }
    case "resource_link":
      if (typeof part["name"] !== "string") return { problem: "is a link without a name" }
      return sized(part["uri"], "is a link without a uri")
    default:
      return { problem: `has the type ${JSON.stringify(part["type"]) ?? "undefined"}, which MCP does not know` }
  }
}

function resourceProblem(resource: Record<string, unknown>): PartCheck {
  if (typeof resource["uri"] !== "string") return { problem: "is a resource without a uri" }
  if (resource["blob"] !== undefined && resource["text"] === undefined) return encoded(resource["blob"])
  return sized(resource["text"], "is a resource with neither text nor blob")
}

function sized(text: unknown, problem: string): PartCheck {
  return typeof text === "string" ? { size: text.length } : { problem }
}

function encoded(data: unknown): PartCheck {
  if (typeof data !== "string") return { problem: "is not in base64" }
  // Data above the limit is refused for its size, so it is not scanned here.
  const isBase64 = data.length > maxResultCharacters || /^[A-Za-z0-9+/]*={0,2}$/.test(data.replaceAll(/\s/g, ""))
  return isBase64 ? { size: data.length } : { problem: "is not in base64" }
}

function article(type: string): string {
  return type === "image" ? "an image" : "a sound"
}

function refuse(tool: string, what: string): never {
  throw new Ending(
    "output_invalid",
    `${tool} returned an invalid MCP result: ${what}. The tool may have run; report this to the operator of that server.`,
  )
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
