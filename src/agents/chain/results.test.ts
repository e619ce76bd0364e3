import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import type { Answer } from "../../core/approval.ts"
import { failure } from "../../core/ending.ts"
import type { ToolSpec } from "../../core/tool.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"
import type { ModelRequest } from "../models/port.ts"
import { modelOf, playedModel, type PlayedTurn } from "../testing/played-model.ts"
import type { ToolChainOptions } from "./chain-options.ts"
import { isRepeated } from "./repeats.ts"
import { expandRefs } from "./result-refs.ts"
import { ToolChain } from "./tool-chain.ts"
import type { CallResult, ChainTurn } from "../context/turns.ts"

type Spec = Partial<ToolSpec<never>> & Pick<ToolSpec<never>, "execute">

/** A chain over a tool that returns a value, one that takes any, and the tool that reads artifacts. */
async function openChain(model: ReturnType<typeof playedModel>, source: Spec, options: ToolChainOptions = {}) {
  const app = await openTestApp()
  const given: unknown[] = []
  app.registry.registerMany([
    tool({ name: "source", input: z.object({ to: z.string().optional() }) as never, ...source }),
    defineTool({
      name: "target",
      group: "test",
      description: "Take a value.",
      effect: "none",
      input: z.object({ given: z.unknown() }),
      execute: (input) => void given.push(input.given),
    }),
  ])
  const tools = ["source", "target", "get_artifact"]
  const chain = new ToolChain(app, "operator", model, { tools, reflect: false, ...options })
  return { app, chain, given }
}

const source: PlayedTurn = { calls: [{ name: "source" }] }
const passOn: PlayedTurn = { calls: [{ name: "target", input: { given: { $ref: "r1" } } }] }
const done: PlayedTurn = { say: "Done." }

const held = { requireResultApproval: "always" } as const
const asked = { effect: "communicate" } as const

test.each<{ what: string; value: unknown; passed: unknown; spec?: Partial<Spec>; answers?: Answer[] }>([
  { what: "a text that looks like a number", value: "42", passed: "42" },
  { what: "a text that is JSON", value: '{"a":1}', passed: '{"a":1}' },
  { what: "a number", value: 42, passed: 42 },
  { what: "a value", value: { a: [1] }, passed: { a: [1] } },
  { what: "the text of an MCP result", value: { content: [{ type: "text", text: "42" }] }, passed: "42" },
  { what: "the value of an MCP result", value: { content: [], structuredContent: { a: 1 } }, passed: { a: 1 } },
  {
    what: "a value of a call that a person approved with a note",
    value: { a: 1 },
    passed: { a: 1 },
    spec: asked,
    answers: [{ kind: "approve", note: "Be quick." }],
  },
  {
    what: "a value of a call that a person changed",
    value: { a: 1 },
    passed: { a: 1 },
    spec: asked,
    answers: [{ kind: "edit", input: { to: "ann" } }, { kind: "approve" }],
  },
  {
    what: "a redacted value",
    value: { a: 1, b: "hunter2" },
    passed: { a: 1, b: "[redacted]" },
    spec: { permission: held },
    answers: [{ kind: "release", redact: ["/b"] }],
  },
  { what: "of a long text what is shown", value: "é".repeat(50_000), passed: "é".repeat(30_000) },
  {
    what: "of a long value what is shown, as a text",
    value: { text: "é".repeat(50_000) },
    passed: `{"text":"${"é".repeat(30_000 - 9)}`,
  },
])("a result is passed on by its number: $what", async ({ value, passed, spec, answers = [] }) => {
  const { app, chain, given } = await openChain(modelOf(source, passOn, done), { execute: () => value, ...spec })
  const running = chain.run("Pass it on.")
  for (const [place, answer] of answers.entries()) {
    const waiting = async () => (await app.approvals.list()).find(({ revision }) => revision === place + 1)
    await until(async () => (await waiting()) !== undefined, "the call waits")
    expect(await app.approvals.answer((await waiting())!.callId, answer, "ada")).toMatchObject({ ok: true })
  }
  await running
  expect(given).toEqual([passed])
})

test("a result that was withheld cannot be passed on", async () => {
  const secret = { execute: () => "hunter2", permission: held }
  const { app, chain, given } = await openChain(modelOf(source, passOn, done), secret)
  const running = chain.run("Pass it on.")
  await until(async () => (await app.approvals.list()).length === 1, "the result is held")
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "withhold", reason: "Private." }, "ada")
  const { toolCallHistory, messages } = await running
  expect(given).toEqual([])
  expect(toolCallHistory[1]).toMatchObject({
    callId: undefined,
    text: expect.stringMatching(/^NOT EXECUTED\. Result r1 cannot be passed on: .*withheld.*Private\./),
  })
  expect(JSON.stringify(messages)).not.toContain("hunter2")
})

