import { isJsonTooDeep } from "../../lib/json-depth.ts"
import { describesCall } from "./described-call.ts"
import type {
  AssistantPart,
  FinishReason,
  ModelCall,
  ModelPart,
  ModelRequest,
  ModelUsage,
  ProviderMetadata,
} from "./port.ts"

/** The reading of the parts of one answer. */
export type TurnReading =
  | ({ kind: "turn" } & ReadTurn)
  /** The model announced calls and the stream lost them: the same request without streaming. */
  | { kind: "lost-calls" }
  /** The answer did not end as it should. Nothing of it counts. `error` is what went wrong, if something was reported. */
  | { kind: "broken"; error?: unknown }

export interface ReadTurn {
  text: string
  reasoning: string
  calls: ModelCall[]
  content: AssistantPart[]
  describedCall: boolean
  finishReason: FinishReason
  usage: ModelUsage | undefined
}

/**
 * Reads the parts of one answer.
 * - Calls are made because call parts came, whatever the finish reason says.
 * - Nothing counts before a clean finish: a stream that was cut or reported an error has no calls.
 * - Arguments that are not a JSON object make a call malformed. They are never repaired. No arguments are `{}`.
 * - A missing id, or one that was used before, is replaced by one that follows from the place of the call.
 */
export function readTurn(
  parts: readonly ModelPart[],
  { messages, tools = [] }: Pick<ModelRequest, "messages" | "tools">,
): TurnReading {
  const finish = parts.findLast((part) => part.type === "finish")
  const failure = parts.find((part) => part.type === "error")
  const written = parts.filter((part) => part.type === "tool-call")
  const isAnnounced = finish?.reason === "tool-calls"
  if (isAnnounced && (failure !== undefined || written.length === 0)) return { kind: "lost-calls" }
  if (failure !== undefined) return { kind: "broken", error: failure.error }
  if (finish === undefined || finish.reason === "error") return { kind: "broken" }
  const isCut = finish.reason === "length" || finish.reason === "content-filter"
  const calls = readCalls(written, messages, isCut)
  const content = contentOf(parts, calls)
  const text = textOf(content, "text")
  return {
    kind: "turn",
    text,
    reasoning: textOf(content, "reasoning"),
    calls,
    content,
    describedCall:
      calls.length === 0 &&
      describesCall(
        text,
        tools.map(({ name }) => name),
      ),
    finishReason: finish.reason,
    usage: reportedUsage(parts),
  }
}

/** Some servers report 0 instead of nothing; no request has 0 tokens. */
function reportedUsage(parts: readonly ModelPart[]): ModelUsage | undefined {
  const usage = parts.findLast((part) => part.type === "usage")?.usage
  return usage !== undefined && usage.inputTokens > 0 ? usage : undefined
}

/** The calls of an answer. Of one that was cut off the last call is not whole. */
function readCalls(
  written: readonly (ModelPart & { type: "tool-call" })[],
  messages: ModelRequest["messages"],
  isCut: boolean,
): ModelCall[] {
  if (written.length === 0) return []
  const ids = freshIds(messages)
  return written.map(({ id, name, input }, index) => {
    const read = readArguments(input, isCut && index === written.length - 1)
    return { id: ids(id, index), name, ...read }
  })
}

/** The arguments of a call, or what is wrong with them. `isCut` is the last call of an answer that was cut off. */
function readArguments(text: string, isCut: boolean): Pick<ModelCall, "input" | "malformed"> & ArgumentsOrProblem {
  const cut = "The answer was cut off in the middle of the arguments. Make the call again with shorter arguments."
  if (text.trim() === "") return isCut ? { malformed: { text, sentence: cut } } : { input: {} }
  if (isJsonTooDeep(text))
    return { malformed: { text, sentence: "The arguments are nested too deeply. Use fewer levels." } }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const sentence = `The arguments are not valid JSON: ${(error as Error).message}. Make the call again with a JSON object.`
    return { malformed: { text, sentence: isCut ? cut : sentence } }
  }
  if (value === null) return { input: {} }
  if (typeof value === "object" && !Array.isArray(value)) return { input: value as Record<string, unknown> }
  return {
    malformed: { text, sentence: "The arguments are not a JSON object. Make the call again with a JSON object." },
  }
}

type ArgumentsOrProblem =
  | { input: Record<string, unknown>; malformed?: undefined }
  | { input?: undefined; malformed: { text: string; sentence: string } }

/** Gives ids that no other call of the conversation has. */
function freshIds(messages: ModelRequest["messages"]): (id: string, index: number) => string {
  const used = new Set<string>()
  for (const message of messages)
    if (message.role === "assistant")
      for (const part of message.content) if (part.type === "tool-call") used.add(part.id)
  const place = messages.length
  return (id, index) => {
    let own = id
    // After a summary an earlier answer may have had the same place.
    for (let next = index; !/^[\w.:-]{1,64}$/.test(own) || used.has(own); next++) own = `call_${place}_${next}`
    used.add(own)
    return own
  }
}

/** The blocks and calls in the order in which they began. A malformed call has no arguments: providers refuse anything but objects. */
function contentOf(parts: readonly ModelPart[], calls: readonly ModelCall[]): AssistantPart[] {
  const blocks = new Map<string, { type: "text" | "reasoning"; text: string; providerMetadata?: ProviderMetadata }>()
  const content: AssistantPart[] = []
  let made = 0
  for (const part of parts) {
    if (part.type === "text" || part.type === "reasoning") {
      const key = `${part.type} ${part.block}`
      const known = blocks.get(key)
      const block = known ?? { type: part.type, text: "" }
      block.text += part.text
      if (part.providerMetadata !== undefined)
        block.providerMetadata = mergeMetadata(block.providerMetadata, part.providerMetadata)
      if (known !== undefined) continue
      blocks.set(key, block)
      content.push(block)
    } else if (part.type === "tool-call") {
      const { id, name, input = {} } = calls[made++]!
      content.push({
        type: "tool-call",
        id,
        name,
        input,
        ...(part.providerMetadata && { providerMetadata: part.providerMetadata }),
      })
    }
  }
  return content.filter((part) => part.type === "tool-call" || part.text !== "" || part.providerMetadata !== undefined)
}

function mergeMetadata(before: ProviderMetadata = {}, now: ProviderMetadata): ProviderMetadata {
  const merged = Object.entries(now).map(([provider, data]) => [provider, { ...before[provider], ...data }] as const)
  return { ...before, ...Object.fromEntries(merged) }
}

function textOf(content: readonly AssistantPart[], type: "text" | "reasoning"): string {
  const separator = type === "text" ? "" : "\n"
  let text = ""
  for (const part of content)
    if (part.type === type && part.text !== "") text += text === "" ? part.text : separator + part.text
  return text
}
