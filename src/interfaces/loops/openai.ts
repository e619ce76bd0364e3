import { dataUrl } from "../../core/result-image.ts"
import { makeCalls, narrowing, type LoopAnswer, type LoopApp, type LoopOptions } from "./governed-calls.ts"

export type { LoopOptions } from "./governed-calls.ts"

/** A tool as chat completions take it. */
export interface OpenAITool {
  type: "function"
  function: { name: string; description: string; parameters: Record<string, unknown> }
}

/** An answer of chat completions, as far as its calls go. */
export interface OpenAIMessage {
  tool_calls?: readonly OpenAIToolCall[] | null
}

interface OpenAIToolCall {
  id: string
  function?: { name: string; arguments: string }
  custom?: { name: string; input: string }
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
  output: string | OpenAIOutputPart[]
}

type OpenAIOutputPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }

/** The images of results, after the messages of all calls: those of chat completions are only text. */
export interface ImagesMessage {
  role: "user"
  content: ({ type: "text"; text: string } | { type: "image_url"; image_url: { url: string } })[]
}

type RunOptions = Omit<LoopOptions, "groups" | "tools"> & { signal?: AbortSignal }

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
  options?: RunOptions & { images?: false },
): Promise<ToolMessage[]>
export function runToolCalls(
  app: LoopApp,
  agentId: string,
  message: OpenAIMessage,
  options?: RunOptions,
): Promise<(ToolMessage | ImagesMessage)[]>
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
): Promise<(ToolMessage | ImagesMessage | FunctionCallOutput)[]> {
  const isResponse = "output" in answer
  const { signal } = options
  const calls = (isResponse ? callsOfResponse(answer) : callsOfMessage(answer)).map((call) => ({ ...call, signal }))
  const answers = await makeCalls(app, agentId, calls, options)
  if (isResponse) {
    return answers.map((each, place) => ({
      type: "function_call_output",
      call_id: calls[place]!.id,
      output: outputOf(each),
    }))
  }
  const messages = answers.map(({ text }, place): ToolMessage => ({
    role: "tool",
    tool_call_id: calls[place]!.id,
    content: text,
  }))
  return [...messages, ...imagesMessage(answers)]
}

function outputOf({ text, image }: LoopAnswer): FunctionCallOutput["output"] {
  if (image === undefined) return text
  return [
    { type: "input_text", text },
    { type: "input_image", image_url: dataUrl(image), detail: "auto" },
  ]
}

function imagesMessage(answers: readonly LoopAnswer[]): ImagesMessage[] {
  const urls = answers.flatMap(({ image }) => (image === undefined ? [] : [dataUrl(image)]))
  if (urls.length === 0) return []
  const text = urls.length === 1 ? "The image of the result above:" : "The images of the results above:"
  const images = urls.map((url) => ({ type: "image_url" as const, image_url: { url } }))
  return [{ role: "user", content: [{ type: "text", text }, ...images] }]
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
