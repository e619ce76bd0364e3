import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible"
import type { ResultImage } from "../../core/result-image.ts"
import { explainError, malformedCall, type Server } from "./explain-error.ts"
import type {
  AssistantPart,
  FinishReason,
  LanguageModel,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelUsage,
  ProviderMetadata,
  ToolResultPart,
} from "./port.ts"

/** A model of the AI SDK. */
export type V3Model = ReturnType<OpenAICompatibleProvider["chatModel"]>
type V3Options = Parameters<V3Model["doStream"]>[0]
export type V3Message = V3Options["prompt"][number]
type V3File = Extract<Extract<V3Message, { role: "user" }>["content"][number], { type: "file" }>
type V3Output = Extract<Extract<V3Message, { role: "tool" }>["content"][number], { type: "tool-result" }>["output"]
type V3Metadata = NonNullable<V3Message["providerOptions"]>
type V3Result = Awaited<ReturnType<V3Model["doGenerate"]>>
type V3Part = Awaited<ReturnType<V3Model["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never

/** Streams an answer of an AI SDK model as our parts. `open` loads the provider's package when it is first used. */
export function streamV3(
  open: () => Promise<V3Model>,
  server: () => Server,
  adapt: (prompt: V3Message[]) => V3Message[] = (prompt) => prompt,
): LanguageModel["stream"] {
  return async function* (request, { streaming = true } = {}) {
    const at = () => ({ ...server(), tools: (request.tools ?? []).map(({ name }) => name) })
    try {
      const model = await open()
      const options = toOptions(request, adapt)
      if (streaming) {
        const { stream } = await model.doStream(options)
        for await (const part of stream) yield* ofPart(part, at)
      } else yield* ofResult(await model.doGenerate(options), at())
    } catch (thrown) {
      throw explainError(thrown, at())
    }
  }
}

function toOptions(
  { messages, tools = [], toolChoice, maxOutputTokens, signal }: ModelRequest,
  adapt: (prompt: V3Message[]) => V3Message[],
): V3Options {
  return {
    prompt: adapt(messages.filter(hasContent).map(toMessage)),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(signal === undefined ? {} : { abortSignal: signal }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: "function",
            name,
            description,
            inputSchema,
          })),
          ...(toolChoice === "none" ? { toolChoice: { type: "none" as const } } : {}),
        }),
  }
}

function toMessage(message: ModelMessage): V3Message {
  switch (message.role) {
    case "system":
      return message
    case "user":
      return { role: "user", content: [{ type: "text", text: message.content }, ...(message.images ?? []).map(toFile)] }
    case "assistant":
      return { role: "assistant", content: message.content.filter(isSendable).map(toAssistantPart) }
    case "tool":
      return {
        role: "tool",
        content: message.content.map((part) => ({
          type: "tool-result",
          toolCallId: part.id,
          toolName: sendableName(part.name),
          output: toOutput(part),
        })),
      }
  }
}

function toFile({ mimeType, data }: ResultImage): V3File {
  return { type: "file", data, mediaType: mimeType }
}

function toOutput({ output, isError, image }: ToolResultPart): V3Output {
  if (image === undefined) return { type: isError === true ? "error-text" : "text", value: output }
  const { mimeType: mediaType, data } = image
  return {
    type: "content",
    value: [
      { type: "text", text: output },
      { type: "image-data", data, mediaType },
    ],
  }
}

/** Moves images out of results into a message after them, for servers whose results are only text. */
export function imagesAfterResults(prompt: readonly V3Message[]): V3Message[] {
  return prompt.flatMap((message): V3Message[] => {
    if (message.role !== "tool") return [message]
    const images: V3File[] = []
    const content = message.content.map((part) => {
      if (part.type !== "tool-result" || part.output.type !== "content") return part
      let text = ""
      for (const each of part.output.value) {
        if (each.type === "text") text += each.text
        if (each.type === "image-data") images.push({ type: "file", data: each.data, mediaType: each.mediaType })
      }
      return { ...part, output: { type: "text" as const, value: text } }
    })
    if (images.length === 0) return [message]
    const about = images.length === 1 ? "The image of the result above:" : "The images of the results above:"
    return [
      { ...message, content },
      { role: "user", content: [{ type: "text", text: about }, ...images] },
    ]
  })
}

