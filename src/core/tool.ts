import type { AnswerValue, Question } from "./approval.ts"
import type { Caller } from "./call.ts"
import type { NamedPathOptions } from "./guard.ts"
import type { McpToolDefinition } from "./mcp.ts"
import type { Effect, Permission, PermissionSources, ToolPermission } from "./permission.ts"
import type { Preview } from "./preview.ts"
import type { Touch } from "./touches.ts"
import type { Schema, SchemaSource } from "./schema.ts"

/** Categories for sorting and filtering tools. They grant nothing: groups decide who may use a tool. */
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

/**
 * The layer of a tool: everyone, one department, or one agent. A name is looked up in the agent's own layer first, then
 * in its department's, then in `system`. Example: `"department:engineering"`.
 */
export type Layer = "system" | `department:${string}` | `agent:${string}`

/**
 * The use of permits by a tool (the limit on tools that run at once). A *composite* tool calls other tools and an
 * *interactive* one waits for people. Neither takes a permit, and neither has a time limit unless it sets `timeoutMs`.
 */
export type ToolKind = "plain" | "composite" | "interactive"

/**
 * The way MCP clients reach it: in the list of tools, as a resource or prompt, or not at all (*inside*: only other
 * tools call it; *loop*: only the agent loop calls it, for every agent, whatever groups it has).
 */
export type ExposedAs = "tool" | "resource" | "prompt" | "inside" | "loop"

/** The session that a call belongs to: sessions of two agents are two, also when they have the same id. */
export interface CallSession {
  readonly agentId: string
  readonly sessionId: string
}

/**
 * The context of `execute` besides the input: who calls, how to stop, and how to stream, log, store artifacts or call
 * another tool.
 */
export interface ToolContext {
  readonly callId: string
  readonly agent: { readonly id: string; readonly role: string; readonly department?: string }
  readonly sessionId: string
  readonly taskId?: string
  readonly userId?: string
  readonly allowedPaths?: readonly string[]
  /** The touches that the tool declared when the call was last decided on. */
  readonly touches?: readonly Touch[]
  /** Reports whether a search may show this file to the agent. Undefined when no rule is about files. */
  readonly mayRead?: (path: string) => boolean
  /** True if a person approved this exact call. False when a rule, a grant, a guard or the level let it run. */
  readonly approved: boolean
  /** The person's answer to the tool's `question`. */
  readonly answer?: AnswerValue
  /**
   * Aborted when the call times out, is cancelled, or its agent is frozen or terminated. Pass it on to `fetch` and the
   * like.
   */
  readonly signal: AbortSignal
  /** Streams a piece of output while the tool still runs. */
  emit(chunk: unknown): void
  log(message: string): void
  /** Adds fields to the `metadata` of a successful result. Models do not see them. */
  readonly addMetadata?: (fields: Readonly<Record<string, unknown>>) => void
  readonly artifacts: CallArtifacts
  /** Sends a protocol request to the program that made the call, where its interface allows that. */
  readonly sendRequest?: Caller["sendRequest"]
  /** The requests that the program can answer. */
  readonly able?: Caller["able"]
  /**
   * Calls another tool as this agent; the call is checked like any other. Only tools of kind `composite` may do this;
   * other tools may call the one they name in `questionTool`. The intent says why, for those who approve it.
   */
  call(tool: string, input: unknown, about?: { intent?: string }): Promise<import("./result.ts").ToolResult>
}

/** The largest artifact, in bytes. */
export const artifactLimit = 100 * 1024 * 1024

/** The artifacts that a running tool can read and write: its agent's own and those of its task. */
export interface CallArtifacts {
  /** Stores an artifact and returns its reference. */
  put(artifact: { type: string; content: string | Uint8Array; mimeType?: string; meta?: unknown }): Promise<string>
  /** Returns null when there is no such artifact or the agent may not read it. */
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
  taskId?: string
  callId?: string
}

