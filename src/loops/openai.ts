import { makeCalls, narrowing, type LoopApp, type LoopOptions } from "./governed-calls.ts"

export type { LoopOptions } from "./governed-calls.ts"

/** A tool as chat completions take it. */
export interface OpenAITool {
  type: "function"
  function: { name: string; description: string; parameters: Record<string, unknown> }
}

/** An answer of chat completions, as far as its calls go. */
export interface OpenAIMessage {
  tool_calls?: readonly OpenAIToolCall[] | null | undefined
}

interface OpenAIToolCall {
  id: string
  function?: { name: string; arguments: string } | undefined
  custom?: { name: string; input: string } | undefined
}

/** An answer of the Responses API, as far as its calls go. */
export interface OpenAIResponse {
  output: readonly { type: string; call_id?: unknown; name?: unknown; arguments?: unknown }[]
}

export interface ToolMessage {
  role: "tool"
  tool_call_id: string
  content: string
}

export interface FunctionCallOutput {
  type: "function_call_output"
  call_id: string
  output: string
}

type RunOptions = Omit<LoopOptions, "groups" | "tools"> & { signal?: AbortSignal | undefined }

/**
 * The tools of an agent for OpenAI's chat completions. For the Responses API take
 * `app.toolsFor(agentId, { format: "openai-responses" })`.
 */
export function governedTools(app: LoopApp, agentId: string, options: LoopOptions = {}): OpenAITool[] {
  return app.toolsFor(agentId, { format: "openai", ...narrowing(options) })
}

/**
 * Makes the calls of an answer and returns the messages to append; none when it made no calls. With an answer of the
 * Responses API, the items for the next input.
 *
 * ```ts
 * const { message } = (await client.chat.completions.create({ model, messages, tools })).choices[0]
 * messages.push(message, ...(await runToolCalls(app, "dev", message)))
 * ```
 */
export function runToolCalls(
  app: LoopApp,
  agentId: string,
  message: OpenAIMessage,
  options?: RunOptions,
): Promise<ToolMessage[]>
export function runToolCalls(
  app: LoopApp,
  agentId: string,
  response: OpenAIResponse,
  options?: RunOptions,
): Promise<FunctionCallOutput[]>
export async function runToolCalls(
  app: LoopApp,
  agentId: string,
  answer: OpenAIMessage | OpenAIResponse,
  options: RunOptions = {},
): Promise<(ToolMessage | FunctionCallOutput)[]> {
  const isResponse = "output" in answer
  const { signal } = options
  const calls = (isResponse ? callsOfResponse(answer) : callsOfMessage(answer)).map((call) => ({ ...call, signal }))
  const answers = await makeCalls(app, agentId, calls, options)
  return answers.map(({ text }, place) => {
    const { id } = calls[place]!
    return isResponse
      ? { type: "function_call_output", call_id: id, output: text }
      : { role: "tool", tool_call_id: id, content: text }
  })
}

function callsOfMessage({ tool_calls }: OpenAIMessage) {
  return (tool_calls ?? []).map(({ id, function: called, custom }) => ({
    id,
    name: called?.name ?? custom?.name ?? "",
    input: called?.arguments ?? custom?.input ?? "",
  }))
}

function callsOfResponse({ output }: OpenAIResponse) {
  return output
    .filter(({ type }) => type === "function_call")
    .map(({ call_id, name, arguments: input }) => ({ id: String(call_id), name: String(name), input }))
}
