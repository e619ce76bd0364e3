/**
 * A question, one tool call, the final answer: the same model that answers at once in every loop. Libraries are imported in
 * `prepare`, so that the process of one row never loads another.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { oneAtATime } from "./measure.mjs"
import { isSmoke } from "./smoke.mjs"

export const name = "One chain"
export const reference = "AI SDK generateText"
export const floor = "hand-written loop"

const unit = "µs/chain"
const description = "Adds two numbers."
const add = async ({ a, b }) => ({ sum: a + b })
const sumOf = (text) => Number(text)
const usage = { inputTokens: 10, outputTokens: 5 }

export const rows = [
  handWrittenRow(),
  aiSdkRow(),
  langChainRow(),
  ourRow({
    row: "Quartermaster ToolChain",
    describe: "app.chain(agent).run(text): every call takes all steps and is recorded; the conversation is in memory.",
  }),
  ourRow({
    row: "Quartermaster ToolChain, durable",
    describe: "The same with durable: true: five synced writes, and a key for the call.",
    durable: true,
  }),
  scriptedRow({ row: "one chain, 50 ms model", chains: 1 }),
  scriptedRow({ row: "200 chains, 50 ms model", chains: isSmoke ? 5 : 200 }),
]

async function inputSchema() {
  const { z } = await import("zod")
  return z.object({ a: z.number(), b: z.number() })
}

/** What the mock of every row says: a call for "a b", and for the result its sum. */
const argumentsOf = (text) => {
  const [a, b] = text.split(" ")
  return `{"a":${a},"b":${b}}`
}
const answerTo = (result) => String(JSON.parse(result).sum)

function handWrittenRow() {
  let schema
  const model = async (messages) => {
    const last = messages.at(-1)
    return last.role === "user" ? { call: argumentsOf(last.content) } : { text: answerTo(last.content) }
  }
  return {
    row: "hand-written loop",
    unit,
    describe: "JSON.parse, Zod, the function, JSON.stringify in a while loop; nothing is decided or recorded.",
    async prepare() {
      schema = await inputSchema()
    },
    run: () =>
      oneAtATime(async ({ a, b }) => {
        const messages = [{ role: "user", content: `${a} ${b}` }]
        for (;;) {
          const { call, text } = await model(messages)
          if (call === undefined) return text
          const result = JSON.stringify(await add(schema.parse(JSON.parse(call))))
          messages.push({ role: "assistant", call }, { role: "tool", content: result })
        }
      }, sumOf),
  }
}

function aiSdkRow() {
  let ai
  let tools
  const model = {
    specificationVersion: "v3",
    provider: "mock",
    modelId: "mock",
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const last = prompt.at(-1)
      const content =
        last.role === "user"
          ? { type: "tool-call", toolCallId: "1", toolName: "add", input: argumentsOf(last.content[0].text) }
          : { type: "text", text: String(last.content[0].output.value.sum) }
      return {
        content: [content],
        finishReason: { unified: last.role === "user" ? "tool-calls" : "stop", raw: undefined },
        usage: {
          inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 5, text: 5, reasoning: 0 },
        },
        warnings: [],
      }
    },
  }
  return {
    row: "AI SDK generateText",
    unit,
    describe: "generateText with one tool, stopWhen 5 steps, telemetry off; nothing is decided or recorded.",
    async prepare() {
      ai = await import("ai")
      tools = { add: ai.tool({ description, inputSchema: await inputSchema(), execute: add }) }
    },
    run: () =>
      oneAtATime(async ({ a, b }) => {
        const { text } = await ai.generateText({ model, tools, stopWhen: ai.stepCountIs(5), prompt: `${a} ${b}` })
        return text
      }, sumOf),
  }
}

function langChainRow() {
  let agent
  return {
    row: "LangChain createAgent",
    unit,
    describe: "createAgent with one tool, no checkpointer, tracing off; nothing is decided or recorded.",
    async prepare() {
      const { createAgent, tool } = await import("langchain")
      const { BaseChatModel } = await import("@langchain/core/language_models/chat_models")
      const { AIMessage } = await import("@langchain/core/messages")
      class Mock extends BaseChatModel {
        _llmType() {
          return "mock"
        }
        bindTools() {
          return this
        }
        async _generate(messages) {
          const { type, content } = messages.at(-1)
          const message =
            type === "human"
              ? { content: "", tool_calls: [{ id: "1", name: "add", args: JSON.parse(argumentsOf(content)) }] }
              : { content: answerTo(content) }
          return { generations: [{ text: message.content, message: new AIMessage(message) }] }
        }
      }
      const tools = [tool(add, { name: "add", description, schema: await inputSchema() })]
      agent = createAgent({ model: new Mock({}), tools })
    },
    run: () =>
      oneAtATime(async ({ a, b }) => {
        const { messages } = await agent.invoke({ messages: [{ role: "user", content: `${a} ${b}` }] })
        return messages.at(-1).content
      }, sumOf),
  }
}

const mock = {
  name: "mock",
  provider: "mock",
  modelId: "mock",
  async *stream({ messages }) {
    const last = messages.at(-1)
    if (last.role === "user") yield { type: "tool-call", id: "1", name: "add", input: argumentsOf(last.content) }
    else yield { type: "text", block: "1", text: answerTo(last.content[0].output) }
    yield { type: "usage", usage }
    yield { type: "finish", reason: last.role === "user" ? "tool-calls" : "stop" }
  },
}

async function openApp(folder, models = {}) {
  const { createQuartermaster, defineTool } = await import("../dist/index.js")
  const app = await createQuartermaster(
    {
      data: { dir: `${folder}/data` },
      models,
      org: { roles: [{ name: "worker", toolGroups: ["bench"] }], agents: [{ id: "worker", role: "worker" }] },
    },
    { models: { mock }, workspace: folder },
  )
  const input = await inputSchema()
  app.registry.register(defineTool({ name: "add", group: "bench", description, effect: "none", input, execute: add }))
  return app
}

function ourRow({ durable = false, ...row }) {
  let app
  return {
    ...row,
    unit,
    async prepare({ folder }) {
      app = await openApp(folder)
    },
    run: () =>
      oneAtATime(async ({ a, b }) => {
        const { content } = await app.chain("worker", { model: "mock", durable }).run(`${a} ${b}`)
        return content
      }, sumOf),
    close: () => app.close(),
  }
}

/** Milliseconds until all chains have answered, the best of a few. */
function scriptedRow({ chains, ...row }) {
  const delay = isSmoke ? 1 : 50
  let app
  return {
    ...row,
    unit: "ms",
    reference: "one chain, 50 ms model",
    describe: "Chains of one agent at once, with a scripted model that takes 50 ms for each of two answers.",
    async prepare({ folder }) {
      const script = join(folder, "script.yml")
      const steps = [{ call: { add: { a: 1, b: 2 } }, delay }, { expect: { contains: "3" } }, { say: "3", delay }]
      writeFileSync(script, JSON.stringify(steps))
      app = await openApp(folder, { slow: { provider: "scripted", script } })
    },
    async run() {
      const times = []
      for (let round = 0; round < (isSmoke ? 1 : 5); round += 1) {
        const start = performance.now()
        const ended = await Promise.all(
          Array.from({ length: chains }, () => app.chain("worker", { model: "slow" }).run("Add 1 and 2.")),
        )
        times.push(performance.now() - start)
        for (const { content, error } of ended) if (content !== "3") throw new Error(error ?? content)
      }
      return times.sort((one, other) => one - other)[times.length >> 1]
    },
    close: () => app.close(),
  }
}
