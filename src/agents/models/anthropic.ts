import { limitedFetch } from "./limited-fetch.ts"
import { loadPackage } from "./load-package.ts"
import type { Adapter } from "./provider.ts"
import { streamV3, type V3Model } from "./v3.ts"

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
    // Anthropic caches up to the marked messages: the instructions, and what this conversation has so far.
    (prompt) => {
      const lastSystem = prompt.findLastIndex(({ role }) => role === "system")
      return prompt.map((message, index) =>
        index === lastSystem || index === prompt.length - 1
          ? { ...message, providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
          : message,
      )
    },
  )
}
