// An MCP server on stdio that behaves as a test wants, well or badly. It uses no library, so that it can break the rules.
// Its only argument is JSON: { era, hang, tools, page, exit, grandchild, stderr, noisy }.
import { spawn } from "node:child_process"
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"

const options = JSON.parse(process.argv[2] ?? "{}")
const era = options.era ?? "legacy"
const subscriptionKey = "io.modelcontextprotocol/subscriptionId"
const running = new Map()
const pendingRequests = new Map()
const cancelled = []
const listening = new Map()
const subscribed = new Set()
let extra = 0
let nextId = 1

if (options.log !== undefined) appendFileSync(options.log, `${process.pid}\n`)
if (options.stderr !== undefined) process.stderr.write(`${options.stderr}\n`)
if (options.exit !== undefined) process.exit(options.exit)
if (options.ignoreTerm === true) process.on("SIGTERM", () => {})
if (options.grandchild === true) {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
    stdio: ["ignore", "inherit", "ignore"],
  })
  if (options.log !== undefined) appendFileSync(options.log, `${child.pid}\n`)
}
if (options.stays === true) setInterval(() => {}, 1000)

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const notify = (method, params) => send({ method, ...(params === undefined ? {} : { params }) })
const text = (value) => ({ content: [{ type: "text", text: String(value) }] })
const isModern = (params) => params?._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}
const info = { name: "stub", version: "1.0.0" }

const toolNames =
  "echo slow progress log elicit sample roots die huge flood grow broken environment cancelled fail refuse lie change park level pid replies capabilities visit able many".split(
    " ",
  )
