import type { CallRequest } from "../../core/call.ts"
import { wholeCharacters } from "../../core/model-text.ts"

const longest = 200

/** A request that steps and audit log can use, and what was wrong with the original. */
export interface ReadRequest {
  request: CallRequest
  problems: readonly string[]
}

const none: readonly string[] = []

/** Reads a request that may come from JavaScript and be anything. Ids and names become text that every store can hold. */
export function readRequest(input: CallRequest): ReadRequest {
  const raw: Partial<CallRequest> = typeof input === "object" && input !== null ? input : {}
  if (isClean(raw)) return { request: raw, problems: none }
  const problems: string[] = []
  const optionalName = (name: "key" | "taskId" | "userId" | "sessionId" | "parentCallId" | "traceId" | "tokenId") => {
    const value: unknown = raw[name]
    if (value === undefined || isName(value)) return value as string | undefined
    problems.push(`'${name}' must be a text of at most ${longest} characters`)
    return undefined
  }
  if (!isTimeout(raw.timeoutMs)) problems.push("'timeoutMs' must be a positive number of milliseconds")
  const request: CallRequest = {
    ...raw,
    agentId: asText(raw.agentId),
    tool: asText(toolName(raw.tool)),
    input: raw.input,
    key: optionalName("key"),
    taskId: optionalName("taskId"),
    userId: optionalName("userId"),
    sessionId: optionalName("sessionId"),
    parentCallId: optionalName("parentCallId"),
    traceId: optionalName("traceId"),
    tokenId: optionalName("tokenId"),
    timeoutMs: isTimeout(raw.timeoutMs) ? raw.timeoutMs : undefined,
  }
  return { request, problems }
}

function isClean(raw: Partial<CallRequest>): raw is CallRequest {
  return (
    isName(raw.agentId) &&
    isName(raw.tool) &&
    (raw.key === undefined || isName(raw.key)) &&
    (raw.taskId === undefined || isName(raw.taskId)) &&
    (raw.userId === undefined || isName(raw.userId)) &&
    (raw.sessionId === undefined || isName(raw.sessionId)) &&
    (raw.parentCallId === undefined || isName(raw.parentCallId)) &&
    (raw.traceId === undefined || isName(raw.traceId)) &&
    (raw.tokenId === undefined || isName(raw.tokenId)) &&
    isTimeout(raw.timeoutMs)
  )
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= longest && value.isWellFormed() && !value.includes("\0")
}

function isTimeout(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === "number" && value > 0 && value < Infinity)
}

/** A tool may be given itself in place of its name. */
function toolName(tool: unknown): unknown {
  return typeof tool === "object" && tool !== null && "name" in tool ? tool.name : tool
}

/** Something readable in place of a name that cannot be one. No agent or tool has such a name. */
function asText(value: unknown): string {
  if (typeof value !== "string") return value === undefined ? "" : `(${typeof value})`
  return wholeCharacters(value, longest).toWellFormed().replaceAll("\0", "\\0")
}
