import { argumentsText, inPieces } from "./in-pieces.ts"
import type { Reply } from "./model-server.ts"

/** The signature of every thought, which must come back with it. */
export const thoughtSignature = "c2lnbmVk"

/** A reply as one message of Anthropic's API. */
export function anthropicAnswer(reply: Reply): unknown {
  const { text, reasoning, calls = [] } = reply
  return {
    ...newHead(),
    content: [
      ...(reasoning === undefined ? [] : [{ type: "thinking", thinking: reasoning, signature: thoughtSignature }]),
      ...(text === undefined ? [] : [{ type: "text", text }]),
      ...calls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input })),
    ],
    stop_reason: finishOf(reply),
    usage: { ...inputUsage(reply), output_tokens: reply.usage?.output ?? 5 },
  }
}

/** A reply as the events of Anthropic's stream. */
export function anthropicEvents(reply: Reply): unknown[] {
  const { text, reasoning, calls = [], pieces } = reply
  const blocks: { start: Record<string, unknown>; deltas: Record<string, unknown>[] }[] = []
  if (reasoning !== undefined) {
    blocks.push({
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...inPieces(reasoning, pieces).map((thinking) => ({ type: "thinking_delta", thinking })),
        { type: "signature_delta", signature: thoughtSignature },
      ],
    })
  }
  if (text !== undefined) {
    blocks.push({
      start: { type: "text", text: "" },
      deltas: inPieces(text, pieces).map((piece) => ({ type: "text_delta", text: piece })),
    })
  }
  for (const { id = "", name, arguments: given } of calls) {
    blocks.push({
      start: { type: "tool_use", id, name, input: {} },
      deltas: inPieces(argumentsText(given), pieces).map((part) => ({ type: "input_json_delta", partial_json: part })),
    })
  }
  return [
    {
      type: "message_start",
      message: { ...newHead(), content: [], stop_reason: null, usage: { ...inputUsage(reply), output_tokens: 1 } },
    },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: finishOf(reply), stop_sequence: null },
      usage: { output_tokens: reply.usage?.output ?? 5 },
    },
    { type: "message_stop" },
  ]
}

let answers = 0

function newHead() {
  return { id: `msg_${++answers}`, type: "message", role: "assistant", model: "test", stop_sequence: null }
}

function inputUsage({ usage }: Reply) {
  const { input = 10, cached = 0, written = 0 } = usage ?? {}
  return {
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
  }
}

function finishOf({ finish, calls = [] }: Reply): string {
  return finish ?? (calls.length > 0 ? "tool_use" : "end_turn")
}
