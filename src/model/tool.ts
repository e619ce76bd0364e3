import type { AnswerValue, Question } from "./approval.ts"
import type { Caller } from "./call.ts"
import type { McpToolDefinition } from "./mcp.ts"
import type { Effect, Permission, ToolPermission } from "./permission.ts"
import type { Touch } from "./rule.ts"
import type { Schema, SchemaSource } from "./schema.ts"

/** The union of the categories of designs S2 and S4. It only sorts; groups decide who may use a tool. */
export const ToolCategory = {
  SYSTEM: "system",
  FILE: "file",
  NETWORK: "network",
  DATA: "data",
  CODE: "code",
  MCP: "mcp",
  CUSTOM: "custom",
  SEARCH: "search",
  EXECUTION: "execution",
  COMMUNICATION: "communication",
  ANALYSIS: "analysis",
  UTILITY: "utility",
} as const
export type ToolCategory = (typeof ToolCategory)[keyof typeof ToolCategory]

export type ToolType = "builtin" | "mcp" | "custom"

/** Who provides a tool. Lookup goes agent, then department, then system. */
export type Layer = "system" | `department:${string}` | `agent:${string}`

/**
 * How a tool behaves towards permits. A *composite* tool calls other tools and an *interactive* one waits for
 * people: neither takes a permit nor has a time limit of its own unless it asks for one.
 */
export type ToolKind = "plain" | "composite" | "interactive"

/** In which of MCP's lists something stands: what is no tool is reached as a resource or prompt, or only by tools. */
export type Offered = "tool" | "resource" | "prompt" | "inside"

/** What a running tool is given. Everything it does to the world beyond its return value goes through here. */
export interface ToolContext {
  readonly callId: string
  readonly agent: { readonly id: string; readonly role: string; readonly department?: string | undefined }
  readonly sessionId: string
  readonly taskId?: string | undefined
  readonly userId?: string | undefined
  readonly allowedPaths?: readonly string[] | undefined
  /** Whether the call may come across a file while it looks through a folder; undefined when no rule is about files. */
  readonly mayRead?: ((path: string) => boolean) | undefined
  /** What a person said to the tool's question. */
  readonly answer?: AnswerValue | undefined
  /** Aborted on time-out, on cancel and when the agent is stopped. */
  readonly signal: AbortSignal
  /** Sends a piece of output to whoever watches while the tool still runs. */
  emit(chunk: unknown): void
  log(message: string): void
  readonly artifacts: ArtifactShelf
  /** The other end of the door the call came by, where its program can be asked. */
  readonly ask?: Caller["ask"] | undefined
  readonly able?: Caller["able"] | undefined
  /** Calls another tool as this agent. Only tools of kind `composite` may, and others the one they name in `asks`. */
  call(tool: string, input: unknown): Promise<import("./result.ts").ToolResult>
}

/** The largest artifact, in bytes. */
export const artifactLimit = 100 * 1024 * 1024

/** The artifacts an agent can reach from inside a tool: its own and those of its task. */
export interface ArtifactShelf {
  put(artifact: { type: string; content: string | Uint8Array; mimeType?: string; meta?: unknown }): Promise<string>
  get(ref: string): Promise<StoredArtifact | null>
}

export interface StoredArtifact {
  id: string
  type: string
  content: Uint8Array
  mimeType: string
  isBinary: boolean
  meta: unknown
  createdAt: number
  agentId: string
  taskId?: string | undefined
  callId?: string | undefined
}

/** A tool that is called in place of one that failed, with an input made of its own. */
export interface Fallback {
  readonly tool: string
  /** The same input when left out. */
  toInput?(input: unknown): unknown
  /** The same result when left out. */
  toResult?(result: unknown, input: unknown): unknown
}

