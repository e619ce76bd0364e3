import { limitedFetch } from "./limited-fetch.ts"
import { loadPackage } from "./load-package.ts"
import type { Adapter } from "./provider.ts"
import { streamV3, type V3Model } from "./v3.ts"

const ownAddress = "https://generativelanguage.googleapis.com/v1beta"

/** Google's Gemini models. Signatures of thoughts go back with the calls they belong to. */
export const google: Adapter = ({ name, modelId, baseUrl = ownAddress, key }) => {
  let model: V3Model | undefined
  const open = async () => {
    const apiKey = key()?.value ?? ""
    const { createGoogleGenerativeAI } = await loadPackage("google", () => import("@ai-sdk/google"))
    const provider = createGoogleGenerativeAI({ baseURL: baseUrl, apiKey, fetch: limitedFetch(name) })
    return (model ??= provider.languageModel(modelId))
  }
  return streamV3(open, () => ({ name, modelId, address: baseUrl, key: key() }))
}
