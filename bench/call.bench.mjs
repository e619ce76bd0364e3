/**
 * One call of one tool, `{ a, b }` to `{ sum }`, in the peers and in nothing but Node.
 * Libraries are imported in `prepare`, so that the process of one row never loads another.
 */
import fs from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { inFlight, oneAtATime } from "./measure.mjs"

export const name = "One tool call"
export const reference = "LangChain invoke"
export const floor = "bare async function"

const unit = "µs/call"
const add = async ({ a, b }) => ({ sum: a + b })
const sumOf = ({ sum }) => sum

export const rows = [
  {
    row: "bare async function",
    unit,
    describe: "The tool's function itself, awaited; nothing is checked.",
    run: () => oneAtATime(add, sumOf),
  },
  zodRow(),
  langChainRow({
    row: "LangChain invoke",
    describe: "@langchain/core tool().invoke(input), tracing off.",
    measure: oneAtATime,
  }),
  langChainRow({
    row: "LangChain invoke, 64 in flight",
    reference: "LangChain invoke, 64 in flight",
    describe: "The same with 64 calls in flight; elapsed time by calls.",
    measure: (call, read) => inFlight(64, call, read),
  }),
  openAiAgentsRow(),
  mcpRow(),
  appendRow({
    row: "append + fdatasync",
    describe: "A line of 400 bytes appended with fs.write, then fs.fdatasync, both asynchronous, one line at a time.",
    append: async (file, line) => {
      await write(file, line)
      await datasync(file)
    },
  }),
  appendRow({
    row: "append + fdatasyncSync",
    describe: "The same with fs.writeSync and fs.fdatasyncSync.",
    append: (file, line) => {
      fs.writeSync(file, line)
      fs.fdatasyncSync(file)
    },
  }),
]

const write = promisify(fs.write)
const datasync = promisify(fs.fdatasync)

async function inputSchema() {
  const { z } = await import("zod")
  return z.object({ a: z.number(), b: z.number() })
}

function zodRow() {
  let schema
  return {
    row: "Zod parse + function",
    unit,
    describe: "schema.parse(input), then the awaited function.",
    async prepare() {
      schema = await inputSchema()
    },
    run: () => oneAtATime((input) => add(schema.parse(input)), sumOf),
  }
}

function langChainRow({ measure, ...row }) {
  let tool
  return {
    ...row,
    unit,
    async prepare() {
      const langChain = await import("@langchain/core/tools")
      tool = langChain.tool(add, {
        name: "add",
        description: "Adds two numbers.",
        schema: await inputSchema(),
      })
    },
    run: () => measure((input) => tool.invoke(input), sumOf),
  }
}

/** The tool takes the model's JSON text, so the text is what it is given. */
function openAiAgentsRow() {
  let tool
  let context
  return {
    row: "OpenAI Agents invoke",
    unit,
    describe: "@openai/agents tool().invoke(context, json), tracing off, no timeout.",
    async prepare() {
      const agents = await import("@openai/agents")
      agents.setTracingDisabled(true)
      context = new agents.RunContext()
      tool = agents.tool({
        name: "add",
        description: "Adds two numbers.",
        parameters: await inputSchema(),
        execute: add,
      })
    },
    run: () => oneAtATime(({ a, b }) => tool.invoke(context, `{"a":${a},"b":${b}}`), sumOf),
  }
}

/** The list is asked once, as a client does: it makes the client check structured results too. */
function mcpRow() {
  let client
  let server
  return {
    row: "MCP SDK callTool in memory",
    unit,
    describe: "Client.callTool to McpServer over InMemoryTransport; both sides check, no bytes are written.",
    async prepare() {
      const { Client } = await import("@modelcontextprotocol/client")
      const { InMemoryTransport, McpServer } = await import("@modelcontextprotocol/server")
      const { z } = await import("zod")
      server = new McpServer({ name: "bench", version: "1.0.0" })
      server.registerTool(
        "add",
        {
          description: "Adds two numbers.",
          inputSchema: await inputSchema(),
          outputSchema: z.object({ sum: z.number() }),
        },
        async (input) => ({ content: [], structuredContent: await add(input) }),
      )
      client = new Client({ name: "bench", version: "1.0.0" })
      const [near, far] = InMemoryTransport.createLinkedPair()
      await Promise.all([server.connect(far), client.connect(near)])
      await client.listTools()
    },
    run: () =>
      oneAtATime(
        (input) => client.callTool({ name: "add", arguments: input }),
        (result) => result.structuredContent.sum,
      ),
    async close() {
      await client.close()
      await server.close()
    },
  }
}

/** What it costs to have one record of a call on the disk. */
function appendRow({ append, ...row }) {
  const line = Buffer.from(`${JSON.stringify({ record: "x".repeat(386) })}\n`)
  let file
  const appendAndAdd = async (input) => {
    await append(file, line)
    return { sum: input.a + input.b }
  }
  return {
    ...row,
    unit: "µs/line",
    prepare({ folder }) {
      file = fs.openSync(join(folder, "records.jsonl"), "a")
    },
    run: () => oneAtATime(appendAndAdd, sumOf),
    close() {
      fs.closeSync(file)
    },
  }
}
