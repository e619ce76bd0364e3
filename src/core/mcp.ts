import type { JsonSchema } from "./schema.ts"
import type { Layer } from "./tool.ts"

/** One configured MCP server, in one shape for all the ways to write it. */
export interface McpServerSpec {
  readonly name: string
  readonly enabled: boolean
  /** Variables that its configuration reads and that are not set. It cannot be connected until they are. */
  readonly unset?: readonly string[]
  /** For a child process on stdio. */
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** For a remote server: streamable HTTP, or SSE when it supports nothing else. */
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly transport?: "stdio" | "http" | "sse"
  readonly layer: Layer
  /** False: its tools are offered under their own names, without the server's name in front. */
  readonly prefix: boolean
  /** *first* trusts the definitions of the first connection; *ask* quarantines those too until a person trusts them. */
  readonly trust: "first" | "ask"
  /** The server's sampling requests are refused, or passed on to the program that made the call. */
  readonly sampling: "refuse" | "caller"
  /**
   * The folders that the server is told of: the workspace, or the roots of the program that made the call. Without it
   * none: some servers use these in place of the folders in their arguments.
   */
  readonly roots?: "workspace" | "caller"
  /** True if its tools are believed that say that they only read. */
  readonly trustReadOnly?: boolean
  /** The only revision of the protocol to speak; without it, the newest that the server knows. */
  readonly protocol?: McpRevision
  readonly connectTimeoutMs?: number
  readonly timeoutMs?: number
  /** The sign-in at a remote server. The server tells what is left out here. */
  readonly auth?: McpAuth
}

/** The revisions of the protocol that we speak. The last one has no sessions. */
export const mcpRevisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const
export type McpRevision = (typeof mcpRevisions)[number]

export interface McpAuth {
  /**
   * *code*: a person signs in with `qm mcp login`. *client_credentials*: Quartermaster signs in with the client's
   * secret.
   */
  readonly grant: "code" | "client_credentials"
  /** The registered client. Without it Quartermaster registers itself, or uses `clientMetadataUrl`. */
  readonly clientId?: string
  readonly clientSecret?: string
  readonly clientMetadataUrl?: string
  readonly scopes?: readonly string[]
  /** The only authorization server that gets the client's secret. Default: the first one that the server names. */
  readonly issuer?: string
  /** For a client whose redirect address is registered with a fixed port. */
  readonly redirectPort?: number
}

/** A redirect that belongs to no sign-in of this process. The right one may still arrive. */
export class UnmatchedSignInRedirect extends Error {
  override readonly name = "UnmatchedSignInRedirect"
}

/** A sign-in that has begun. A person opens `url`, and their browser returns to `redirectUrl`. */
export interface McpSignIn {
  readonly url: string
  readonly redirectUrl: string
}

export interface McpSignedIn {
  readonly server: string
  /** The granted scopes, when the authorization server names them. */
  readonly scopes: readonly string[]
  /** The authorization server. */
  readonly issuer: string
}

/** A tool's definition as the server sent it. */
export interface McpToolDefinition {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly icons?: unknown
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Reports whether the server says that the tool only reads. One that calls it destructive too contradicts itself. */
export function saysItOnlyReads({ annotations }: McpToolDefinition): boolean {
  return annotations?.["readOnlyHint"] === true && annotations["destructiveHint"] !== true
}

/** The result of an MCP tool, with everything the server sent. */
export interface McpToolValue {
  readonly content: readonly McpContent[]
  readonly structuredContent?: unknown
  readonly _meta?: Readonly<Record<string, unknown>>
}
/** A text, image, audio, resource or resource_link block of the protocol. */
export type McpContent = { readonly type: string } & Readonly<Record<string, unknown>>

export interface McpServerState {
  readonly name: string
  readonly group: string
  /** False: its tools are offered under their own names. */
  readonly prefix: boolean
  /** *resting*: not connected because it was not needed yet. *open*: the circuit breaker is open and rejects calls. */
  readonly state: "disabled" | "resting" | "connecting" | "connected" | "waiting" | "open" | "refused"
  readonly transport: "stdio" | "http" | "sse"
  readonly protocolVersion?: string
  /** Why it is not connected, as a sentence. */
  readonly problem?: string
  readonly tools: number
  readonly quarantined: number
  readonly resources: number
  readonly prompts: number
  readonly restarts: number
  readonly pid?: number
  /** The person who signed in there. */
  readonly signedInBy?: string
}

/** One tool of a server and the definition that is trusted. */
export interface McpPin {
  readonly server: string
  readonly tool: string
  readonly state: "pinned" | "new" | "changed" | "gone"
  /** SHA-256 of the trusted definition. */
  readonly hash?: string
  /** SHA-256 of what the server offers now, when that differs. */
  readonly seenHash?: string
  readonly definition?: McpToolDefinition
  readonly seen?: McpToolDefinition
  /** Suspicious things in the definition, such as hidden characters; one sentence each. */
  readonly warnings: readonly string[]
  readonly by?: string
  readonly at?: number
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

/** A change at a server. */
export type McpChange =
  | { readonly server: string; readonly what: "tools" | "resources" | "prompts" | "state" }
  | { readonly server: string; readonly what: "resource"; readonly uri: string }

/** The configured MCP servers. Everything read or run there is a call, under the names in `mcpParts`. */
export interface McpServers {
  list(): readonly McpServerState[]
  /**
   * Resolves when every server has listed what it offers or failed, or after `milliseconds`. When connections are made
   * only on demand, this connects only servers without pins, unless `all` is set. With `unpinned` it waits only for
   * those whose tools are not known from pins.
   */
  ready(milliseconds?: number, options?: { all?: boolean; unpinned?: boolean }): Promise<void>
  pins(server?: string): readonly McpPin[]
  /** Trusts what the server offers now: all of it, or one tool. Returns what was trusted. */
  trust(
    server: string,
    tool: string | undefined,
    by: string,
    /**
     * The hashes of the definitions that the person saw. If the server offers something else by now, nothing is
     * trusted.
     */
    shown?: ReadonlySet<string>,
  ): Promise<readonly McpPin[]>
  resources(server: string): readonly McpResource[]
  templates(server: string): readonly McpResourceTemplate[]
  prompts(server: string): readonly McpPrompt[]
  /** Subscribes to changes of one resource, until the returned function is called. */
  subscribe(server: string, uri: string): Promise<() => Promise<void>>
  onChange(listener: (change: McpChange) => void): () => void
  /**
   * Begins to sign in. `redirectTo` gets the port to use if it is free, and returns the address that the browser
   * returns to. When no person is needed, this signs in at once.
   */
  signIn(
    server: string,
    by: string,
    redirectTo: (port: number | undefined) => Promise<string>,
  ): Promise<McpSignIn | McpSignedIn>
  /** Completes what `signIn` began, in this process or another, with the address that the browser returned to. */
  finishSignIn(server: string, by: string, redirected: string): Promise<McpSignedIn>
  /** Deletes a sign-in and revokes it if the server supports that. Undefined when there was none. */
  signOut(server: string, by: string): Promise<{ readonly revoked: boolean } | undefined>
}

/** The names under which a server's resources, prompts and questions are called, checked and recorded. */
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

/** A report of an MCP tool while it runs. */
export type McpChunk =
  | { readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly log: { readonly level: string; readonly logger?: string; readonly data: unknown } }

/** The MCP server that asks a question, by the tool of its pending item. Undefined for questions of agents. */
export function askingServer(tool: string): string | undefined {
  return /^mcp:([^:]+):/.exec(tool)?.[1]
}
