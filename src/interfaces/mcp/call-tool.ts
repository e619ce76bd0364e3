import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server"
import type { JsonSchema } from "../../core/schema.ts"
import { serveCall, type OneShotRequest, type EndpointParts, type InteractiveRequest } from "./serve-call.ts"
import { faultOf, type Fault } from "./errors.ts"
import { toolList } from "./tool-list.ts"
import { callResult, calledName, ticketResult } from "./call-result.ts"

/** The response to a tools/call: a result, a JSON-RPC error, or questions the client must answer first. */
export type ToolCallResponse = ToolCallReply | { fault: Fault } | { required: InputRequiredResult }

/** A result, and the output schema that the client knows for it. */
export interface ToolCallReply {
  readonly result: CallToolResult
  readonly outputSchema: JsonSchema | undefined
}

/** Handles every tools/call. Undefined only for a one-shot request that must be served as an interactive one. */
export function callTool(parts: EndpointParts, request: InteractiveRequest): Promise<ToolCallResponse>
export function callTool(
  parts: EndpointParts,
  request: InteractiveRequest | OneShotRequest,
): Promise<ToolCallResponse | undefined>
export async function callTool(
  parts: EndpointParts,
  request: InteractiveRequest | OneShotRequest,
): Promise<ToolCallResponse | undefined> {
  const { app, servers } = parts
  const { agentId } = request.identity
  // A client that knows the tool from an earlier list may call it while the tool's server is still connecting.
  if (!servers.areReady && !app.isVisible(agentId, request.tool)) await servers.ready
  const outcome = await serveCall(parts, request)
  if (outcome === undefined || "required" in outcome) return outcome
  if ("ticket" in outcome) return { result: ticketResult(outcome.ticket, request.tool), outputSchema: undefined }
  const fault = faultOf(outcome.ended)
  if (fault !== undefined) return { fault }
  const announced = toolList(app, agentId).announced(calledName(outcome.ended))
  return { result: callResult(outcome.ended, announced), outputSchema: announced?.outputSchema }
}