/** Providers refuse empty texts, and Anthropic those of spaces only. */
function isSendable(part: AssistantPart): boolean {
  return part.type !== "text" || part.text.trim() !== ""
}

function hasContent(message: ModelMessage): boolean {
  return message.role !== "assistant" || message.content.some(isSendable)
}

function toAssistantPart({ providerMetadata, ...part }: AssistantPart) {
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata as V3Metadata }
  if (part.type !== "tool-call") return { ...part, ...options }
  return { type: part.type, toolCallId: part.id, toolName: sendableName(part.name), input: part.input, ...options }
}

/** Models invent names such as `multi_tool_use.parallel`. Providers refuse every later request that has one. */
function sendableName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "_"
}

function* ofPart(part: V3Part, server: () => Server): Iterable<ModelPart> {
  switch (part.type) {
    case "text-delta":
    case "reasoning-delta": {
      const type = part.type === "text-delta" ? "text" : "reasoning"
      yield { type, block: part.id, text: part.delta, ...metadata(part) }
      break
    }
    case "text-start":
    case "text-end":
    case "reasoning-start":
    case "reasoning-end": {
      // Only the data of the provider is of interest: signatures, redacted thoughts.
      const type = part.type.startsWith("text") ? "text" : "reasoning"
      if (part.providerMetadata !== undefined) yield { type, block: part.id, text: "", ...metadata(part) }
      break
    }
    case "tool-input-start":
      yield { type: "tool-call-start", id: part.id, name: part.toolName }
      break
    case "tool-call":
      yield { type: "tool-call", id: part.toolCallId, name: part.toolName, input: part.input, ...metadata(part) }
      break
    case "finish":
      yield* ofUsage(part)
      // Google's adapter reports a finish also when the stream ended early: then without a reason.
      if (part.finishReason.raw !== undefined || part.finishReason.unified !== "other") yield* ofFinish(part, server())
      break
    case "error":
      yield { type: "error", error: explainError(part.error, server()) }
  }
}

function* ofResult(result: V3Result, server: Server): Iterable<ModelPart> {
  for (const [index, part] of result.content.entries()) {
    if (part.type === "text" || part.type === "reasoning")
      yield { type: part.type, block: String(index), text: part.text, ...metadata(part) }
    if (part.type === "tool-call")
      yield { type: "tool-call", id: part.toolCallId, name: part.toolName, input: part.input, ...metadata(part) }
  }
  yield* ofUsage(result)
  yield* ofFinish(result, server)
}

function* ofUsage({ usage }: Pick<V3Result, "usage">): Iterable<ModelPart> {
  const { inputTokens: input, outputTokens: output } = usage
  if (input.total !== undefined && output.total !== undefined) {
    const counted: ModelUsage = { inputTokens: input.total, outputTokens: output.total }
    if (input.cacheRead) counted.cachedTokens = input.cacheRead
    if (input.cacheWrite) counted.cacheWriteTokens = input.cacheWrite
    yield { type: "usage", usage: counted }
  }
}

function* ofFinish({ finishReason }: Pick<V3Result, "finishReason">, server: Server): Iterable<ModelPart> {
  if (finishReason.raw === "MALFORMED_FUNCTION_CALL") yield { type: "error", error: malformedCall(server) }
  yield { type: "finish", reason: finishReason.unified satisfies FinishReason }
}

function metadata({ providerMetadata }: { providerMetadata?: unknown }): { providerMetadata?: ProviderMetadata } {
  return providerMetadata === undefined ? {} : { providerMetadata: providerMetadata as ProviderMetadata }
}
