import type { JsonSchema } from "./schema.ts"
import type { Layer } from "./tool.ts"

/** One server of the configuration, in one shape whichever way it was written. */
export interface McpServerSpec {
  readonly name: string
  readonly enabled: boolean
  /** For a child process on stdio. */
  readonly command?: string | undefined
  readonly args?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  /** For a server elsewhere: streamable HTTP, and SSE where that is all it speaks. */
  readonly url?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly transport?: "stdio" | "http" | "sse" | undefined
  readonly layer: Layer
  /** False keeps the server's own names outside. */
  readonly prefix: boolean
  /** *first* pins what the server offers at its first connection; *ask* quarantines that too. */
  readonly trust: "first" | "ask"
  /** What becomes of the server's requests to sample: refused, or handed to the program that made the call. */
  readonly sampling: "refuse" | "caller"
  /** What the server is told of folders: the workspace, or what the program that made the call says. */
  readonly roots: "workspace" | "caller"
  readonly connectTimeoutMs?: number | undefined
  readonly timeoutMs?: number | undefined
  /** How one signs in at a server elsewhere that wants it; what is left out is told by the server. */
  readonly auth?: McpAuth | undefined
}

export interface McpAuth {
  /** *code*: a person signs in with `qm mcp login`. *client_credentials*: the house does, with the client's secret. */
  readonly grant: "code" | "client_credentials"
  /** The client we are registered as; without it we register, or are known by `clientMetadataUrl`. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly clientMetadataUrl?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** The only authorization server that sees the client's secret; the first that is met when left out. */
  readonly issuer?: string | undefined
  /** For a client whose redirect address is registered with one port. */
  readonly redirectPort?: number | undefined
}

/** An address that answers no sign-in of ours; the right one may still come. */
export class StrayAnswer extends Error {
  override readonly name = "StrayAnswer"
}

/** A sign-in that has begun: a person opens `url`, and their browser comes back to `redirectUrl`. */
export interface McpSignIn {
  readonly url: string
  readonly redirectUrl: string
}

export interface McpSignedIn {
  readonly server: string
  /** What we are allowed to do there, where the authorization server says so. */
  readonly scopes: readonly string[]
  /** Who vouches for it. */
  readonly issuer: string
}

/** What a server says of a tool, unchanged. */
export interface McpToolDefinition {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema | undefined
  readonly annotations?: Readonly<Record<string, unknown>> | undefined
  readonly icons?: unknown
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}

/** What a call of an MCP tool comes to when it succeeds; nothing of what the server sent is lost. */
export interface McpToolValue {
  readonly content: readonly McpContent[]
  readonly structuredContent?: unknown
  readonly _meta?: Readonly<Record<string, unknown>> | undefined
}
/** text, image, audio, resource or resource_link, as the protocol has them. */
export type McpContent = { readonly type: string } & Readonly<Record<string, unknown>>

export interface McpServerState {
  readonly name: string
  readonly group: string
  /** False where the server's own names are kept outside. */
  readonly prefix: boolean
  /** *resting*: not connected yet because nobody needed it. *open*: the circuit breaker lets nothing through. */
  readonly state: "disabled" | "resting" | "connecting" | "connected" | "waiting" | "open" | "refused"
  readonly transport: "stdio" | "http" | "sse"
  readonly protocolVersion?: string | undefined
  /** Why it is not connected, in a sentence. */
  readonly problem?: string | undefined
  readonly tools: number
  readonly quarantined: number
  readonly resources: number
  readonly prompts: number
  readonly restarts: number
  readonly pid?: number | undefined
  /** Who signed in there, where somebody did. */
  readonly signedInBy?: string | undefined
}

/** One tool of a server, and what a person has agreed to of it. */
export interface McpPin {
  readonly server: string
  readonly tool: string
  readonly state: "pinned" | "new" | "changed" | "gone"
  /** SHA-256 of the definition that is agreed to. */
  readonly hash?: string | undefined
  /** SHA-256 of what the server offers now, where that differs. */
  readonly seenHash?: string | undefined
  readonly definition?: McpToolDefinition | undefined
  readonly seen?: McpToolDefinition | undefined
  /** What was noticed about the texts, such as hidden characters; one sentence each. */
  readonly warnings: readonly string[]
  readonly by?: string | undefined
  readonly at?: number | undefined
}

export interface McpResource {
  readonly uri: string
  readonly name: string
  readonly [field: string]: unknown
}
export interface McpResourceTemplate {
  readonly uriTemplate: string
  readonly name: string
  readonly [field: string]: unknown
}
export interface McpPrompt {
  readonly name: string
  readonly [field: string]: unknown
}

/** What changed at a server. */
export type McpChange =
  | { readonly server: string; readonly what: "tools" | "resources" | "prompts" | "state" }
  | { readonly server: string; readonly what: "resource"; readonly uri: string }

/** Other people's servers, for the doors. What is read and run there goes through the walk by the names below. */
export interface McpServers {
  list(): readonly McpServerState[]
  /**
   * Resolves when what each server offers is known or it failed to say so; at most that many milliseconds. Where
   * connections wait until they are needed, only servers without pins are connected for it, unless *all* is said.
   */
  ready(milliseconds?: number, options?: { all?: boolean }): Promise<void>
  pins(server?: string): readonly McpPin[]
  /** Agrees to what the server offers now: all of it, or one tool. Returns what was agreed to. */
  trust(
    server: string,
    tool: string | undefined,
    by: string,
    /** The hashes of the definitions that were shown: where the server offers anything else by now, nothing is agreed to. */
    shown?: ReadonlySet<string>,
  ): Promise<readonly McpPin[]>
  resources(server: string): readonly McpResource[]
  templates(server: string): readonly McpResourceTemplate[]
  prompts(server: string): readonly McpPrompt[]
  /** Asks to be told of changes of one resource, until the returned function is called. */
  subscribe(server: string, uri: string): Promise<() => Promise<void>>
  onChange(listener: (change: McpChange) => void): () => void
  /**
   * Begins to sign in. `redirectTo` gets the port that should be used if it is free and returns the address a browser
   * comes back to. Where no person is needed it is done at once.
   */
  signIn(
    server: string,
    by: string,
    redirectTo: (port: number | undefined) => Promise<string>,
  ): Promise<McpSignIn | McpSignedIn>
  /** Ends what `signIn` began, in this process or another, with the address the browser came back to. */
  finishSignIn(server: string, by: string, redirected: string): Promise<McpSignedIn>
  /** Forgets a sign-in and revokes it where that can be done; undefined when there was none. */
  signOut(server: string, by: string): Promise<{ readonly revoked: boolean } | undefined>
}

/** The names by which what is no tool of a server is called, decided, limited and recorded. */
export const mcpParts = {
  read: "resources.read",
  subscribe: "resources.subscribe",
  prompt: "prompts.get",
  complete: "completion.complete",
  elicit: "elicitation.create",
} as const

export function mcpName(server: string, part: string): string {
  return `mcp:${server}:${part}`
}

/** What a running MCP tool tells while it runs, as chunks. */
export type McpChunk =
  | { readonly progress: number; readonly total?: number | undefined; readonly message?: string | undefined }
  | { readonly log: { readonly level: string; readonly logger?: string | undefined; readonly data: unknown } }
