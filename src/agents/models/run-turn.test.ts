import { inspect } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { startModelServer, type Reply } from "../testing/model-server.ts"
import { modelOf, noWait, question } from "../testing/use-models.ts"
import type { ModelError } from "./model-error.ts"
import type { ModelSettings } from "./open-models.ts"
import type { LanguageModel, ModelPart, ModelTurn } from "./port.ts"
import { retryAfter, retryDelay } from "./retry.ts"
import { runTurn, type TurnOptions } from "./run-turn.ts"

async function serverWith(...replies: readonly Reply[]) {
  const server = await startModelServer()
  onTestFinished(() => server.close())
  server.reply(...replies)
  const model = (settings: ModelSettings = {}) =>
    modelOf({ provider: "openai-compatible", baseUrl: server.openai, apiKey: "${KEY}", ...settings })
  return { ...server, model }
}

async function ask(replies: readonly Reply[], options: TurnOptions = {}, settings: ModelSettings = {}) {
  const { model, requests } = await serverWith(...replies)
  const turn = await runTurn(model(settings), question, { wait: noWait, ...options }).catch(
    (error: ModelError) => error,
  )
  // Nothing is left running: the server sees every connection end.
  for (const { closed } of requests) await closed
  return { turn, requests }
}

const hello: Reply = { text: "Hello." }
const failed = (status: number, message: string): Reply => ({ status, body: { error: { message } } })
const aCall: Reply = { text: "I look.", calls: [{ id: "c", name: "read_file", arguments: {} }] }

test.each<[string, Reply, string]>([
  ["HTTP 429", { status: 429 }, "rate_limited"],
  ["HTTP 500", failed(500, "oops"), "server_error"],
  ["HTTP 503", { status: 503, body: "busy" }, "server_error"],
  ["a cut connection before the first byte", { ...hello, after: 0, then: "cut" }, "cut_stream"],
  ["a stream cut in the middle", { ...aCall, after: 3, then: "cut" }, "cut_stream"],
  ["a stream that ends too early", { ...aCall, after: 3 }, "cut_stream"],
  ["an error inside the stream", { raw: [{ error: { message: "overloaded" } }] }, "server_error"],
])("after %s the request is made again", async (_, reply, code) => {
  const seen: ModelError[] = []
  const { turn } = await ask([reply, hello], { onRetry: (error) => void seen.push(error) })
  expect(turn).toMatchObject({ text: "Hello.", calls: [], retries: 1 })
  expect(seen).toMatchObject([{ code }])
})

test("a failure that does not pass ends the turn after three more tries, each after a longer wait", async () => {
  const waits: number[] = []
  const wait = (milliseconds: number) => Promise.resolve(void waits.push(milliseconds))
  const { turn, requests } = await ask(
    Array.from({ length: 4 }, () => ({ status: 502 })),
    { wait },
  )
  expect(turn).toMatchObject({ code: "server_error" })
  expect(requests).toHaveLength(4)
  expect(waits).toHaveLength(3)
  expect(waits[0]! < waits[1]! && waits[1]! < waits[2]!).toBe(true)
})

test("the time that the server asks for is waited", async () => {
  const waits: number[] = []
  const wait = (milliseconds: number) => Promise.resolve(void waits.push(milliseconds))
  const headers = { "retry-after": "7" }
  const { turn } = await ask([{ status: 429, headers }, { status: 503, headers }, hello], { wait })
  expect(turn).toMatchObject({ text: "Hello.", retries: 2 })
  expect(waits).toEqual([7000, 7000])
})

test("a wait that is longer than the time that is left ends the turn at once", async () => {
  const waits: number[] = []
  const wait = (milliseconds: number) => Promise.resolve(void waits.push(milliseconds))
  const late = { status: 429, headers: { "retry-after": "3600" } }
  const { turn } = await ask([late], { wait })
  expect(turn).toMatchObject({ code: "rate_limited", retryAfterMs: 3_600_000 })
  expect(waits).toEqual([])
})

test.each<[Record<string, string>, number | undefined]>([
  [{ "retry-after": "2" }, 2000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:11 GMT" }, 1000],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:01 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-5" }, undefined],
  [{}, undefined],
])("the headers %j ask to wait %j ms", (headers, expected) => {
  expect(retryAfter(headers, 10_000)).toBe(expected)
})

