import type { CallToolResult } from "@modelcontextprotocol/server"
import { imageIn, withoutImageData } from "../../model/image.ts"
import type { McpContent, McpToolValue } from "../../model/mcp.ts"
import { ToolExecuteStatus, type Ticket, type ToolResult } from "../../model/result.ts"
import type { JsonSchema } from "../../model/schema.ts"
import { modelText, modelTextLimit, wholeCharacters } from "../../model/text.ts"
import { artifactUri } from "./artifacts.ts"
import { isContent } from "./content.ts"

/** What the caller was told of a tool before it called it. */
export interface Announced {
  /** A tool of another server, whose values have the shape of that protocol. */
  readonly isMcp: boolean
  readonly outputSchema?: JsonSchema | undefined
}

/** The keys under which our own data stands in `_meta`. */
export const metaKeys = { ending: "quartermaster/ending", ticket: "quartermaster/ticket" } as const

/** What a call came to, in the words of the protocol. Nothing of a result that is withheld is in it. */
export function callResult(result: ToolResult, announced: Announced | undefined): CallToolResult {
  return result.status === ToolExecuteStatus.SUCCESS ? succeeded(result, announced) : ended(result)
}

/** What is said of a call that still waits: how to come back for it. */
export function ticketResult(ticket: Ticket, tool: string): CallToolResult {
  const until = Number.isFinite(ticket.until) ? ` It waits until ${new Date(ticket.until).toISOString()}.` : ""
  const came = {
    waiting: "NOT EXECUTED YET. The call waits for a person to agree.",
    ready: "NOT EXECUTED YET. A person has answered the call.",
    held: "The tool ran, but its result is held back until a person releases it.",
  }[ticket.state]
  const how = `Call ${tool} again with the same arguments to go on with this very call and get its result.`
  const text = `${came}${until} ${how} A person answers with: qm approvals show ${ticket.callId}`
  const { callId, state } = ticket
  const told = { callId, state, ...(Number.isFinite(ticket.until) ? { until: ticket.until } : {}) }
  return { content: [{ type: "text", text }], isError: true, _meta: { [metaKeys.ticket]: told } }
}

function succeeded(result: ToolResult, announced: Announced | undefined): CallToolResult {
  if (announced?.isMcp === true && isMcpValue(result.result)) return passedOn(result, result.result, announced)
  const content: CallToolResult["content"] = [
    { type: "text", text: modelText(result) },
    ...imageOf(result),
    ...linkTo(result),
  ]
  if (announced?.outputSchema === undefined) return { content }
  // A caller who was promised fields refuses a result without them; what a person took out or put in may have none.
  if (result.metadata?.["redacted"] === true || announced.isMcp || !isObject(result.result)) return changed(content)
  // The bytes of an image are in a part of their own, unless the caller was promised them here.
  const promised = promisesImageData(announced.outputSchema)
  return {
    content,
    structuredContent: promised ? result.result : (withoutImageData(result.result) as Record<string, unknown>),
  }
}

function promisesImageData({ properties }: JsonSchema): boolean {
  const image = isObject(properties) ? properties["image"] : undefined
  return isObject(image) && Array.isArray(image["required"]) && image["required"].includes("data")
}

/** The image that a result of ours shows. */
function imageOf({ result }: ToolResult): CallToolResult["content"] {
  const image = imageIn(result)
  return image === undefined ? [] : [{ type: "image", ...image }]
}

/** A value of another server as it came; only texts longer than a model is given are cut. */
function passedOn(result: ToolResult, value: McpToolValue, announced: Announced): CallToolResult {
  const { content, structuredContent, _meta } = value
  const given = result.truncated === undefined ? content : [...shortened(content), ...linkTo(result)]
  const all = given as CallToolResult["content"]
  if (announced.outputSchema !== undefined && result.metadata?.["redacted"] === true) return changed(all)
  return {
    content: all,
    ...(structuredContent === undefined ? {} : { structuredContent: structuredContent as Record<string, unknown> }),
    ...(_meta === undefined ? {} : { _meta: notReserved(_meta) }),
  }
}

/** What the protocol says of a connection is for us to say, not for whoever is behind us. */
function notReserved(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !key.startsWith("io.modelcontextprotocol/")))
}

function changed(content: CallToolResult["content"]): CallToolResult {
  const text = "A person changed this result before it was released, so that it has not all the fields it promises."
  return { content: [...content, { type: "text", text }], isError: true }
}

function ended(result: ToolResult): CallToolResult {
  const { callId, status, code, metadata = {} } = result
  const theirs = status === ToolExecuteStatus.ERROR && metadata["ran"] === true ? metadata["content"] : undefined
  const content = Array.isArray(theirs) && theirs.length > 0 && theirs.every(isContent) ? theirs : undefined
  const structured = content === undefined ? undefined : metadata["structuredContent"]
  const { toolCode, retryAfterMs } = metadata
  const told = {
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
    _meta: { [metaKeys.ending]: told },
  }
}

/** The name a call was made by: it decides what its result looks like. */
export function nameIn({ toolName, metadata }: ToolResult): string {
  const calledAs = metadata?.["calledAs"]
  return typeof calledAs === "string" ? calledAs : toolName
}

/** Where the whole of a long result can be read. */
function linkTo(result: ToolResult): CallToolResult["content"] {
  const { truncated } = result
  if (truncated === undefined) return []
  const description = `The whole result, ${truncated.total} characters. Read it in pages: ?offset=0&limit=20000.`
  return [
    { type: "resource_link", uri: artifactUri(truncated.stored), name: `Result of ${nameIn(result)}`, description },
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
