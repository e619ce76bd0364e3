import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { messagesOf } from "./messages.ts"
import { ToolChain } from "../chain/tool-chain.ts"
import type { ChainTurn } from "./turns.ts"
import { ModelError } from "../models/model-error.ts"
import type { ModelMessage, ModelRequest } from "../models/port.ts"
import { playedModel, type PlayedTurn } from "../testing/played-model.ts"
import { cutForMessages, cutForSize, cuts } from "./cut.ts"
import { countTokens, estimateTokens } from "./tokens.ts"

const usage = { inputTokens: 1000, outputTokens: 100 }
const answerTurn = (calls: number, more: object = {}) => ({
  kind: "assistant",
  body: {
    text: "x",
    content: [{ type: "text", text: "x" }],
    calls: Array.from({ length: calls }, (_, place) => ({ id: `${place}`, name: "look", input: {} })),
    usage,
    ...more,
  },
})
const userTurn = { kind: "user", body: { text: "Go on.", begins: true, by: "ada" } }
const resultsTurn = { kind: "results", body: { results: [{ id: "0", name: "look", text: "found", ref: "r1" }] } }
const numbered = (turns: readonly object[]) => turns.map((turn, index) => ({ ...turn, index, at: 0 })) as ChainTurn[]

/** Conversations as the loop writes them: calls are followed by their results, with things said in between. */
const conversations = fc
  .array(
    fc.oneof(
      fc.constant([userTurn]),
      fc.constant([answerTurn(0)]),
      fc.constant([answerTurn(1), resultsTurn]),
      fc.constant([answerTurn(2), userTurn, resultsTurn]),
    ),
    { maxLength: 12 },
  )
  .map((parts) => numbered(parts.flat()))

test("wherever a conversation is cut, no call loses its result", () => {
  fc.assert(
    fc.property(conversations, fc.nat(20), fc.nat(2000), (turns, keep, size) => {
      const sizeOf = (turn: ChainTurn) => JSON.stringify(turn.body).length
      for (const before of [...cuts(turns), cutForMessages(turns, keep), cutForSize(turns, size, sizeOf)]) {
        if (before === undefined) continue
        const messages = messagesOf([...turns, ...numbered([{ kind: "summary", body: { text: "", before } }])])
        messages.forEach(({ role }, place) => {
          if (role === "tool") expect(callsOf(messages[place - 1]!)).toBeGreaterThan(0)
        })
        expect(before).toBeGreaterThan(0)
      }
    }),
  )
})

function callsOf({ role }: ModelMessage): number {
  // The turns above have texts only; what matters is that an assistant message comes first.
  return role === "assistant" ? 1 : 0
}

test("tokens are the provider's own count, and estimated only for what came after it", () => {
  const turns = numbered([userTurn, answerTurn(1), resultsTurn])
  const parts = (given: ChainTurn[]) => ({ messages: messagesOf(given), tools: [] })
  expect(countTokens(turns, parts(turns))).toBe(1100 + estimateTokens(messagesOf(turns).slice(2)))
  const guessed = numbered([userTurn, answerTurn(1, { usage: { ...usage, estimated: true } }), resultsTurn])
  expect(countTokens(guessed, parts(guessed))).toBe(estimateTokens(messagesOf(guessed)) + estimateTokens([]))
  const shortened = numbered([userTurn, answerTurn(0), userTurn, { kind: "summary", body: { text: "", before: 2 } }])
  expect(countTokens(shortened, parts(shortened))).toBe(estimateTokens(messagesOf(shortened)) + estimateTokens([]))
})

const isSummary = ({ messages }: ModelRequest) => messages[0]?.content.toString().startsWith("You shorten") === true
const sizeOf = ({ messages, tools = [] }: ModelRequest) => estimateTokens([messages, tools])

/** A model of so many tokens that refuses what is longer, and counts as its provider would. */
function smallModel(contextTokens: number, answer: (request: ModelRequest, round: number) => PlayedTurn, known = true) {
  let longest = 0
  let round = 0
  const model = playedModel(
    (request) => {
      const size = sizeOf(request)
      if (size > contextTokens) throw new ModelError("context_exceeded", "Too long.")
      longest = Math.max(longest, size)
      const turn = isSummary(request) ? { say: "SUMMARY of the task: count." } : answer(request, round++)
      return { usage: { inputTokens: size, outputTokens: 10 }, ...turn }
    },
    known ? { contextTokens } : {},
  )
  return { model, longest: () => longest }
}

const times = z.object({ time: z.number() }) as never

async function openChain(model: ReturnType<typeof playedModel>, names = ["look", "count"]) {
  const app = await openTestApp()
  app.registry.registerMany([
    tool({ name: "look", effect: "read", input: times, execute: () => "some text to read ".repeat(60) }),
    tool({ name: "count", input: times, execute: () => "one more counted ".repeat(60) }),
  ])
  return new ToolChain(app, "operator", model, { tools: names, maxRounds: 500, maxCalls: 1000 })
}

