import { isObject } from "../../lib/is-object.ts"
import type { CallToolResult } from "@modelcontextprotocol/server"
import { imageIn, withoutImageData } from "../../core/result-image.ts"
import type { McpContent, McpToolValue } from "../../core/mcp.ts"
import { ToolExecuteStatus, type Ticket, type ToolResult } from "../../core/result.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { modelText, modelTextLimit, personText, ticketText, wholeCharacters } from "../../core/model-text.ts"
import { artifactUri } from "./artifacts.ts"
import { isContent } from "./content.ts"
import { cutForms, firstThatFits, redactedForms } from "./structured-content.ts"

/** The parts of a tool that `tools/list` told the client. */
export interface AnnouncedTool {
  /** True when the tool belongs to another MCP server, so that its values are MCP results already. */
  readonly isMcp: boolean
  readonly outputSchema?: JsonSchema
}

/** The keys of our own data in `_meta`. */
export const metaKeys = { ending: "quartermaster/ending", ticket: "quartermaster/ticket" } as const

/** Converts the result of a call to MCP. A withheld result is never included. */
export function callResult(result: ToolResult, announced: AnnouncedTool | undefined): CallToolResult {
  const converted = result.status === ToolExecuteStatus.SUCCESS ? succeeded(result, announced) : failed(result)
  const told = personText(result).trim()
  return told === "" ? converted : { ...converted, content: [{ type: "text", text: told }, ...converted.content] }
}

/** The MCP result for a call that still waits: it says how to get the actual result later. */
export function ticketResult(ticket: Ticket, tool: string): CallToolResult {
  const text = `${ticketText(ticket, tool)} A person answers with: qm approvals show ${ticket.callId}`
  const { callId, state } = ticket
  const ticketMeta = { callId, state, ...(Number.isFinite(ticket.until) ? { until: ticket.until } : {}) }
  return { content: [{ type: "text", text }], isError: true, _meta: { [metaKeys.ticket]: ticketMeta } }
}

function succeeded(result: ToolResult, announced: AnnouncedTool | undefined): CallToolResult {
  if (announced?.isMcp === true && isMcpValue(result.result)) return upstreamResult(result, result.result, announced)
  const content: CallToolResult["content"] = [
    { type: "text", text: modelText(result) },
    ...imageOf(result),
    ...linkTo(result),
  ]
  if (announced?.outputSchema === undefined) return { content }
  if (announced.isMcp || !isObject(result.result)) return notFitting(content)
  // An image is sent as separate content, so its data is left out here unless the announced schema requires it.
  const promised = promisesImageData(announced.outputSchema)
  const structured = promised ? result.result : withoutImageData(result.result)
  return { content, ...structuredPart(result, structured, announced.outputSchema, content) }
}

/**
 * The structured content of a result, cut like its text. A client rejects a result that does not fit the announced schema,
 * and one that was cut, or that a person changed, may not: then it gets the content as an error.
 */
function structuredPart(
  result: ToolResult,
  whole: unknown,
  schema: JsonSchema | undefined,
  content: CallToolResult["content"],
): Partial<CallToolResult> {
  const isChanged = isRedacted(result)
  if (!isChanged && result.truncated === undefined) return { structuredContent: whole as Record<string, unknown> }
  const changed = isChanged ? redactedForms(whole) : [whole]
  const forms = result.truncated === undefined ? changed : changed.flatMap((form) => cutForms(form, modelTextLimit))
  const structured = firstThatFits(forms, schema)
  return structured === undefined ? notFitting(content) : { structuredContent: structured as Record<string, unknown> }
}

function promisesImageData({ properties }: JsonSchema): boolean {
  const image = isObject(properties) ? properties["image"] : undefined
  return isObject(image) && Array.isArray(image["required"]) && image["required"].includes("data")
}

function imageOf({ result }: ToolResult): CallToolResult["content"] {
  const image = imageIn(result)
  return image === undefined ? [] : [{ type: "image", ...image }]
}

/** Passes on another server's value unchanged, except that texts longer than the model's limit are cut. */
function upstreamResult(result: ToolResult, value: McpToolValue, announced: AnnouncedTool): CallToolResult {
  const { content, structuredContent, _meta } = value
  const kept = result.truncated === undefined ? content : [...shortened(content), ...linkTo(result)]
  const parts = kept as CallToolResult["content"]
  if (structuredContent === undefined && announced.outputSchema !== undefined && isRedacted(result))
    return notFitting(parts)
  return {
    content: parts,
    ...(structuredContent === undefined
      ? {}
      : structuredPart(result, structuredContent, announced.outputSchema, parts)),
    ...(_meta === undefined ? {} : { _meta: withoutReservedKeys(_meta) }),
  }
}

/** Removes the keys that describe a connection: only we may set them, not the server behind us. */
function withoutReservedKeys(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !key.startsWith("io.modelcontextprotocol/")))
}

function notFitting(content: CallToolResult["content"]): CallToolResult {
  const text =
    "A person changed this result before it was released, or it was too long and was cut, so it lacks fields that the tool's output schema requires."
  return { content: [...content, { type: "text", text }], isError: true }
}

function isRedacted({ metadata }: ToolResult): boolean {
  return metadata?.["redacted"] === true
}

function failed(result: ToolResult): CallToolResult {
  const { callId, status, code, metadata = {} } = result
  const upstreamContent =
    status === ToolExecuteStatus.ERROR && metadata["ran"] === true ? metadata["content"] : undefined
  const content =
    Array.isArray(upstreamContent) && upstreamContent.length > 0 && upstreamContent.every(isContent)
      ? upstreamContent
      : undefined
  const structured = content === undefined ? undefined : metadata["structuredContent"]
  const { toolCode, retryAfterMs } = metadata
  const endingMeta = {
    callId,
    status,
    ...(code === undefined ? {} : { code }),
    ...(typeof toolCode === "string" ? { toolCode } : {}),
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  }
  return {
    content:
      content === undefined ? [{ type: "text", text: modelText(result) }] : (content as CallToolResult["content"]),
    ...(isObject(structured) ? { structuredContent: structured } : {}),
    isError: true,
    _meta: { [metaKeys.ending]: endingMeta },
  }
}

/** The name the tool was called by: its announced schema decides what the result looks like. */
export function calledName({ toolName, metadata }: ToolResult): string {
  const calledAs = metadata?.["calledAs"]
  return typeof calledAs === "string" ? calledAs : toolName
}

/** A link to the artifact with the whole of a long result. */
function linkTo(result: ToolResult): CallToolResult["content"] {
  const { truncated } = result
  if (truncated === undefined) return []
  const description = `The whole result, ${truncated.total} characters. Read it in pages: ?offset=0&limit=20000.`
  return [
    { type: "resource_link", uri: artifactUri(truncated.stored), name: `Result of ${calledName(result)}`, description },
  ]
}

function shortened(content: readonly McpContent[]): McpContent[] {
  let left = modelTextLimit
  return content.map((part) => {
    const { text } = part
    if (part.type !== "text" || typeof text !== "string") return part
    const room = Math.max(0, left)
    left -= text.length
    if (text.length <= room) return part
    return { ...part, text: `${wholeCharacters(text, room)}\n[truncated: ${room} of ${text.length} characters.]` }
  })
}

function isMcpValue(value: unknown): value is McpToolValue {
  return isObject(value) && Array.isArray(value["content"]) && value["content"].every(isContent)
}
