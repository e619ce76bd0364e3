import { limitedFetch } from "./limited-fetch.ts"
import { loadPackage } from "./load-package.ts"
import type { Adapter } from "./provider.ts"
import { streamV3, type V3Message, type V3Model } from "./v3.ts"

const ownAddress = "https://api.anthropic.com/v1"

/** Anthropic's models. Signatures of thoughts go back with the messages they belong to. */
export const anthropic: Adapter = ({ name, modelId, baseUrl = ownAddress, key }) => {
  let model: V3Model | undefined
  const open = async () => {
    const apiKey = key()?.value ?? ""
    const { createAnthropic } = await loadPackage("anthropic", () => import("@ai-sdk/anthropic"))
    return (model ??= createAnthropic({ baseURL: baseUrl, apiKey, fetch: limitedFetch(name) }).languageModel(modelId))
  }
  return streamV3(
    open,
    () => ({ name, modelId, address: baseUrl, key: key() }),
    (prompt) => withCacheMarks(prompt.map(withOwnIds)),
  )
}

/** Anthropic caches up to the marked messages: the instructions, and what this conversation has so far. */
function withCacheMarks(prompt: V3Message[]): V3Message[] {
  const lastSystem = prompt.findLastIndex(({ role }) => role === "system")
  return prompt.map((message, index) =>
    index === lastSystem || index === prompt.length - 1
      ? { ...message, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
      : message,
  )
}

/** Anthropic refuses ids of calls that other providers give, such as `functions.look:0`. */
function withOwnIds(message: V3Message): V3Message {
  if (message.role === "assistant") return { ...message, content: message.content.map(withOwnId) }
  if (message.role === "tool") return { ...message, content: message.content.map(withOwnId) }
  return message
}

function withOwnId<Part extends object>(part: Part): Part {
  if (!("toolCallId" in part) || typeof part.toolCallId !== "string") return part
  // The code of each other character, so that two ids stay two.
  const id = part.toolCallId.replace(/[^\w-]/g, (other) => `_${other.charCodeAt(0).toString(16)}`)
  return { ...part, toolCallId: id }
}
