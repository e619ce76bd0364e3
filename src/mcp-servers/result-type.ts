import type { JSONRPCMessage } from "@modelcontextprotocol/client"

/**
 * Adds the `resultType` that servers of 2026 must send and some leave out. In sessions of 2025, which have none, the SDK
 * removes it again.
 */
export function withResultType(message: JSONRPCMessage): JSONRPCMessage {
  if (!("result" in message)) return message
  const { result } = message
  if (typeof result !== "object" || result === null || "resultType" in result) return message
  const asks = "inputRequests" in result || "requestState" in result
  return { ...message, result: { ...result, resultType: asks ? "input_required" : "complete" } } as JSONRPCMessage
}
