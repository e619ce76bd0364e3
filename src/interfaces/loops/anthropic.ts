import {
  governedToolList,
  makeCalls,
  narrowing,
  type LoopAnswer,
  type LoopApp,
  type LoopOptions,
} from "./governed-calls.ts"

export type { LoopOptions } from "./governed-calls.ts"

/** A tool as Anthropic's messages take it. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: "object"; [key: string]: unknown }
}

/** A tool that the SDK's `toolRunner` calls by itself. */
export interface AnthropicRunnableTool extends AnthropicTool {
  /** Throws when the call is refused, fails or still waits: the runner makes a result with `is_error` of that. */
  run(input: unknown, context?: { signal?: AbortSignal | null }): Promise<AnthropicContent>
  parse(input: unknown): unknown
}

/** An answer of Anthropic's messages, as far as its calls go. */
export interface AnthropicMessage {
  content: readonly { type: string; id?: unknown; name?: unknown; input?: unknown }[]
}

/** The user's turn with the results of all calls. */
export interface ToolResultMessage {
  role: "user"
  content: { type: "tool_result"; tool_use_id: string; content: AnthropicContent; is_error: boolean }[]
}

/** The text for the model; with its image, unless `images` is false. */
export type AnthropicContent = string | AnthropicBlock[]

type AnthropicBlock =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: ImageType; data: string } }

type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp"

type RunOptions = Omit<LoopOptions, "groups" | "tools"> & { signal?: AbortSignal }

/** The tools of an agent for Anthropic's messages. */
export function governedTools(app: LoopApp, agentId: string, options: LoopOptions = {}): AnthropicTool[] {
  return app
    .toolsFor(agentId, { format: "anthropic", ...narrowing(options) })
    .map((tool) => ({ ...tool, input_schema: { ...tool.input_schema, type: "object" } }))
}

/**
 * The tools of an agent for the SDK's own loop.
 *
 * ```ts
 * const tools = runnableTools(app, "dev")
 * const message = await client.beta.messages.toolRunner({ model, max_tokens, messages, tools })
 * ```
 */
export function runnableTools(app: LoopApp, agentId: string, options: LoopOptions = {}): AnthropicRunnableTool[] {
  const tools = governedToolList(app, agentId, { ...options, images: options.images ?? true })
  return tools.map(({ name, description, inputSchema, call }) => ({
    name,
    description,
    input_schema: { ...inputSchema, type: "object" },
    async run(input, context) {
      const answer = await call(input, context?.signal ?? undefined)
      if (answer.isError) throw new Error(answer.text)
      return contentOf(answer)
    },
    // Quartermaster checks the input, so that a refused call is in the audit log.
    parse: (input) => input,
  }))
}

/**
 * Makes the calls of an answer and returns the messages to append: one with all results, or none when it made no calls.
 *
 * ```ts
 * const message = await client.messages.create({ model, max_tokens, messages, tools })
 * messages.push({ role: "assistant", content: message.content }, ...(await runToolCalls(app, "dev", message)))
 * ```
 */
export async function runToolCalls(
  app: LoopApp,
  agentId: string,
  { content }: AnthropicMessage,
  options: RunOptions = {},
): Promise<ToolResultMessage[]> {
  const calls = content
    .filter(({ type }) => type === "tool_use")
    .map(({ id, name, input }) => ({ id: String(id), name: String(name), input, signal: options.signal }))
  if (calls.length === 0) return []
  const answers = await makeCalls(app, agentId, calls, { ...options, images: options.images ?? true })
  const blocks = answers.map((answer, place) => ({
    type: "tool_result" as const,
    tool_use_id: calls[place]!.id,
    content: contentOf(answer),
    is_error: answer.isError,
  }))
  return [{ role: "user", content: blocks }]
}

function contentOf({ text, image }: LoopAnswer): AnthropicContent {
  if (image === undefined) return text
  const { mimeType, data } = image
  return [
    { type: "text", text },
    { type: "image", source: { type: "base64", media_type: mimeType as ImageType, data } },
  ]
}