/** What `defineTool` takes. */
export interface ToolSpec<Input = unknown> {
  name: string
  description: string
  /** What is to be told after the description as it is now; nobody's agreement ends when it changes. */
  describe?(): string
  /** The group a role must hold to see the tool. */
  group: string
  title?: string
  category?: ToolCategory
  /** What the tool does to the world. Without it the tool counts as sensitive. */
  effect?: Effect
  kind?: ToolKind
  /** Where it is offered; what is no *tool* is in no list of tools, and is decided, limited and recorded all the same. */
  offered?: Offered
  /** The name of the tool by which this one may ask a person while it runs. */
  asks?: string
  /** What it is called outside, where that is not derived from its name. */
  wireName?: string
  /** Why nobody may use it until a person has looked at it. */
  quarantine?: string
  /** What an MCP server says of it, unchanged; a door that speaks MCP lists it so. */
  mcp?: McpToolDefinition
  input: SchemaSource<Input>
  output?: SchemaSource<unknown>
  permission?: ToolPermission
  version?: string
  author?: string
  tags?: readonly string[]
  /** Milliseconds; null means no limit and is meant for interactive and composite tools. */
  timeoutMs?: number | null
  /** A second run with the same input does no more than the first, so transient failures may be retried. */
  idempotent?: boolean
  /** Runs alone among the calls of its agent. */
  exclusive?: boolean
  /** Tools that are called in its place, in this order, when it fails; each walks as a call of its own. */
  fallback?: readonly (string | Fallback)[]
  /** Tools it needs: it is off until they are registered, and hidden from an agent that has not all of them. */
  dependsOn?: readonly string[]
  /** Its results may be used again: while no touched file changes, or for that long. */
  cache?: boolean | { ttlMs: number }
  /** Demands the grade for this tool's records whatever the configuration says. */
  durability?: "power"
  /** The files, commands and hosts a run will use, known before it; what is left out here is seen by no rule. */
  touches?(input: Input): readonly Touch[]
  /** Whether it changes nothing with this input, a preview for example: then its level does not ask. */
  onlyReads?(input: Input): boolean
  /** What an approver sees: a diff, a parsed command, the request. */
  preview?(input: Input): string | Promise<string>
  /** For a tool that is a question: it waits at the desk, and `execute` finds what was said in `context.answer`. */
  question?(input: Input): Question
  /** Returns a plain value, throws `failure(…)`, or is an async generator that yields chunks. */
  execute(input: Input, context: ToolContext): unknown
}

/** A tool as every other part of the house sees it. Made by `defineTool` and the adapters only. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** The part of the description that does not change by itself, where it has one that does. */
  readonly definition?: string | undefined
  readonly group: string
  readonly title?: string | undefined
  readonly category: ToolCategory
  readonly effect?: Effect | undefined
  readonly kind: ToolKind
  readonly offered?: Offered | undefined
  readonly asks?: string | undefined
  readonly wireName?: string | undefined
  readonly quarantine?: string | undefined
  readonly mcp?: McpToolDefinition | undefined
  readonly input: Schema
  readonly output?: Schema | undefined
  readonly permission: Permission
  readonly version: string
  readonly author: string
  readonly tags: readonly string[]
  readonly timeoutMs?: number | null | undefined
  readonly idempotent: boolean
  readonly exclusive: boolean
  readonly fallback?: readonly Fallback[] | undefined
  readonly dependsOn?: readonly string[] | undefined
  readonly cache?: boolean | { readonly ttlMs: number } | undefined
  readonly durability?: "power" | undefined
  touches?(input: unknown): readonly Touch[]
  onlyReads?(input: unknown): boolean
  preview?(input: unknown): string | Promise<string>
  question?(input: unknown): Question
  execute(input: unknown, context: ToolContext): unknown
}

/** A tool that has its place in the registry. `id` is `layer:name@version`. */
export interface RegisteredTool extends Tool {
  readonly id: string
  readonly type: ToolType
  readonly layer: Layer
  readonly enabled: boolean
  /** What it depends on and nobody has registered yet; until somebody does, it is not enabled. */
  readonly lacks?: readonly string[] | undefined
  /** SHA-256 of what an approver agreed to: id, name, version, description, schemas, effect, permission. */
  readonly definitionHash: string
  /** Where it stands before others of its name: itself and all of those, each as it was registered. */
  readonly together?: readonly RegisteredTool[] | undefined
}
