import type { CallRequest } from "../model/call.ts"
import { wholeCharacters } from "../model/text.ts"

const longest = 200

/** A request as the walk and the record can use it, and what was wrong with it as it came. */
export interface ReadRequest {
  request: CallRequest
  problems: readonly string[]
}

const none: readonly string[] = []

/** Callers without types send anything. What names the call becomes text a store gives back unchanged. */
export function readRequest(given: CallRequest): ReadRequest {
  const asked: Partial<CallRequest> = typeof given === "object" && given !== null ? given : {}
  if (isTidy(asked)) return { request: asked, problems: none }
  const problems: string[] = []
  const word = (name: "key" | "taskId" | "userId" | "sessionId" | "parentCallId" | "traceId" | "tokenId") => {
    const value: unknown = asked[name]
    if (value === undefined || isName(value)) return value as string | undefined
    problems.push(`'${name}' must be a text of at most ${longest} characters`)
    return undefined
  }
  if (!isTimeout(asked.timeoutMs)) problems.push("'timeoutMs' must be a positive number of milliseconds")
  const request: CallRequest = {
    ...asked,
    agentId: asText(asked.agentId),
    tool: asText(asked.tool),
    input: asked.input,
    key: word("key"),
    taskId: word("taskId"),
    userId: word("userId"),
    sessionId: word("sessionId"),
    parentCallId: word("parentCallId"),
    traceId: word("traceId"),
    tokenId: word("tokenId"),
    timeoutMs: isTimeout(asked.timeoutMs) ? asked.timeoutMs : undefined,
  }
  return { request, problems }
}

function isTidy(asked: Partial<CallRequest>): asked is CallRequest {
  return (
    isName(asked.agentId) &&
    isName(asked.tool) &&
    (asked.key === undefined || isName(asked.key)) &&
    (asked.taskId === undefined || isName(asked.taskId)) &&
    (asked.userId === undefined || isName(asked.userId)) &&
    (asked.sessionId === undefined || isName(asked.sessionId)) &&
    (asked.parentCallId === undefined || isName(asked.parentCallId)) &&
    (asked.traceId === undefined || isName(asked.traceId)) &&
    (asked.tokenId === undefined || isName(asked.tokenId)) &&
    isTimeout(asked.timeoutMs)
  )
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= longest && value.isWellFormed() && !value.includes("\0")
}

function isTimeout(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === "number" && value > 0 && value < Infinity)
}

/** What cannot be a name is shown as well as it can be: nobody has it. */
function asText(value: unknown): string {
  if (typeof value !== "string") return value === undefined ? "" : `(${typeof value})`
  return wholeCharacters(value, longest).toWellFormed().replaceAll("\0", "\\0")
}
