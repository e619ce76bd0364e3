import type { Logger } from "../core/logger.ts"
import type { McpPrompt, McpResource, McpResourceTemplate, McpServerState, McpToolDefinition } from "../core/mcp.ts"
import type { OAuthAccess } from "./oauth.ts"

/** The offer of a server, from its last answer. */
export interface Offer {
  readonly tools: readonly McpToolDefinition[]
  readonly resources: readonly McpResource[]
  readonly templates: readonly McpResourceTemplate[]
  readonly prompts: readonly McpPrompt[]
  readonly instructions?: string
  readonly capabilities: OfferedCapabilities
  readonly protocolVersion: string
  readonly serverInfo?: { readonly name: string; readonly version: string }
}

export interface OfferedCapabilities {
  readonly tools: boolean
  readonly resources: boolean
  readonly subscribe: boolean
  readonly prompts: boolean
  readonly completions: boolean
  readonly logging: boolean
}

/** The connection's requirements of its owner, and its reports to it. */
export interface ConnectionHost {
  readonly logger: Logger
  /** The folder that the server gets as its root. */
  readonly workspace: string
  /** Our own version, as reported to the server. */
  readonly version: string
  /** OAuth access, for servers that may want it. */
  readonly access?: OAuthAccess
  now?(): number
  /** Called each time the server was asked what it offers. */
  onOffer(offer: Offer): void
  onState(): void
  onResourceUpdated(uri: string): void
}

export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

export interface LogMessage {
  readonly level: string
  readonly logger?: string
  readonly data: unknown
}

export interface ElicitAnswer {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Readonly<Record<string, unknown>>
}

/** The call that a request belongs to, and how the server's own requests are answered meanwhile. */
export interface RequestContext {
  readonly callId: string
  readonly agentId: string
  readonly signal: AbortSignal
  /** Time limit of the server; null for none. The timer pauses while a person is asked. */
  readonly timeoutMs: number | null
  /** The capabilities declared for this call, in the newer protocol; all that are configured when left out. */
  readonly able?: { readonly elicitation: boolean; readonly sampling: boolean; readonly roots: boolean }
  onProgress?(progress: Progress): void
  onLog?(message: LogMessage): void
  /** Asks a person the server's question. Without it the question is declined. `key` is the server's name for it. */
  elicit?(params: Record<string, unknown>, key?: string): Promise<ElicitAnswer>
  /** Passes `sampling/createMessage` and `roots/list` to the program that made the call. */
  askCaller?(method: string, params: unknown, signal: AbortSignal, key?: string): Promise<unknown>
}

/** A result as the server sent it. */
export interface RawResult {
  readonly [field: string]: unknown
}

export type ConnectionState = Pick<
  McpServerState,
  "state" | "transport" | "protocolVersion" | "problem" | "restarts" | "pid"
>
