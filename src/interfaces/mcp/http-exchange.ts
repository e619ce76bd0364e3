import type { IncomingMessage, ServerResponse } from "node:http"
import type { AuthInfo } from "@modelcontextprotocol/server"
import type { ClientIdentity } from "./client-identity.ts"

/** One authenticated request to /mcp, and its response. */
export interface McpHttpExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly identity: ClientIdentity
  /** The body of a POST. */
  readonly text?: string
}

/** An exchange in the form that the SDK's handlers take. */
export interface SdkExchange extends McpHttpExchange {
  readonly web: Request
  readonly auth: AuthInfo
  /** The body, parsed. */
  readonly body?: unknown
}
