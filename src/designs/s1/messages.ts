import type { AssistantPart, LanguageModel, ModelMessage, ModelPart, ModelTurn } from "../../agents/models/port.ts"
import type { ToolDefinition } from "../../registry/groups.ts"

/** A tool call as OpenAI writes it. */
export interface ToolCallResponse {
  id: string
  type?: "function"
  function: { name: string; arguments: string }
}

/** A message as OpenAI writes it. */
export interface Message {
  role: "system" | "user" | "assistant" | "tool"
  content: string
  reasoning_content?: string
  tool_calls?: readonly ToolCallResponse[]
  tool_call_id?: string
}

/** An answer of a model. */
export interface CompletionResponse {
  content: string
  reasoning_content?: string
  tool_calls?: readonly ToolCallResponse[]
  usage?: { prompt_tokens: number; completion_tokens: number }
}

/** S1's interface to a model: messages in, one whole answer out. */
export type Complete = (
  messages: readonly Message[],
  options: { tools: readonly ToolDefinition[]; signal: AbortSignal | undefined },
) => CompletionResponse | Promise<CompletionResponse>

/** A model of ours that asks a function of S1. `isLimited`: it is given no tools any more. */
export function modelFrom(complete: Complete, isLimited: () => boolean): LanguageModel {
  return {
    name: "complete",
    provider: "host",
    modelId: "complete",
    async *stream({ messages, tools = [], toolChoice, signal }) {
      const offered = toolChoice === "none" || isLimited() ? [] : tools
      const definitions = offered.map(({ name, description, inputSchema }): ToolDefinition => {
        return { type: "function", function: { name, description, parameters: inputSchema } }
      })
      yield* partsOf(await complete(messages.flatMap(messagesFrom), { tools: definitions, signal }))
    },
  }
}

/** The model, with an answer that it has given already. */
export function withFirstAnswer(model: LanguageModel, first: CompletionResponse): LanguageModel {
  let isFirst = true
  return {
    ...model,
    async *stream(request, options) {
      if (!isFirst) return yield* model.stream(request, options)
      isFirst = false
      yield* partsOf(first)
    },
  }
}

function* partsOf({ content, reasoning_content, tool_calls = [], usage }: CompletionResponse): Iterable<ModelPart> {
  if (reasoning_content) yield { type: "reasoning", block: "reasoning", text: reasoning_content }
  if (content) yield { type: "text", block: "text", text: content }
  for (const { id, function: called } of tool_calls)
    yield { type: "tool-call", id, name: called.name, input: called.arguments }
  if (usage !== undefined)
    yield { type: "usage", usage: { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens } }
  yield { type: "finish", reason: tool_calls.length > 0 ? "tool-calls" : "stop" }
}

/** Returns a model's answer, as S1 writes it. */
export function responseOf({ content, usage }: ModelTurn): CompletionResponse {
  const { role: _role, ...answer } = assistantMessage(content)
  return { ...answer, usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens } }
}

/** A message of ours as OpenAI writes it: each result is a message of its own. */
export function messagesFrom(message: ModelMessage): Message[] {
  if (message.role === "assistant") return [assistantMessage(message.content)]
  if (message.role !== "tool") return [{ role: message.role, content: message.content }]
  return message.content.map(({ id, output }) => ({ role: "tool", content: output, tool_call_id: id }))
}

function assistantMessage(parts: readonly AssistantPart[]): Message {
  const textOf = (type: "text" | "reasoning") => parts.map((part) => (part.type === type ? part.text : "")).join("")
  const calls = parts.flatMap((part): ToolCallResponse[] =>
    part.type === "tool-call"
      ? [{ id: part.id, type: "function", function: { name: part.name, arguments: JSON.stringify(part.input) } }]
      : [],
  )
  const reasoning = textOf("reasoning")
  return {
    role: "assistant",
    content: textOf("text"),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

/** Messages of OpenAI as ours. */
export function messagesTo(messages: readonly Message[]): ModelMessage[] {
  const names = new Map(
    messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function.name])),
  )
  return messages.map((message): ModelMessage => {
    const { role, content } = message
    if (role === "assistant") return { role, content: assistantParts(message) }
    if (role !== "tool") return { role, content }
    const id = message.tool_call_id ?? ""
    return { role, content: [{ type: "tool-result", id, name: names.get(id) ?? "", output: content }] }
  })
}

function assistantParts({ content, reasoning_content, tool_calls = [] }: Message): AssistantPart[] {
  return [
    ...(reasoning_content ? [{ type: "reasoning" as const, text: reasoning_content }] : []),
    ...(content === "" ? [] : [{ type: "text" as const, text: content }]),
    ...tool_calls.map(({ id, function: { name, arguments: input } }) => {
      return { type: "tool-call" as const, id, name, input: JSON.parse(input) as Record<string, unknown> }
    }),
  ]
}
