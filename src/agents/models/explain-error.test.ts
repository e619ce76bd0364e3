import { expect, test } from "vitest"
import { explainError } from "./explain-error.ts"

const server = {
  name: "m",
  modelId: "test",
  address: "http://127.0.0.1/v1",
  key: { variable: "KEY", value: "sk-secret-1234" },
  tools: ["read_file", "add"],
}

/** Sentences of providers with status 400, by their meaning. */
const said: Record<string, Record<string, string>> = {
  context_exceeded: {
    OpenAI: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "OpenAI's Responses":
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
    Anthropic: "prompt is too long: 210000 tokens > 200000 maximum",
    "Anthropic with max_tokens":
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
    Google: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "llama.cpp": "the request exceeds the available context size, try increasing it",
    "llama.cpp, newer": "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
    vLLM: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "vLLM, newer": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    Qwen: "Range of input length should be [1, 30720]",
  },
  wrong_key: {
    Google: "API key not valid. Please pass a valid API key.",
    "Google, an old key": "API key expired. Please renew the API key.",
    xAI: "Incorrect API key provided: sk-secret-1234.",
  },
  refused_schema: {
    OpenAI: "Invalid schema for function 'read_file': schema must be an object.",
    "OpenAI, by name": "Function 'read_file' has too many parameters.",
    Anthropic: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
    Google: "* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[a].items: missing field.",
    "Ollama, a model without tools": "registry.ollama.ai/library/gemma:2b does not support tools",
    "vLLM, a server without tools":
      '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
  },
  refused_request: {
    OpenAI:
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    Anthropic: "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
    "somebody with the word of a tool": "Please add a payment method and check the functions of your plan.",
  },
}

const cases = Object.entries(said).flatMap(([code, sentences]) =>
  Object.entries(sentences).map(([who, message]) => ({ code, who, message })),
)

test.each(cases)("$code is known from what $who says", ({ code, message }) => {
  const error = explainError({ name: "AI_APICallError", message, statusCode: 400 }, server)
  expect(error.code).toBe(code)
  expect(error.message).not.toContain("sk-secret-1234")
})