/** A tool to call in place of one that failed. */
export interface Fallback {
  readonly tool: string
  /** Makes the fallback's input from the failed call's input. Default: the same input. */
  toInput?(input: unknown): unknown
  /** Makes the failed tool's result from the fallback's result. Default: the same result. */
  toResult?(result: unknown, input: unknown): unknown
}

/** All of a tool but its schemas. */
export interface ToolTraits<Input = unknown, Returned = unknown> {
  /** In snake_case, for example `read_file`. */
  name: string
  /**
   * The description for the model. Approvals are bound to it: a changed description must be approved again.
   */
  description: string
  /** Text added after the description each time the tool is shown. A change of it voids no approval. */
  describe?(): string
  /** The group that a role must have to see and call the tool. */
  group: string
  title?: string
  category?: ToolCategory
  /** The kind of effect outside the process. It sets the default level; without an effect the tool is sensitive. */
  effect?: Effect
  kind?: ToolKind
  /** The way MCP clients reach it. Whatever the value, calls are checked, limited and recorded alike. */
  exposedAs?: ExposedAs
  /** The name of the tool that this one may call to ask a person while it runs. */
  questionTool?: string
  /** The name that models and MCP clients use. Default: derived from `name`. */
  wireName?: string
  /** Why the tool is quarantined: no agent may use it until a person has reviewed it. */
  quarantine?: string
  /** The MCP server's own definition, unchanged. MCP clients are shown exactly this. */
  mcp?: McpToolDefinition
  /** For a tool of a program on this machine: it uses files that `touches` does not name. */
  namedPaths?: NamedPathOptions
  permission?: ToolPermission
  version?: string
  author?: string
  tags?: readonly string[]
  /** Milliseconds a run may take. Null means no limit, which is meant for interactive and composite tools. */
  timeoutMs?: number | null
  /**
   * True when running it twice with the same input has the same effect as once. Transient failures are then retried.
   */
  idempotent?: boolean
  /** True when a run may destroy something that cannot be made again. `qm rules suggest` never proposes to allow it. */
  destructive?: boolean
  /** True: no other tool of the same agent runs at the same time. */
  exclusive?: boolean
  /** Tools to call in its place, in this order, when it fails. Each is a call of its own, with all checks. */
  fallback?: readonly (string | Fallback)[]
  /** Tools it needs. It is disabled until all are registered, and hidden from agents that may not use all of them. */
  dependsOn?: readonly string[]
  /** Reuses results: with `true` until a touched file changes, or for `ttlMs` milliseconds. */
  cache?: boolean | { ttlMs: number }
  /** Writes this tool's audit entries with durability `power`, whatever the configuration says. */
  durability?: "power"
  /**
   * The files, commands and hosts that a run with this input will use. Rules and guards see only what is listed here.
   */
  touches?(input: Input, session?: CallSession): readonly Touch[]
  /**
   * The fields of this input that no record shows, beyond those that its schema marks as secret. Asked before anything
   * of the call is recorded. If it fails, the whole input is hidden.
   */
  secretFields?(input: Input, session?: CallSession): readonly string[] | Promise<readonly string[]>
  /** Reports whether this input changes nothing, for example a dry run. Then the tool's level does not ask a person. */
  onlyReads?(input: Input): boolean
  /** Returns the preview for an approver: a diff, a command, the request, or a text. */
  preview?(input: Input, session?: CallSession): string | Preview | Promise<string | Preview>
  /**
   * For a tool that asks a person: the question. The call waits for the answer, and `execute` finds it in
   * `context.answer`.
   */
  question?(input: Input): Question
  /**
   * Does the work. Return a plain value, throw `failure(…)`, or write an async generator that yields chunks of output
   * and returns the result.
   */
  execute(input: Input, context: ToolContext): Returned
}

