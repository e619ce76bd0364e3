import { expect, onTestFinished, test } from "vitest"
import { openTestApp } from "../../testing/test-app.ts"
import { startModelServer } from "../testing/model-server.ts"
import { modelOf, noWait } from "../testing/use-models.ts"
import { openModels, type ModelSettings } from "./open-models.ts"
import type { LanguageModel } from "./port.ts"
import { runTurn } from "./run-turn.ts"

const open = (settings: Record<string, ModelSettings>, chosen?: string, environment: Record<string, string> = {}) =>
  openModels({ settings, default: chosen, environment })

const local: ModelSettings = { provider: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1", model: "qwen3" }
const claude: ModelSettings = { provider: "anthropic", model: "claude-sonnet-4-5", apiKey: "${CLAUDE_KEY}" }

test("a role's llmServiceId names a model; null means the default", () => {
  const models = open({ local, claude }, "claude")
  expect(models.get("local").modelId).toBe("qwen3")
  expect(models.get(null).name).toBe("claude")
  expect(models.get()).toBe(models.get("claude"))
  expect(open({ local }).get().name).toBe("local")
})

test.each<[string, Record<string, ModelSettings>, string | undefined, RegExp]>([
  ["an unknown name", { local, claude }, "lokal", /There is no model 'lokal'\. Use one of: 'local', 'claude'\./],
  ["no default", { local, claude }, undefined, /models\.default/],
  ["no model at all", {}, undefined, /No model is configured\. Add one/],
  ["the name of something of JavaScript's", { local }, "constructor", /There is no model 'constructor'/],
])("%s is told in a sentence", (_, settings, name, sentence) => {
  expect(() => open(settings).get(name)).toThrow(sentence)
  expect(() => open(settings).get(name)).toThrow(expect.objectContaining({ code: "unknown_model" }) as Error)
})

test("a key that is not set matters only when its model is used", async () => {
  const asked = { ...claude, apiKey: "${ASKED:?Ask Ann for it.}" }
  const models = open({ local, claude, asked, free: { ...local, apiKey: "${FREE:-}" } }, "local")
  expect(models.list()).toMatchObject([
    { name: "local", isDefault: true },
    { name: "claude", isDefault: false, key: { variable: "CLAUDE_KEY", isSet: false } },
    { name: "asked" },
    { name: "free", key: { variable: "FREE", isSet: false } },
  ])
  const ask = (name: string) => runTurn(models.get(name), { messages: [{ role: "user", content: "Hello" }] })
  await expect(ask("claude")).rejects.toMatchObject({
    code: "missing_key",
    message: expect.stringContaining("CLAUDE_KEY") as string,
  })
  await expect(ask("asked")).rejects.toThrow("Ask Ann for it.")
})

test("a program brings models of its own", async () => {
  const own: LanguageModel = {
    name: "mine",
    provider: "own",
    modelId: "m1",
    async *stream() {
      yield { type: "text", block: "1", text: "Hello." }
      yield { type: "finish", reason: "stop" }
      await Promise.resolve()
    },
  }
  const { models } = await openTestApp({}, { models: { mine: own } })
  expect(models.list()).toMatchObject([{ name: "mine", provider: "own", model: "m1", isDefault: true }])
  expect(await runTurn(models.get(), { messages: [] })).toMatchObject({ text: "Hello.", usage: { estimated: true } })
})

test("tools cannot read the key of a model, and no record shows it", async () => {
  const server = await startModelServer()
  const secret = "plain-words-0815"
  const environment = { LLM: secret, LANG: "C" }
  const models = {
    local: { provider: "openai-compatible" as const, baseUrl: server.openai, model: "x", apiKey: "${LLM}" },
  }
  const app = await openTestApp({ models }, { environment })
  const read = (key: string) => app.call({ agentId: "operator", tool: "get_env", input: { key } })
  expect(await read("LLM")).toMatchObject({ result: { value: null } })
  expect(await read("LANG")).toMatchObject({ result: { value: "C" } })
  const { callId } = await app.call({
    agentId: "operator",
    tool: "json_parse",
    input: { json: `["${secret}"]`, text: `["${secret}"]` },
  })
  await app.settle()
  const entries = await app.audit.show(callId!)
  expect(entries.length).toBeGreaterThan(0)
  expect(JSON.stringify(entries)).not.toContain(secret)

  server.reply({ text: "Hello." })
  await runTurn(app.models.get(), { messages: [{ role: "user", content: "Hello" }] })
  expect(server.requests[0]?.headers["authorization"]).toBe(`Bearer ${secret}`)
  await server.close()
})

const seen = {
  role: "tool",
  content: [
    { type: "tool-result", id: "c", name: "look", output: "A page.", image: { mimeType: "image/png", data: "QUJD" } },
  ],
} as const

test.each<[string, ModelSettings["provider"], unknown]>([
  [
    "OpenAI's protocol in a message after the result",
    "openai-compatible",
    {
      messages: [
        {},
        {},
        { role: "tool", content: "A page." },
        { role: "user", content: [{ type: "text" }, { image_url: { url: "data:image/png;base64,QUJD" } }] },
      ],
    },
  ],
  [
    "Anthropic's protocol in the result",
    "anthropic",
    {
      messages: [
        {},
        {},
        {
          content: [
            {
              type: "tool_result",
              content: [{ text: "A page." }, { type: "image", source: { media_type: "image/png", data: "QUJD" } }],
            },
          ],
        },
      ],
    },
  ],
])("an image goes to the model, in %s", async (_, provider, expected) => {
  const server = await startModelServer()
  onTestFinished(() => server.close())
  const baseUrl = provider === "anthropic" ? server.anthropic : server.openai
  const model = modelOf({ provider, baseUrl, apiKey: "${KEY}", images: true })
  expect(model.seesImages).toBe(true)
  server.reply({ text: "I see." })
  const called = { role: "assistant", content: [{ type: "tool-call", id: "c", name: "look", input: {} }] } as const
  await runTurn(model, { messages: [{ role: "user", content: "Look." }, called, seen] }, { wait: noWait })
  expect(server.requests[0]?.body).toMatchObject(expected as object)
})

test.each([
  ["anthropic", true],
  ["google", true],
  ["openai-compatible", false],
] as const)("unless the configuration says so, a model of %s sees images: %s", (provider, expected) => {
  expect(modelOf({ provider, baseUrl: "http://127.0.0.1:9", apiKey: "${KEY}" }).seesImages).toBe(expected)
})
