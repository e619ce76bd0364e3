import { argumentsText, inPieces } from "./in-pieces.ts"
import type { Reply } from "./model-server.ts"

/** A reply as one object of OpenAI's chat completions. */
export function openAIAnswer(reply: Reply): unknown {
  const { text, reasoning, calls = [] } = reply
  const message = {
    role: "assistant",
    content: text ?? null,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, arguments: given }) => ({
            ...(id === undefined ? {} : { id }),
            type: "function",
            function: { name, arguments: argumentsText(given) },
          })),
        }),
  }
  return { ...newHead(), choices: [{ index: 0, message, finish_reason: finishOf(reply) }], ...usageOf(reply) }
}

/** A reply as the chunks of OpenAI's stream. */
export function openAIEvents(reply: Reply): unknown[] {
  const { text = "", reasoning = "", calls = [], pieces } = reply
  const head = newHead()
  const chunk = (delta: unknown, finish: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  return [
    chunk({ role: "assistant", content: "" }),
    ...inPieces(reasoning, pieces).map((piece) => chunk({ reasoning_content: piece })),
    ...inPieces(text, pieces).map((piece) => chunk({ content: piece })),
    ...calls.flatMap(({ id, name, arguments: given }, index) => {
      const [first = "", ...rest] = inPieces(argumentsText(given), pieces)
      const start = {
        index,
        ...(id === undefined ? {} : { id }),
        type: "function",
        function: { name, arguments: first },
      }
      return [
        chunk({ tool_calls: [start] }),
        ...rest.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]
    }),
    chunk({}, finishOf(reply)),
    ...(reply.usage === null ? [] : [{ ...head, choices: [], ...usageOf(reply) }]),
  ]
}

let answers = 0

/** Every answer has an id of its own: clients take two with the same id for one. */
function newHead() {
  return { id: `chatcmpl-${++answers}`, object: "chat.completion.chunk", created: 1, model: "test" }
}

function finishOf({ finish, calls = [] }: Reply): string {
  return finish ?? (calls.length > 0 ? "tool_calls" : "stop")
}

function usageOf({ usage = { input: 10, output: 5 } }: Reply): { usage?: unknown } {
  if (usage === null) return {}
  const { input, output, cached } = usage
  const details = cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }
  return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...details } }
}
