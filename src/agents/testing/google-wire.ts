import { inPieces } from "./in-pieces.ts"
import type { Reply } from "./model-server.ts"

/** A reply as one object of Gemini's API. */
export function googleAnswer(reply: Reply): unknown {
  return chunkOf(partsOf(reply), reply)
}

/** A reply as the chunks of Gemini's stream, in which every call comes whole. */
export function googleEvents(reply: Reply): unknown[] {
  const parts = partsOf(reply)
  return parts.map((part, index) => chunkOf([part], index === parts.length - 1 ? reply : undefined))
}

function partsOf({ text, reasoning, calls = [], pieces }: Reply): unknown[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : inPieces(text, pieces).map((piece) => ({ text: piece }))),
    ...calls.map(({ name, arguments: args }) => ({ functionCall: { name, args }, thoughtSignature: "c2lnbmVk" })),
  ]
}

function chunkOf(parts: unknown[], last: Reply | undefined): unknown {
  const candidate = { index: 0, content: { role: "model", parts } }
  if (last === undefined) return { candidates: [candidate] }
  const { finish = "STOP", usage = { input: 10, output: 5 } } = last
  if (usage === null) return { candidates: [{ ...candidate, finishReason: finish }] }
  const { input, output, cached } = usage
  return {
    candidates: [{ ...candidate, finishReason: finish }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
      ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    },
  }
}
