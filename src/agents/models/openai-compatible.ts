import { limitedFetch } from "./limited-fetch.ts"
import { loadPackage } from "./load-package.ts"
import type { Adapter } from "./provider.ts"
import { imagesAfterResults, streamV3, type V3Model } from "./v3.ts"

/** Models behind OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, DeepSeek, Qwen. */
export const openAICompatible: Adapter = ({ name, modelId, baseUrl = "", key }) => {
  let model: V3Model | undefined
  const open = async () => {
    const apiKey = key()?.value
    const { createOpenAICompatible } = await loadPackage("openai-compatible", () => import("@ai-sdk/openai-compatible"))
    return (model ??= createOpenAICompatible({
      name: "openaiCompatible",
      baseURL: baseUrl,
      includeUsage: true,
      fetch: limitedFetch(name),
      ...(apiKey ? { apiKey } : {}),
    }).chatModel(modelId))
  }
  return streamV3(open, () => ({ name, modelId, address: baseUrl, key: key() }), imagesAfterResults)
}