/** A model that reads a long result to its end: as the note of the cut says, then from each `nextOffset` on. */
function readingModel(read: string[], contextTokens?: number) {
  let page: Record<string, unknown> = {}
  return playedModel(
    (request) => {
      const output = lastOutput(request)
      if (output === undefined) return source
      const note = /^(.*)\n\[truncated: .* (Read on|Read it in parts) with get_artifact ({.*})\.\]/s.exec(output)
      if (note !== null) {
        if (note[2] === "Read on") read.push(note[1]!)
        page = JSON.parse(note[3]!) as typeof page
      } else {
        const { content, nextOffset } = JSON.parse(output.replace(/\n\[This is result .*/, "")) as typeof page
        read.push(String(content))
        if (nextOffset === null) return done
        page = { ...page, offset: nextOffset }
      }
      return { calls: [{ name: "get_artifact", input: page }] }
    },
    { contextTokens },
  )
}

function lastOutput({ messages }: ModelRequest): string | undefined {
  return messages.flatMap((message) => (message.role === "tool" ? message.content : [])).at(-1)?.output
}

const lines = Array.from({ length: 4500 }, (_, line) => `${line} "said" 🎉 and more\n`).join("")
const quotes = '"'.repeat(101_000)
const fails = () => {
  throw failure(lines)
}

test.each([
  { what: "a text", execute: () => lines, whole: lines },
  { what: "a value", execute: () => ({ lines }), whole: JSON.stringify({ lines }) },
  { what: "a text that is twice as long in JSON", execute: () => quotes, whole: quotes },
  { what: "an error", execute: fails, whole: `Error: ${lines}` },
  { what: "a text, with a small context", execute: () => lines, whole: lines, contextTokens: 8000 },
])("a model reads a result of 100,000 characters to its end: $what", async ({ execute, whole, contextTokens }) => {
  expect(whole.length).toBeGreaterThan(100_000)
  const read: string[] = []
  const { chain } = await openChain(readingModel(read, contextTokens), { execute }, { maxRounds: 50, maxCalls: 50 })
  expect(await chain.run("Read it.")).toMatchObject({ status: "completed", content: "Done." })
  expect(read.length).toBeGreaterThan(4)
  expect(read.join("")).toBe(whole)
})

test.each([
  ["a long artifact", 100_000, undefined],
  ["an artifact that is long for a small context", 20_000, 8000],
])("%s that is read at once is not stored a second time, and the note says how to read it", async (_, size, tokens) => {
  let input = {}
  const model = playedModel((_request, round) => (round === 0 ? { calls: [{ name: "get_artifact", input }] } : done), {
    contextTokens: tokens,
  })
  const { app, chain } = await openChain(model, { execute: () => "" })
  const { result } = await app.call({
    agentId: "operator",
    tool: "put_artifact",
    input: { type: "note", content: "x".repeat(size) },
  })
  const { artifactRef } = result as { artifactRef: string }
  input = { ref: artifactRef }
  await chain.run("Read it.")
  expect(lastOutput(model.requests.at(-1)!)).toContain(
    `Read it in parts with get_artifact {"ref":"${artifactRef}","offset":0,`,
  )
  expect(readdirSync(join(app.dir, "artifacts"))).toHaveLength(1)
})

test("what is cut for a small context is stored too, and a model without get_artifact is not told to use it", async () => {
  const model = Object.assign(modelOf(source, done), { contextTokens: 1000 })
  const { app, chain } = await openChain(model, { execute: () => "x".repeat(5000) }, { tools: ["source"] })
  await chain.run("Look.")
  expect(lastOutput(model.requests.at(-1)!)).toContain(
    "[truncated: 1333 of 5000 characters. You have no tool that reads the rest: ask for a part of it.]",
  )
  expect(readdirSync(join(app.dir, "artifacts"))).toHaveLength(1)
})

test("a chain in memory whose results are held runs each call once, however often it is resumed", async () => {
  const model = modelOf({ calls: [{ name: "pay" }] }, { say: "Paid." })
  const app = await openTestApp({ rules: [{ allow: "pay", because: "the test" }] })
  let paid = 0
  app.registry.register(tool({ name: "pay", effect: "communicate", execute: () => `paid ${++paid}` }))
  const chain = new ToolChain(app, "operator", model, { tools: ["pay"], checkToolResults: true, waitMs: 10 })
  expect(await chain.run("Pay.")).toMatchObject({ status: "waiting", waiting: [{ state: "held" }] })
  expect(await chain.resume()).toMatchObject({ status: "waiting" })
  const [item] = await app.approvals.list()
  await app.approvals.answer(item!.callId, { kind: "release" }, "ann")
  expect(await chain.resume()).toMatchObject({ status: "completed", toolCallHistory: [{ text: "paid 1" }] })
  expect(paid).toBe(1)
})

test("results that the model is no longer shown may be read again", () => {
  const call = { id: "1", name: "read", input: { page: 1 } }
  const answer = { kind: "assistant", body: { calls: [call], content: [], text: "" } }
  const result = (ref: string) => ({ kind: "results", body: { results: [{ ref, text: "same", callId: ref }] } })
  const begin = { kind: "user", body: { text: "", begins: true, by: "ann" } }
  const made = [begin, answer, result("r1"), answer, result("r2")]
  const asTurns = (turns: readonly object[]) => turns.map((turn, index) => ({ ...turn, index, at: 0 })) as ChainTurn[]
  expect(isRepeated(call, asTurns(made))).toBe(true)
  expect(isRepeated(call, asTurns([...made, { kind: "references", body: { refs: ["r1"] } }]))).toBe(false)
  expect(isRepeated(call, asTurns([...made, { kind: "summary", body: { text: "", before: 3 } }]))).toBe(false)
})

test("results are passed on up to a million characters for one call", () => {
  const result = { ref: "r1", status: "success", text: "x".repeat(400_000) } as CallResult
  const passOn = (times: number) =>
    expandRefs({ all: Array.from({ length: times }, () => ({ $ref: "r1" })) }, new Map([["r1", result]]))
  expect(passOn(2)).toMatchObject({ input: { all: [result.text, result.text] } })
  expect(passOn(3)).toEqual({ problem: expect.stringContaining("too long together") as string })
})
