import { inspect } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { startModelServer, type ModelServer } from "../testing/model-server.ts"
import { modelOf, question } from "../testing/use-models.ts"
import { explainError } from "./explain-error.ts"
import { publicAddress } from "./mask-secrets.ts"
import { runTurn } from "./run-turn.ts"

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const odd = ["sk-secret-1234\n", "sk-secret-1234\r", " sk-secret-1234 ", 'sk-"secret"-1234', "sk-sec\\ret-1234"]
const providers = ["openai-compatible", "anthropic", "google"] as const
const cases = odd.flatMap((key) => providers.map((provider) => ({ key, provider })))

test.each(cases)("a server of $provider that repeats the key $key shows it to nobody", async ({ key, provider }) => {
  const baseUrl = server[provider === "openai-compatible" ? "openai" : provider]
  const sent = ["authorization", "x-api-key", "x-goog-api-key"]
  server.answer(({ headers }) => {
    const message = `Incorrect API key ${JSON.stringify(sent.map((name) => headers[name]))}`
    return { status: 401, body: { type: "error", error: { message, type: "x", code: 401, status: "X" } } }
  })
  const model = modelOf({ provider, baseUrl, apiKey: "${KEY}" }, { KEY: key })
  const error: unknown = await runTurn(model, question, { retries: 0 }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: "wrong_key", message: expect.stringContaining("***") as string })
  expect(inspect(error)).not.toMatch(/ret\\*"?-1234/)
})

test.each([
  ["http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"],
  ["https://a.example", "https://a.example"],
  ["https://a.example/api/v1beta/", "https://a.example/api/v1beta"],
  ["https://a.example/tok-5678-secret/v1", "https://a.example/***/v1"],
  ["https://ann:pa55word@a.example/v1?key=secret", "https://a.example/v1"],
  ["secret", "an address that is no URL"],
])("messages name the address %s as %s", (address, shown) => {
  expect(publicAddress(address)).toBe(shown)
})

const token = "tok-5678-secret"
const about = { name: "m", modelId: "gpt-4o-2026", key: undefined }

test.each([
  ["is not there", { statusCode: 404, message: `Cannot POST /${token}/v1/chat/completions` }],
  ["cannot be reached", { isRetryable: true, message: `Cannot connect to ${token}` }],
  ["sends nonsense", { statusCode: 200, message: `Invalid JSON for ${token}` }],
])("a token in the address is not in the message when the server %s", (_, error) => {
  const thrown = { name: "AI_APICallError", ...error }
  const { message } = explainError(thrown, { ...about, address: `https://a.example/${token}/v1` })
  expect(message).toContain("https://a.example/***/v1")
  expect(message).not.toContain(token)
})

test("the model's own name in the address is no secret", () => {
  const address = "https://a.example/openai/deployments/gpt-4o-2026"
  const { message } = explainError({ name: "AI_APICallError", statusCode: 404, message: "No." }, { ...about, address })
  expect(message).toContain("does not have 'gpt-4o-2026'")
})