test("a model of 4,000 tokens goes on for 200 turns, and still knows its task", async () => {
  const { model, longest } = smallModel(4000, (_request, round) =>
    round < 200
      ? { say: `Turn ${round}.`, calls: [{ name: round % 2 === 0 ? "look" : "count", input: { time: round } }] }
      : { say: "Done." },
  )
  const chain = await openChain(model)
  const result = await chain.run("Count to 200.")
  expect(result).toMatchObject({ status: "completed", content: "Done.", stats: { calls: 200 } })
  expect(longest()).toBeLessThanOrEqual(4000)
  const last = model.requests.at(-1)!.messages
  expect(last.length).toBeLessThan(20)
  expect(JSON.stringify(last)).toContain("SUMMARY of the task")
})

test("results that can be read again become references first, and no summary is written while that is enough", async () => {
  const { model } = smallModel(4000, (_request, round) =>
    round < 12 ? { calls: [{ name: "look", input: { time: round } }] } : { say: "Done." },
  )
  const chain = await openChain(model)
  await chain.run("Look often.")
  expect(model.requests.some(isSummary)).toBe(false)
  const outputs = model.requests.at(-1)!.messages.flatMap((message) => (message.role === "tool" ? message.content : []))
  expect(outputs[0]!.output).toContain("no longer shown")
  expect(outputs.at(-1)!.output).toContain("some text to read")
})

test("a provider that refuses a request as too long gets a shorter one, also when its limit is not known", async () => {
  const { model } = smallModel(
    3000,
    (_request, round) => (round < 15 ? { calls: [{ name: "count", input: { time: round } }] } : { say: "Done." }),
    false,
  )
  const chain = await openChain(model)
  expect(await chain.run("Count.")).toMatchObject({ status: "completed", content: "Done." })
  expect(model.requests.some(isSummary)).toBe(true)
})

test("without a summary of the model, what the user said stands in its place", async () => {
  const { model } = smallModel(4000, (_request, round) =>
    round < 25 ? { say: "so ".repeat(300), calls: [{ name: "count", input: { time: round } }] } : { say: "Done." },
  )
  const stream = model.stream.bind(model)
  model.stream = (request) => {
    if (isSummary(request)) throw new ModelError("refused_request", "No.")
    return stream(request)
  }
  const chain = await openChain(model)
  expect(await chain.run("Count the sheep.")).toMatchObject({ status: "completed" })
  expect(model.requests.at(-1)!.messages[0]!.content).toMatch(/What the user said so far:\s+Count the sheep\./)
})

test("tools that do not fit into the context are an error that says so", async () => {
  const { model } = smallModel(500, () => ({ say: "Hello." }))
  const app = await openTestApp()
  const result = await new ToolChain(app, "operator", model).run("Hi.")
  expect(result).toMatchObject({ status: "error", error: expect.stringMatching(/definitions of \d+ tools .* fewer/) })
})

test("the model can ask how full its context is, and compress it", async () => {
  const call = (name: string, input = {}): PlayedTurn => ({ calls: [{ name, input }] })
  const turns = [
    call("count"),
    call("get_context_status"),
    call("compress_context", { summary: "One was counted.", keepRecentCount: 2 }),
    { say: "Done." },
  ]
  const app = await openTestApp({}, { models: { small: smallModel(4000, (_request, round) => turns[round]!).model } })
  app.registry.register(tool({ name: "count", execute: () => "one more counted" }))
  const chain = app.chain("operator", { tools: ["count", "get_context_status", "compress_context"] })
  const { toolCallHistory, messages } = await chain.run("Count.")
  expect(JSON.parse(toolCallHistory[1]!.text)).toMatchObject({
    maxTokens: 4000,
    status: "normal",
    thresholds: { warning: 0.7, critical: 0.9, exceeded: 0.95 },
  })
  expect(JSON.parse(toolCallHistory[2]!.text)).toEqual({ ok: true, compressed: true, originalCount: 6, newCount: 4 })
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool", "assistant"])
  expect(messages[0]!.content).toContain("One was counted.")
})

test.each(["get_context_status", "compress_context"])("outside a conversation %s says where it works", async (name) => {
  const app = await openTestApp()
  const input = name === "compress_context" ? { summary: "x" } : {}
  const result = await app.call({ agentId: "operator", tool: name, input })
  expect(result).toMatchObject({ code: "tool_failed", error: expect.stringContaining("qm chat") })
})

test("an image counts as much as a page of text, however many bytes it has", () => {
  const image = { mimeType: "image/png", data: "QUJD".repeat(100_000) }
  const part = { type: "tool-result", id: "1", name: "look", output: "seen" } as const
  const tokens = (content: object) =>
    countTokens([], { messages: [{ role: "tool", content: [content] } as never], tools: [] })
  expect(Math.abs(tokens({ ...part, image }) - tokens(part) - 1500)).toBeLessThan(20)
})