const tools = () => [
  ...toolNames.map((name) => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" } })),
  ...Array.from({ length: (options.tools ?? 0) + extra }, (_, at) => ({
    name: `extra${at}`,
    inputSchema: { type: "object" },
  })),
  ...(options.nameless === true ? [{ description: "no name" }] : []),
]

function page(all, key, params) {
  const size = options.page ?? 1000
  const from = Number(params?.cursor ?? 0)
  const next = from + size < all.length ? { nextCursor: String(from + size) } : {}
  return { [key]: all.slice(from, from + size), ...next, ttlMs: 0, cacheScope: "private" }
}

function changed(what) {
  for (const id of listening.keys()) notify(`notifications/${what}/list_changed`, { _meta: { [subscriptionKey]: id } })
  if (listening.size === 0) notify(`notifications/${what}/list_changed`)
}

/** Asks the client something: by a request, or in the newer protocol by an input_required result. */
function question(request, method, params) {
  if (!isModern(request.params)) {
    return new Promise((resolve) => {
      const id = `ask-${nextId++}`
      pendingRequests.set(id, resolve)
      send({ id, method, params })
    }).then((answer) => text(JSON.stringify(answer)))
  }
  const answer = request.params.inputResponses?.q
  if (answer === undefined)
    return { resultType: "input_required", inputRequests: { q: { method, params } }, requestState: "state-1" }
  return text(JSON.stringify({ result: answer, requestState: request.params.requestState }))
}

const form = { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
const replies = []
let clientCapabilities = {}
let visited = 0
const calls = {
  visit: () =>
    visited++ >= (options.visits ?? 1)
      ? text("visited")
      : Promise.reject({
          code: -32042,
          message: "Go there first.",
          data: { elicitations: [{ mode: "url", message: "Go.", url: "https://example.com/go", elicitationId: "v1" }] },
        }),
  able: (_, request) => text(JSON.stringify(request.params._meta["io.modelcontextprotocol/clientCapabilities"])),
  many(_, request) {
    for (let at = 0; at < 20; at++) {
      send({
        id: `many-${at}`,
        method: "elicitation/create",
        params: { mode: "form", message: "?", requestedSchema: form },
      })
    }
    return calls.slow({}, request)
  },
  pid: () => text(process.pid),
  replies: () => text(JSON.stringify(replies)),
  capabilities: () => text(JSON.stringify(clientCapabilities)),
  echo: (input) => text(input.text),
  environment: (input) =>
    text(JSON.stringify(input.name === undefined ? Object.keys(process.env) : (process.env[input.name] ?? null))),
  cancelled: () => text(JSON.stringify(cancelled)),
  level: () => text(options.level ?? "none"),
  fail: (input) => ({ ...text(input.text ?? "It failed."), isError: true }),
  refuse: () => Promise.reject({ code: -32602, message: "No such tool here." }),
  broken: () => process.stdout.write('this is no JSON\n{"half":\n') && text("still here"),
  lie: () => ({ content: [{ type: "painting" }], structuredContent: 7 }),
  slow: (input, request) =>
    new Promise((resolve) => {
      running.set(request.id, resolve)
      setTimeout(() => resolve(text("slept")), input.ms ?? 60_000)
    }),
  async progress(input, request) {
    const token = request.params._meta?.progressToken
    for (let at = 1; at <= (input.times ?? 3); at++) {
      if (token !== undefined)
        notify("notifications/progress", {
          progressToken: token,
          progress: at,
          total: input.times ?? 3,
          message: `step ${at}`,
        })
    }
    return text(token === undefined ? "no token" : "done")
  },
  log(input) {
    notify("notifications/message", { level: "info", logger: "stub", data: input.text })
    return text("logged")
  },
  elicit: (input, request) =>
    question(
      request,
      "elicitation/create",
      input.url === undefined
        ? { mode: "form", message: input.message ?? "Who?", requestedSchema: form }
        : { mode: "url", message: "Open it.", url: input.url, elicitationId: "e1" },
    ),
  sample: (_, request) =>
    question(request, "sampling/createMessage", {
      messages: [{ role: "user", content: { type: "text", text: "Say yes." } }],
      maxTokens: 10,
    }),
  roots: (_, request) => question(request, "roots/list", {}),
  park(_, request) {
    const rounds = Number(request.params.requestState ?? 0)
    return rounds >= 2
      ? text(`parked ${rounds} times`)
      : { resultType: "input_required", requestState: String(rounds + 1) }
  },
  die(input) {
    if (input.half === true) process.stdout.write('{"jsonrpc":"2.0","id":')
    process.exit(input.code ?? 7)
  },
  huge(input, request) {
    const part = Buffer.alloc(1024 * 1024, "x")
    process.stdout.write(`{"jsonrpc":"2.0","id":${request.id},"result":{"content":[{"type":"text","text":"`)
    for (let at = 0; at < (input.mb ?? 100); at++) process.stdout.write(part)
    process.stdout.write('"}]}}\n')
    return new Promise(() => {})
  },
  flood(input) {
    for (let at = 0; at < (input.times ?? 1000); at++)
      notify(input.method ?? "notifications/message", input.params ?? { level: "info", data: at })
    return text("flooded")
  },
  grow(input) {
    extra += input.by ?? 1
    for (let at = 0; at < (input.times ?? 1); at++) changed("tools")
    return text("grown")
  },
  change(input) {
    const meta = (id) => (id === undefined ? {} : { _meta: { [subscriptionKey]: id } })
    const ids = [...listening]
      .filter(([, filter]) => filter.resourceSubscriptions?.includes(input.uri))
      .map(([id]) => id)
    for (const id of ids) notify("notifications/resources/updated", { uri: input.uri, ...meta(id) })
    if (subscribed.has(input.uri)) notify("notifications/resources/updated", { uri: input.uri })
    return text("changed")
  },
}

const methods = {
  ping: () => ({}),
  "server/discover": () => {
    if (era === "dies") process.exit(1)
    if (era === "legacy") return Promise.reject({ code: -32601, message: "Method not found" })
    return {
      supportedVersions: ["2026-07-28"],
      capabilities,
      instructions: "Be kind.",
      _meta: { "io.modelcontextprotocol/serverInfo": info },
      ttlMs: 0,
      cacheScope: "private",
    }
  },
  initialize({ params }) {
    clientCapabilities = params.capabilities
    const { protocolVersion } = params
    if (era !== "modern") return { protocolVersion, capabilities, serverInfo: info, instructions: "Be kind." }
    const data = { supported: ["2026-07-28"], requested: protocolVersion }
    return Promise.reject({ code: -32022, message: "Unsupported", data })
  },
  "logging/setLevel": ({ params }) => {
    options.level = params.level
    return {}
  },
  "tools/list": ({ params }) => page(tools(), "tools", params),
  "resources/list": ({ params }) => page([{ uri: "stub://one", name: "one" }], "resources", params),
  "resources/templates/list": ({ params }) =>
    page([{ uriTemplate: "stub://{name}", name: "any" }], "resourceTemplates", params),
  "prompts/list": ({ params }) => page([{ name: "greet", arguments: [{ name: "who" }] }], "prompts", params),
  "resources/read": ({ params }) => ({ contents: [{ uri: params.uri, text: "one" }], ttlMs: 0, cacheScope: "private" }),
  "resources/subscribe": ({ params }) => subscribed.add(params.uri) && {},
  "resources/unsubscribe": ({ params }) => (subscribed.delete(params.uri), {}),
  "prompts/get": ({ params }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Hello ${params.arguments?.who}` } }],
  }),
  "completion/complete": ({ params }) => ({ completion: { values: [`${params.argument.value}!`] } }),
  "tools/call": (request) => calls[request.params.name](request.params.arguments ?? {}, request),
}

let isDeaf = false

async function receive(message) {
  isDeaf ||= message.params?.name === "deaf"
  if (isDeaf) return
  if (message.method === undefined) {
    replies.push(message)
    pendingRequests.get(message.id)?.(message)
    return
  }
  if (message.id === undefined) {
    if (message.method === "notifications/initialized" && options.asks !== undefined) {
      send({ id: "early", method: options.asks, params: { mode: "form", message: "Who?", requestedSchema: form } })
    }
    if (message.method !== "notifications/cancelled") return
    cancelled.push(message.params.requestId)
    running.get(message.params.requestId)?.(text("stopped"))
    listening.delete(message.params.requestId)
    return
  }
  if (options.hang === message.method || (era === "silent" && message.method === "server/discover")) return
  if (message.method === "subscriptions/listen") {
    listening.set(message.id, message.params.notifications)
    notify("notifications/subscriptions/acknowledged", {
      _meta: { [subscriptionKey]: message.id },
      notifications: message.params.notifications,
    })
    return
  }
  const method = methods[message.method]
  try {
    if (method === undefined) throw { code: -32601, message: "Method not found" }
    const result = await method(message)
    send({
      id: message.id,
      result: isModern(message.params) && !options.bare ? { resultType: "complete", ...result } : result,
    })
  } catch (error) {
    send({
      id: message.id,
      error: { code: error.code ?? -32603, message: String(error.message ?? error), data: error.data },
    })
  }
}

const input = createInterface({ input: process.stdin })
input.on("line", (line) => void receive(JSON.parse(line)))
if (options.stays !== true) input.on("close", () => process.exit(0))
