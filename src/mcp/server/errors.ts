import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server"
import type { EndingCode, Ticket, ToolResult } from "../../model/result.ts"

/** A JSON-RPC error. */
export interface Fault {
  code: number
  message: string
  data?: unknown
}

/** Where something ended that is no tool: a resource, a prompt, a completion. */
type Place = "tool" | "resource" | "part"

/**
 * Which endings are faults of the protocol, by where they happen; the one table of this door. What is not here is, for
 * a tool, a result that says so, because the model reads that, and for anything else an internal error with its sentence.
 */
const faults: Record<Place, Partial<Record<EndingCode, ProtocolErrorCode>>> = {
  // Both revisions name an unknown tool as the one ending that is not a result.
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

/** The error a call of a tool is answered with; undefined where its result says how it ended. */
export function faultOf(result: ToolResult): Fault | undefined {
  // What another server needs of the client itself is for the client, not for its model.
  const upstream = upstreamCode(result)
  if (upstream?.code === Number(ProtocolErrorCode.MissingRequiredClientCapability)) {
    return { ...upstream, message: result.error ?? "The client lacks a capability." }
  }
  const code = result.code === undefined ? undefined : faults.tool[result.code]
  return code === undefined ? undefined : { code, message: result.error ?? "There is no such tool." }
}

/** What is thrown for a resource that was not read, or another part that did not succeed. */
export function partError(result: ToolResult, place: "resource" | "part", uri?: string): ProtocolError {
  const { code = "tool_failed" } = result
  const sentence = result.status === "result_rejected" ? "It is withheld by a person." : (result.error ?? "It failed.")
  const hidden = code === "unknown_tool" || code === "tool_not_available"
  if (place === "resource" && uri !== undefined && hidden) return notFound(uri)
  const upstream = upstreamCode(result)
  if (place === "resource" && uri !== undefined && isNotFound(upstream)) return notFound(uri)
  const number = upstream?.code ?? faults[place][code] ?? ProtocolErrorCode.InternalError
  return new ProtocolError(number, sentence, upstream?.data ?? { ending: code })
}

/** What is no tool has no result to say it in. */
export function stillWaits({ callId, state, until }: Ticket): ProtocolError {
  const what = state === "held" ? "It was read, and is held back until a person releases it" : "It waits for a person"
  const sentence = `${what}. Ask for the same again to go on with it. A person answers with: qm approvals show ${callId}`
  const told = { callId, state, ...(Number.isFinite(until) ? { until } : {}) }
  return new ProtocolError(ProtocolErrorCode.InternalError, sentence, { ticket: told })
}

export function notFound(uri: string): ProtocolError {
  return new ResourceNotFoundError(uri, `There is no resource ${uri}. List the resources to see what there is.`)
}

/** What was sent is not what this method takes. */
export function badParams(sentence: string, data?: unknown): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, sentence, data)
}

/** State that was forged, used already, is too old or belongs to somebody else; nobody is told which. */
export function badState(): ProtocolError {
  return badParams("Invalid or expired requestState", { reason: "invalid_request_state" })
}

/** The error with which another server answered, where it did. */
function upstreamCode({ metadata }: ToolResult): Omit<Fault, "message"> | undefined {
  const { rpcCode: code, rpcData: data } = metadata ?? {}
  return typeof code === "number" && Number.isSafeInteger(code) ? { code, data } : undefined
}

function isNotFound(fault: Omit<Fault, "message"> | undefined): boolean {
  if (fault === undefined) return false
  const { code, data } = fault
  const names = typeof data === "object" && data !== null && "uri" in data
  return code === -32_002 || (code === Number(ProtocolErrorCode.InvalidParams) && names)
}
