import type { ModelMessage, ModelPrice, ModelRequest, ModelUsage } from "./port.ts"

/** Returns the cost of a turn, in the money of the price. */
export function costOf(usage: ModelUsage, price: ModelPrice): number {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage
  const { input, output, cachedInput = input, cacheWrite = input } = price
  const plain = (inputTokens - cachedTokens - cacheWriteTokens) * input
  return (plain + cachedTokens * cachedInput + cacheWriteTokens * cacheWrite + outputTokens * output) / 1_000_000
}

export function addUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  const cachedTokens = (one.cachedTokens ?? 0) + (other.cachedTokens ?? 0)
  const cacheWriteTokens = (one.cacheWriteTokens ?? 0) + (other.cacheWriteTokens ?? 0)
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cachedTokens === 0 ? {} : { cachedTokens }),
    ...(cacheWriteTokens === 0 ? {} : { cacheWriteTokens }),
    ...(one.estimated || other.estimated ? { estimated: true } : {}),
  }
}

/** A guess for servers that report no usage, so that budgets hold there too: four bytes are about a token. */
export function estimateUsage(request: ModelRequest, { content }: { content: readonly object[] }): ModelUsage {
  const asked = request.messages.reduce((sum, message) => sum + lengthOf(message), lengthOf(request.tools ?? []))
  return { inputTokens: Math.ceil(asked / 4), outputTokens: Math.ceil(lengthOf(content) / 4), estimated: true }
}

function lengthOf(value: ModelMessage | readonly object[]): number {
  if (Array.isArray(value)) return lengthOfParts(value as readonly object[])
  const message = value as ModelMessage
  const images = message.role === "user" ? (message.images ?? []).length * lengthOfImage : 0
  const { content } = message
  return (
    images + (typeof content === "string" ? Buffer.byteLength(content) : lengthOfParts(content as readonly object[]))
  )
}

/** Providers count about 1,500 tokens for the picture of a page, however many bytes it has. */
const lengthOfImage = 6000

/** The length of parts of a message in bytes. An image counts as much as a text of that many tokens. */
export function lengthOfParts(parts: readonly { image?: unknown }[]): number {
  const images = parts.filter(({ image }) => image !== undefined).length
  const texts = images === 0 ? parts : parts.map((part) => ({ ...part, image: undefined }))
  return Buffer.byteLength(JSON.stringify(texts)) + images * lengthOfImage
}
