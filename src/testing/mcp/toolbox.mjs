// An MCP server on stdio that returns whatever a test wants, valid or not, so it uses no library. It reads what it
// offers from its JSON file at each request:
//   { tools, resources?, prompts?, results?: { <tool>: CallToolResult } }
// A tool without a result echoes its arguments; `announce`, `steps`, `slow`, `ask` and `visit` do more. The name of each
// call is appended to <file>.calls.
import { appendFileSync, readFileSync } from "node:fs"
import { createInterface } from "node:readline"

const [file] = process.argv.slice(2)
const offered = () => JSON.parse(readFileSync(file, "utf8"))
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const notify = (method, params) => write({ method, params })
const logCall = (line) => appendFileSync(`${file}.calls`, `${line}\n`)
const text = (value) => ({ content: [{ type: "text", text: value }] })

const waiting = new Map()
const cancels = new Map()
let asked = 0

/** A request of ours to the client; resolves with its result. */
function ask(method, params) {
  const id = `ours-${++asked}`
  write({ id, method, params })
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
}

const form = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name"],
}

const tools = {
  async announce() {
    notify("notifications/tools/list_changed")
    return text("announced")
  },
  async steps(_args, { progressToken }) {
    for (const progress of [1, 2]) {
      notify("notifications/progress", { progressToken, progress, total: 2, message: `step ${progress}` })
    }
    notify("notifications/message", { level: "info", logger: "toolbox", data: "between" })
    await new Promise((resolve) => setTimeout(resolve, 10))
    return text("both")
  },
  slow: (_args, _meta, id) =>
    new Promise((_resolve, reject) => {
      logCall("slow began")
      cancels.set(id, () => reject(new Error("cancelled")))
    }),
  ask: async ({ message = "Who are you?" }) =>
    text(JSON.stringify(await ask("elicitation/create", { message, requestedSchema: form }))),
  visit: async ({ url }) =>
    text(
      JSON.stringify(await ask("elicitation/create", { mode: "url", message: "Sign in.", url, elicitationId: "1" })),
    ),
  sample: async () => text(JSON.stringify(await ask("sampling/createMessage", { messages: [], maxTokens: 1 }))),
  crash: () => process.exit(3),
}

const methods = {
  initialize({ protocolVersion }) {
    const { resources, prompts } = offered()
    return {
      protocolVersion,
      serverInfo: { name: "toolbox", version: "1.0.0" },
      capabilities: {
        tools: { listChanged: true },
        logging: {},
        ...(resources && { resources: { subscribe: true, listChanged: true } }),
        ...(prompts && { prompts: { listChanged: true }, completions: {} }),
      },
    }
  },
  ping: () => ({}),
  "logging/setLevel": () => ({}),
  "tools/list": () => ({ tools: offered().tools }),
  async "tools/call"({ name, arguments: args = {}, _meta = {} }, id) {
    logCall(name)
    const { results = {} } = offered()
    if (Object.hasOwn(results, name)) return results[name]
    return Object.hasOwn(tools, name) ? tools[name](args, _meta, id) : text(JSON.stringify(args))
  },
  "resources/list": () => ({ resources: offered().resources }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "note://{name}", name: "note" }] }),
  "resources/read"({ uri }) {
    logCall(`read ${uri}`)
    if (uri.endsWith("missing")) throw Object.assign(new Error("Resource not found"), { code: -32002, data: { uri } })
    return { contents: [{ uri, text: `what is at ${uri}` }] }
  },
  "resources/subscribe"({ uri }) {
    setTimeout(() => notify("notifications/resources/updated", { uri }), 5)
    return {}
  },
  "resources/unsubscribe": () => ({}),
  "prompts/list": () => ({ prompts: offered().prompts }),
  "prompts/get": ({ name, arguments: args = {} }) => ({
    messages: [{ role: "user", content: { type: "text", text: `${name} ${JSON.stringify(args)}` } }],
  }),
  "completion/complete": ({ argument }) => ({ completion: { values: [`${argument.value}a`, `${argument.value}b`] } }),
}

async function answer({ id, method, params = {} }) {
  try {
    if (!Object.hasOwn(methods, method)) throw Object.assign(new Error("Method not found"), { code: -32601 })
    write({ id, result: await methods[method](params, id) })
  } catch (error) {
    write({ id, error: { code: error.code ?? -32000, message: error.message, data: error.data } })
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line)
  if (message.method === "notifications/cancelled") {
    logCall("cancelled")
    cancels.get(message.params.requestId)?.()
  } else if (message.method === undefined) {
    const { resolve, reject } = waiting.get(message.id)
    if (message.error === undefined) resolve(message.result)
    else reject(new Error(message.error.message))
  } else if (message.id !== undefined) void answer(message)
})
