import type { ResultImage } from "../../core/result-image.ts"
import type { JsonSchema } from "../../core/schema.ts"

/**
 * A language model. It answers one request with a stream of parts; `runTurn` adds retries and limits and reads the
 * parts. Its shape follows `LanguageModelV3` of the AI SDK.
 */
export interface LanguageModel {
  /** The name in the configuration. */
  readonly name: string
  readonly provider: string
  /** The provider's name of the model. */
  readonly modelId: string
  /** Limit of tokens of a request and its answer together. */
  readonly contextTokens?: number
  /** Money per million tokens. */
  readonly price?: ModelPrice
  /** Time limits in milliseconds. */
  readonly limits?: ModelLimits
  /** False: requests with tools are made without streaming, for servers that lose streamed calls. */
  readonly streamTools?: boolean
  /** True if it can look at the images in results. Left out: it gets their texts only. */
  readonly seesImages?: boolean
  /**
   * Throws, or yields an `error` part, when something goes wrong. `streaming: false` asks for the whole answer in one
   * response, which some servers get right when their stream is wrong.
   */
  stream(request: ModelRequest, options?: { streaming?: boolean }): AsyncIterable<ModelPart>
}

export interface ModelPrice {
  input: number
  output: number
  /** Input that the provider had in its cache (default: as `input`). */
  cachedInput?: number
  /** Input that the provider wrote into its cache (default: as `input`). */
  cacheWrite?: number
}

export interface ModelLimits {
  /** Until the first part of a streamed answer. */
  firstByteMs?: number
  /** The whole turn with its retries. */
  turnMs?: number
}

export interface ModelRequest {
  readonly messages: readonly ModelMessage[]
  readonly tools?: readonly ModelTool[]
  /** `none` forbids calls but leaves the tools in the request, as some providers require when there were calls before. */
  readonly toolChoice?: "auto" | "none"
  readonly maxOutputTokens?: number
  readonly signal?: AbortSignal
}

export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

export type ModelMessage =
  | { readonly role: "system"; readonly content: string }
  /** Images are for models that see. */
  | { readonly role: "user"; readonly content: string; readonly images?: readonly ResultImage[] }
  | { readonly role: "assistant"; readonly content: readonly AssistantPart[] }
  | { readonly role: "tool"; readonly content: readonly ToolResultPart[] }

/** A part of a model's answer, in its order. Goes back to the model in the next request as it is. */
export type AssistantPart =
  | { readonly type: "text"; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | { readonly type: "reasoning"; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | {
      readonly type: "tool-call"
      readonly id: string
      readonly name: string
      readonly input: Readonly<Record<string, unknown>>
      readonly providerMetadata?: ProviderMetadata
    }

export interface ToolResultPart {
  readonly type: "tool-result"
  /** The id of the call. */
  readonly id: string
  readonly name: string
  readonly output: string
  /** For models that see images. */
  readonly image?: ResultImage
  readonly isError?: boolean
}

/** Data only the provider understands, for example the signature of a thought. Store it and send it back unchanged. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** A piece of an answer. Pieces of one text or thought have the same `block`. */
export type ModelPart =
  | { type: "text"; block: string; text: string; providerMetadata?: ProviderMetadata }
  | { type: "reasoning"; block: string; text: string; providerMetadata?: ProviderMetadata }
  /** The model has begun to write a call; only for display. */
  | { type: "tool-call-start"; id: string; name: string }
  /** A call with its arguments as the model wrote them, which need not be JSON. */
  | { type: "tool-call"; id: string; name: string; input: string; providerMetadata?: ProviderMetadata }
  | { type: "usage"; usage: ModelUsage }
  | { type: "finish"; reason: FinishReason }
  | { type: "error"; error: unknown }

export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other"

export interface ModelUsage {
  inputTokens: number
  outputTokens: number
  /** The number of input tokens that the provider had in its cache. */
  cachedTokens?: number
  /** The number of input tokens that the provider wrote into its cache. */
  cacheWriteTokens?: number
  /** True if the provider reported none and the numbers are a guess from the length of the texts. */
  estimated?: boolean
}

/** One complete answer of a model. */
export interface ModelTurn {
  text: string
  reasoning: string
  calls: ModelCall[]
  /** The answer as the content of the assistant message that goes back to the model. */
  content: AssistantPart[]
  /** True if the model wrote a call as text instead of making it. Answer with a hint. */
  describedCall: boolean
  finishReason: FinishReason
  usage: ModelUsage
  /** In the money of the model's `price`; undefined if it has none. */
  cost?: number
  /** The number of times the request was repeated. */
  retries: number
}

/** A call to make, or one that cannot be made: answer it with what is wrong. */
export type ModelCall = { id: string; name: string } & (
  | { input: Record<string, unknown>; malformed?: undefined }
  | { input?: undefined; malformed: { text: string; sentence: string } }
)