/**
 * The argument of `defineTool`.
 *
 * ```ts
 * const greet = defineTool({
 *   name: "greet",
 *   group: "demo",
 *   description: "Greet somebody by name.",
 *   effect: "none",
 *   input: z.object({ name: z.string().min(1).describe("Whom to greet") }),
 *   execute: ({ name }) => ({ text: `Hello, ${name}!` }),
 * })
 * app.registry.register(greet)
 * ```
 */
export interface ToolSpec<Input = unknown, Given = unknown, Output = unknown, Returned = unknown> extends ToolTraits<
  Input,
  Returned
> {
  /** Zod, JSON Schema or a parameter list. Inputs that do not match never reach `execute`. */
  input: SchemaSource<Input, Given>
  /** Results that do not match end the call with the code `output_invalid`. */
  output?: SchemaSource<Output>
}

/**
 * The result of a call: what the output schema says or, without one, what `execute` returns, or what it yields joined.
 */
export type ResultOf<Output, Returned> = unknown extends Output ? ValueOf<Returned> : Output

type ValueOf<Returned> =
  Returned extends AsyncGenerator<infer Chunk, infer Value>
    ? void extends Value
      ? [Chunk] extends [string]
        ? string
        : Chunk[]
      : Value
    : Awaited<Returned>

/**
 * A tool with all defaults filled in. Made by `defineTool` and the adapters; see `ToolSpec` for what the fields mean.
 */
export interface Tool {
  readonly name: string
  readonly description: string
  /** The description without the text of `describe`, for tools that have one. */
  readonly definition?: string
  readonly group: string
  readonly title?: string
  readonly category: ToolCategory
  readonly effect?: Effect
  readonly kind: ToolKind
  readonly exposedAs?: ExposedAs
  readonly questionTool?: string
  readonly wireName?: string
  readonly quarantine?: string
  readonly mcp?: McpToolDefinition
  readonly namedPaths?: NamedPathOptions
  readonly input: Schema
  readonly output?: Schema
  readonly permission: Permission
  readonly version: string
  readonly author: string
  readonly tags: readonly string[]
  readonly timeoutMs?: number | null
  readonly idempotent: boolean
  readonly destructive?: boolean
  readonly exclusive: boolean
  readonly fallback?: readonly Fallback[]
  readonly dependsOn?: readonly string[]
  readonly cache?: boolean | { readonly ttlMs: number }
  readonly durability?: "power"
  touches?(input: unknown, session?: CallSession): readonly Touch[]
  secretFields?(input: unknown, session?: CallSession): readonly string[] | Promise<readonly string[]>
  onlyReads?(input: unknown): boolean
  preview?(input: unknown, session?: CallSession): string | Preview | Promise<string | Preview>
  question?(input: unknown): Question
  execute(input: unknown, context: ToolContext): unknown
}

/**
 * A tool that knows the types of its input and result, as `defineTool` returns it. `call` with the tool itself in place
 * of its name is typed.
 */
export interface TypedTool<Input, Output> extends Tool {
  /** Only for the compiler; there is no such field. */
  readonly "~types"?: { readonly input: Input; readonly output: Output }
}

/** A tool in the registry. Its `id` is `layer:name@version`, for example `system:read_file@1.0.0`. */
export interface RegisteredTool extends Tool {
  readonly id: string
  readonly type: ToolType
  readonly layer: Layer
  readonly enabled: boolean
  /** The tools in `dependsOn` that are not registered yet. While there are any, the tool is disabled. */
  readonly missingDependencies?: readonly string[]
  /** The sources of the fields of `permission` in the configuration. Other fields come from the tool itself. */
  readonly permissionSources?: PermissionSources
  /** SHA-256 of what an approver approves: id, name, version, description, schemas, effect, permission. */
  readonly definitionHash: string
  /** For a tool that covers tools of the same name in other layers: itself and them, each as it was registered. */
  readonly sameNameTools?: readonly RegisteredTool[]
}
