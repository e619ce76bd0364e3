import { Ending, failure, type ToolFailure } from "../../model/ending.ts"
import type { McpContent, McpToolValue } from "../../model/mcp.ts"
import { modelTextLimit, wholeCharacters } from "../../model/text.ts"

/** The most a result may hold, in characters of text and of encoded data. */
export const largestResult = 10 * 1024 * 1024
const mostParts = 10_000

/**
 * What a server's `CallToolResult` comes to: its value with nothing lost. Throws the server's own error as a failure,
 * and *output_invalid* for what is no result of the protocol.
 */
export function toolValue(tool: string, raw: unknown): McpToolValue {
  const result = objectOf(raw) ?? refuse(tool, "an answer that is no object")
  const content = checkedContent(tool, result["content"] ?? [])
  const { structuredContent, _meta } = result
  if (result["isError"] === true) throw mcpError(content, structuredContent)
  return {
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(objectOf(_meta) === undefined ? {} : { _meta: _meta as Record<string, unknown> }),
  }
}

/** The answer to `resources/read`, as the server sent it. */
export function resourceValue(part: string, raw: unknown): unknown {
  const contents = objectOf(raw)?.["contents"]
  if (!Array.isArray(contents)) refuse(part, "an answer without contents")
  checkedParts(part, contents as unknown[], "contents", resourceProblem)
  return raw
}

/** The answer to `prompts/get`, as the server sent it. */
export function promptValue(part: string, raw: unknown): unknown {
  const messages = objectOf(raw)?.["messages"]
  if (!Array.isArray(messages)) refuse(part, "an answer without messages")
  checkedParts(part, messages as unknown[], "messages", (message) => {
    if (typeof message["role"] !== "string") return { problem: "has no role" }
    const content = objectOf(message["content"])
    return content === undefined ? { problem: "has no content" } : contentProblem(content)
  })
  return raw
}

/** The answer to `completion/complete`, as the server sent it. */
export function completionValue(part: string, raw: unknown): unknown {
  const values = objectOf(objectOf(raw)?.["completion"])?.["values"]
  if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) {
    refuse(part, "an answer without completion values")
  }
  return raw
}

function mcpError(content: readonly McpContent[], structuredContent: unknown): ToolFailure {
  const said = content.flatMap((part) => (part.type === "text" ? [part["text"] as string] : [])).join("\n")
  const sentence = said.trim() === "" ? "The server says that the tool failed, and not why." : said
  return failure(wholeCharacters(sentence, modelTextLimit), {
    toolCode: "mcp_error",
    metadata: { content, ...(structuredContent === undefined ? {} : { structuredContent }) },
  })
}

function checkedContent(tool: string, content: unknown): readonly McpContent[] {
  if (!Array.isArray(content)) refuse(tool, "content that is no list")
  checkedParts(tool, content as unknown[], "content", contentProblem)
  return content as McpContent[]
}

/** How large one part is, or what is wrong with it. */
type Judged = { size: number; problem?: undefined } | { problem: string }

function checkedParts(
  tool: string,
  parts: readonly unknown[],
  name: string,
  judge: (part: Record<string, unknown>) => Judged,
): void {
  if (parts.length > mostParts) refuse(tool, `${name} of ${parts.length} parts, where ${mostParts} are the most`)
  let size = 0
  for (const [index, part] of parts.entries()) {
    const object = objectOf(part)
    const judged = object === undefined ? { problem: "is no object" } : judge(object)
    if (judged.problem !== undefined) refuse(tool, `${name} whose part ${index} ${judged.problem}`)
    else size += judged.size
  }
  if (size > largestResult) refuse(tool, `${size} characters, where ${largestResult} are the most`)
}

function contentProblem(part: Record<string, unknown>): Judged {
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

function resourceProblem(resource: Record<string, unknown>): Judged {
  if (typeof resource["uri"] !== "string") return { problem: "is a resource without a uri" }
  if (resource["blob"] !== undefined && resource["text"] === undefined) return encoded(resource["blob"])
  return sized(resource["text"], "is a resource with neither text nor blob")
}

function sized(text: unknown, otherwise: string): Judged {
  return typeof text === "string" ? { size: text.length } : { problem: otherwise }
}

function encoded(data: unknown): Judged {
  if (typeof data !== "string") return { problem: "is not in base64" }
  // Whatever is too large is refused for that; what is looked at must take no longer than its length.
  const isBase64 = data.length > largestResult || /^[A-Za-z0-9+/]*={0,2}$/.test(data.replaceAll(/\s/g, ""))
  return isBase64 ? { size: data.length } : { problem: "is not in base64" }
}

function article(type: string): string {
  return type === "image" ? "an image" : "a sound"
}

function refuse(tool: string, what: string): never {
  throw new Ending(
    "output_invalid",
    `${tool} returned something other than MCP promises: ${what}. The tool may have run; tell whoever keeps that server.`,
  )
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
