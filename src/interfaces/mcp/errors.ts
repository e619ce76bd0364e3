import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server"
import type { EndingCode, Ticket, ToolResult } from "../../core/result.ts"

/** A JSON-RPC error. */
export interface Fault {
  code: number
  message: string
  data?: unknown
}

/** The subject of a call. A part is a prompt or a completion. */
type Place = "tool" | "resource" | "part"

/**
 * The endings that are JSON-RPC errors. For a tool, any other ending is a result, because the model reads results. For
 * resources and parts, any other ending is an internal error.
 */
const faults: Record<Place, Partial<Record<EndingCode, ProtocolErrorCode>>> = {
  // By the specification an unknown tool is the only ending of a tool call that is not a result.
  tool: { unknown_tool: ProtocolErrorCode.InvalidParams },
  resource: {
    unknown_tool: ProtocolErrorCode.InvalidParams,
    tool_not_available: ProtocolErrorCode.InvalidParams,
    invalid_arguments: ProtocolErrorCode.InvalidParams,
  },
  part: {
    unknown_tool: ProtocolErrorCode.InvalidParams,
    tool_not_available: ProtocolErrorCode.InvalidParams,
    invalid_arguments: ProtocolErrorCode.InvalidParams,
  },
}

/** The JSON-RPC error for an ended tool call; undefined when the client gets a result. */
export function faultOf(result: ToolResult): Fault | undefined {
  // A capability that another server needs concerns the client, not its model.
  const upstream = upstreamCode(result)
  if (upstream?.code === Number(ProtocolErrorCode.MissingRequiredClientCapability)) {
    return { ...upstream, message: result.error ?? "The client lacks a capability." }
  }
  const code = result.code === undefined ? undefined : faults.tool[result.code]
  return code === undefined ? undefined : { code, message: result.error ?? "There is no such tool." }
}

/** The error for a resource, prompt or completion that did not succeed. */
export function partError(result: ToolResult, place: "resource" | "part", uri?: string): ProtocolError {
  const { code = "tool_failed" } = result
  const sentence = result.status === "result_rejected" ? "A person withheld it." : (result.error ?? "It failed.")
  const hidden = code === "unknown_tool" || code === "tool_not_available"
  if (place === "resource" && uri !== undefined && hidden) return resourceNotFound(uri)
  const upstream = upstreamCode(result)
  if (place === "resource" && uri !== undefined && isNotFound(upstream)) return resourceNotFound(uri)
  const number = upstream?.code ?? faults[place][code] ?? ProtocolErrorCode.InternalError
  return new ProtocolError(number, sentence, upstream?.data ?? { ending: code })
}

/** The error for a resource or part that still waits: unlike a tool call it has no result to say so in. */
export function stillWaitsError({ callId, state, until }: Ticket): ProtocolError {
  const what = state === "held" ? "It was read, and is held back until a person releases it" : "It waits for a person"
  const sentence = `${what}. Send the same request again to continue. A person answers with: qm approvals show ${callId}`
  const ticketData = { callId, state, ...(Number.isFinite(until) ? { until } : {}) }
  return new ProtocolError(ProtocolErrorCode.InternalError, sentence, { ticket: ticketData })
}

export function resourceNotFound(uri: string): ProtocolError {
  return new ResourceNotFoundError(uri, `There is no resource ${uri}. List the resources to see what there is.`)
}

export function badParams(sentence: string, data?: unknown): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, sentence, data)
}

/** For state that is forged, used, expired or another client's. The error does not say which. */
export function badState(): ProtocolError {
  return badParams("Invalid or expired requestState", { reason: "invalid_request_state" })
}

/** The JSON-RPC error of another server, if the call ended with one. */
function upstreamCode({ metadata }: ToolResult): Omit<Fault, "message"> | undefined {
  const { rpcCode: code, rpcData: data } = metadata ?? {}
  return typeof code === "number" && Number.isSafeInteger(code) ? { code, data } : undefined
}

function isNotFound(fault: Omit<Fault, "message"> | undefined): boolean {
  if (fault === undefined) return false
  const { code, data } = fault
  const hasUri = typeof data === "object" && data !== null && "uri" in data
  return code === -32_002 || (code === Number(ProtocolErrorCode.InvalidParams) && hasUri)
}