test("without such a header the wait doubles, up to half a minute", () => {
  const error = { retryAfterMs: undefined } as ModelError
  expect([0, 1, 2, 9].map((tries) => retryDelay(error, tries, () => 0.5))).toEqual([1000, 2000, 4000, 30_000])
})

test.each<[string, Reply, string, RegExp]>([
  [
    "a wrong key",
    failed(401, "Incorrect key sk-secret-1234."),
    "wrong_key",
    /Incorrect key \*\*\*\..*Set KEY to a key/,
  ],
  ["a forbidden model", failed(403, "no"), "wrong_key", /HTTP 403/],
  ["an unknown model", failed(404, "model 'test' not found"), "model_not_found", /models\.m\.model/],
  [
    "a refused schema",
    failed(400, "Invalid schema for function 'read_file': bad"),
    "refused_schema",
    /the tool 'read_file'/,
  ],
  ["a server without tools", failed(400, "qwen does not support tools"), "refused_schema", /does not take tools/],
  ["a refused request", failed(400, "temperature is wrong"), "refused_request", /temperature is wrong/],
  [
    "too long a conversation",
    failed(400, "This model's maximum context length is 8192 tokens"),
    "context_exceeded",
    /Compress it/,
  ],
  ["a web page", { body: "<html>hello</html>" }, "bad_answer", /web page/],
  [
    "nonsense events",
    { raw: [{ foo: 1 }, { bar: 2 }] },
    "bad_answer",
    /format of its provider\. It sent: {"foo":1}\. /,
  ],
  ["nonsense bytes", { raw: ["data: {{{\n\n"] }, "bad_answer", /It sent: {{{\. Check .*ends with \/v1/],
  ["an object of another kind", { body: { hello: 1 } }, "bad_answer", /It sent: {"hello":1}\. Check .*baseUrl/],
])("%s ends the turn with a sentence", async (what, reply, code, sentence) => {
  const settings = what === "an object of another kind" ? { streamTools: false } : {}
  const { turn: error } = await ask([reply], { retries: 0 }, settings)
  expect(error).toMatchObject({ name: "ModelError", code, message: expect.stringMatching(sentence) as string })
  expect(inspect(error)).not.toContain("sk-secret-1234")
})

test.each<[string | undefined, RegExp]>([
  [undefined, /refused a request without a key .*Add 'models\.m\.apiKey'\.$/],
  ["${LOCAL_KEY:-}", /refused a request without a key .*Set LOCAL_KEY to a key/],
])("a server that wants a key, with the apiKey %j, says what to set", async (apiKey, sentence) => {
  const { turn } = await ask([failed(401, "No key.")], {}, { apiKey })
  expect(turn).toMatchObject({ code: "wrong_key", message: expect.stringMatching(sentence) as string })
})

test("a key is not sent where a redirect leads", async () => {
  const other = await serverWith(hello)
  const { turn } = await ask([{ status: 307, headers: { location: `${other.openai}/chat/completions` }, body: {} }], {
    retries: 0,
  })
  expect(turn).toMatchObject({ code: "unreachable" })
  expect(other.requests).toEqual([])
})

test("an unreachable server is named with its address", async () => {
  const gone = await startModelServer()
  await gone.close()
  const model = modelOf({ provider: "openai-compatible", baseUrl: gone.openai })
  const failing = runTurn(model, question, { retries: 0 })
  await expect(failing).rejects.toMatchObject({
    code: "unreachable",
    message: expect.stringContaining(`${gone.openai} (ECONNREFUSED)`) as string,
  })
})

test.each<[string, Reply, ModelSettings, RegExp]>([
  [
    "never begins",
    { after: 0, then: "hang" },
    { firstByteTimeout: 30 },
    /begin to answer within 0\.03 seconds.*firstByteTimeout/,
  ],
  [
    "never finishes",
    { ...hello, after: 2, then: "hang" },
    { timeout: 30 },
    /finish within 0\.03 seconds.*models\.m\.timeout/,
  ],
  [
    "says one letter now and then",
    { text: "abcdefgh".repeat(99), pieces: 1, delay: 5 },
    { timeout: 40 },
    /finish within/,
  ],
  ["never answers without streaming", { then: "hang" }, { timeout: 30, streamTools: false }, /finish within/],
])("a model that %s is stopped and its connection closed", async (_, reply, limits, sentence) => {
  const { turn } = await ask([reply], {}, limits)
  expect(turn).toMatchObject({ code: "timeout", message: expect.stringMatching(sentence) as string })
})

test("an abort ends the turn with its reason, while an answer comes and while a retry waits", async () => {
  const { model, requests } = await serverWith(
    { ...hello, after: 2, then: "hang" },
    { status: 429, headers: { "retry-after": "60" } },
  )
  const reason = new Error("enough")
  const answering = new AbortController()
  const onPart = () => answering.abort(reason)
  await expect(runTurn(model(), { ...question, signal: answering.signal }, { onPart })).rejects.toBe(reason)
  const waiting = new AbortController()
  const onRetry = () => waiting.abort(reason)
  await expect(runTurn(model(), { ...question, signal: waiting.signal }, { onRetry })).rejects.toBe(reason)
  await expect(runTurn(model(), { ...question, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  for (const { closed } of requests) await closed
})

test.each<[string, () => Promise<IteratorResult<ModelPart>>, unknown]>([
  ["never ends and ignores the signal", () => new Promise(() => {}), { code: "timeout" }],
  ["throws anything", () => Promise.reject(new TypeError("x is not a function")), { code: "failed" }],
  ["ends without a finish", () => Promise.resolve({ done: true, value: undefined }), { code: "cut_stream" }],
])("a model of one's own that %s ends the turn too", async (_, next, error) => {
  const stream = () => ({ [Symbol.asyncIterator]: () => ({ next }) })
  const own: LanguageModel = { name: "own", provider: "mine", modelId: "x", limits: { turnMs: 20 }, stream }
  await expect(runTurn(own, question, { retries: 0 })).rejects.toMatchObject(error as object)
})

const long = "word ".repeat(400)
const cut: Reply = { text: long, pieces: 100, after: 15 }
const broken = {
  inputTokens: expect.any(Number) as number,
  outputTokens: expect.any(Number) as number,
  estimated: true,
}

test("what answers that broke off have used is estimated and counted", async () => {
  const price = { input: 1e6, output: 1e6 }
  const last: Reply = { text: "Hello.", usage: { input: 10, output: 1 } }
  const once = await ask([cut, last], {}, { price })
  const thrice = await ask([cut, cut, cut, last], {}, { price })
  const [one, three] = [once.turn, thrice.turn].map((turn) => (turn as ModelTurn).usage)
  expect(one).toEqual(broken)
  expect(one!.outputTokens).toBeGreaterThan(300)
  expect(three!.outputTokens - 1).toBe(3 * (one!.outputTokens - 1))
  expect(three!.inputTokens - 10).toBe(3 * (one!.inputTokens - 10))
  expect((thrice.turn as ModelTurn).cost).toBe(three!.inputTokens + three!.outputTokens)
})

test("a failure before anything came costs nothing", async () => {
  const { turn } = await ask([{ status: 500 }, { raw: [{ error: { message: "overloaded" } }] }, hello])
  expect(turn).toMatchObject({ retries: 2, usage: { inputTokens: 10, outputTokens: 5 } })
})

test("what was used is told also when the turn fails or is stopped", async () => {
  const used: unknown[] = []
  const onUnanswered: TurnOptions["onUnanswered"] = ({ usage }) => void used.push(usage)
  await ask([cut, cut], { retries: 1, onUnanswered })
  expect(used).toEqual([broken])
  const stop = new AbortController()
  const { model } = await serverWith({ ...cut, then: "hang" })
  const onPart = () => stop.abort("enough")
  const stopped = runTurn(model(), { ...question, signal: stop.signal }, { onPart, onUnanswered })
  await expect(stopped).rejects.toBe("enough")
  expect(used).toEqual([broken, broken])
  await ask([{ status: 401 }], { onUnanswered })
  expect(used).toHaveLength(2)
})

test("a model of one's own that yields the input of a call as an object is told to yield JSON text", async () => {
  async function* stream() {
    yield { type: "tool-call", id: "c", name: "read_file", input: {} } as unknown as ModelPart
    await Promise.resolve()
    yield { type: "finish", reason: "stop" } as const
  }
  const turn = runTurn({ name: "own", provider: "mine", modelId: "x", stream }, question)
  const message = expect.stringMatching(/^The model 'own' .*JSON text/) as string
  await expect(turn).rejects.toMatchObject({ code: "bad_answer", message })
})
