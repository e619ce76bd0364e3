import type { LanguageModel, ModelPart, ModelRequest } from "../models/port.ts"

/** One answer of a played model: what it says, and what it calls. */
export interface PlayedTurn {
  say?: string
  calls?: readonly { name: string; input?: unknown; id?: string }[]
  finish?: "stop" | "length" | "tool-calls" | "content-filter"
  usage?: { inputTokens: number; outputTokens: number }
}

/** A model that answers as a function of each request says, and remembers the requests. */
export function playedModel(
  answer: (request: ModelRequest, round: number) => PlayedTurn | Promise<PlayedTurn>,
  more: Partial<LanguageModel> = {},
): LanguageModel & { requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  return {
    name: "played",
    provider: "played",
    modelId: "played",
    requests,
    ...more,
    async *stream(request): AsyncIterable<ModelPart> {
      const round = requests.push(request) - 1
      const { say, calls = [], finish, usage } = await answer(request, round)
      if (say !== undefined) yield { type: "text", block: "1", text: say }
      for (const [place, { name, input, id }] of calls.entries()) {
        const text = typeof input === "string" ? input : JSON.stringify(input ?? {})
        yield { type: "tool-call", id: id ?? `${round}-${place}`, name, input: text }
      }
      yield { type: "usage", usage: usage ?? { inputTokens: 10, outputTokens: 5 } }
      yield { type: "finish", reason: finish ?? (calls.length > 0 ? "tool-calls" : "stop") }
    },
  }
}

/** A model that gives these answers one after the other, and the last one for ever. */
export function modelOf(...turns: PlayedTurn[]): ReturnType<typeof playedModel> {
  return playedModel((_request, round) => turns[Math.min(round, turns.length - 1)]!)
}
