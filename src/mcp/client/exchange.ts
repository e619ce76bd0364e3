import type { Logger } from "../../model/logger.ts"
import type { McpPrompt, McpResource, McpResourceTemplate, McpServerState, McpToolDefinition } from "../../model/mcp.ts"
import type { Access } from "./oauth.ts"

/** What a server offers, as it last said. */
export interface Offer {
  readonly tools: readonly McpToolDefinition[]
  readonly resources: readonly McpResource[]
  readonly templates: readonly McpResourceTemplate[]
  readonly prompts: readonly McpPrompt[]
  readonly instructions?: string | undefined
  readonly capabilities: OfferedCapabilities
  readonly protocolVersion: string
  readonly serverInfo?: { readonly name: string; readonly version: string } | undefined
}

export interface OfferedCapabilities {
  readonly tools: boolean
  readonly resources: boolean
  readonly subscribe: boolean
  readonly prompts: boolean
  readonly completions: boolean
  readonly logging: boolean
}

/** What a connection needs of the house, and whom it tells. */
export interface ConnectionHost {
  readonly logger: Logger
  /** The folder the server is told of. */
  readonly workspace: string
  /** Our own version, told to the server. */
  readonly version: string
  /** How we show the server who we are, where it wants to know. */
  readonly access?: Access | undefined
  now?(): number
  /** What the server offers, each time it was asked for it. */
  onOffer(offer: Offer): void
  onState(): void
  onResourceUpdated(uri: string): void
}

export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

export interface LogMessage {
  readonly level: string
  readonly logger?: string | undefined
  readonly data: unknown
}

export interface ElicitAnswer {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Readonly<Record<string, unknown>> | undefined
}

/** The call a request to the server is made for, and who answers what the server asks meanwhile. */
export interface Asking {
  readonly callId: string
  readonly agentId: string
  readonly signal: AbortSignal
  /** How long the server may take; null for no limit of its own. It does not run while a person is asked. */
  readonly timeoutMs: number | null
  /** What the server is told that can be asked within this call, in the newer protocol; all that is configured when left out. */
  readonly able?: { readonly elicitation: boolean; readonly sampling: boolean; readonly roots: boolean } | undefined
  onProgress?(progress: Progress): void
  onLog?(message: LogMessage): void
  /** Puts the server's question to a person. Without it the question is declined. `key` is the server's name for it. */
  elicit?(params: Record<string, unknown>, key?: string): Promise<ElicitAnswer>
  /** Hands `sampling/createMessage` and `roots/list` to the program that made the call. */
  askCaller?(method: string, params: unknown, signal: AbortSignal, key?: string): Promise<unknown>
}

/** What came back, as the server sent it. */
export interface RawResult {
  readonly [field: string]: unknown
}

export type ConnectionState = Pick<
  McpServerState,
  "state" | "transport" | "protocolVersion" | "problem" | "restarts" | "pid"
>
