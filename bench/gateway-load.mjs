/**
 * The load: a separate process that sends raw HTTP over persistent connections, so that no client library is measured.
 * Every answer is checked; a wrong one ends the run.
 */
import { Agent, request as httpRequest } from "node:http"

const modernRevision = "2026-07-28"
const legacyRevision = "2025-06-18"

process.on("message", (message) => {
  tasks[message.task](message).then(
    (value) => process.send({ value }),
    (error) => process.send({ error: error.stack ?? String(error) }),
  )
})

/** Clients by name, so that one can be used for several measurements. */
const clients = new Map()

const tasks = {
  /** Succeeds only when a first call is answered correctly: some gateways listen before their server is ready. */
  async connect({ name, target }) {
    const client = await (target.kind === "sse" ? sseClient(target) : streamableClient(target))
    clients.set(name, { client, target })
    if (target.tool === "") return
    try {
      await tasks.calls({ name, count: 1, together: 1 })
    } catch (error) {
      client.close()
      throw error
    }
  },

  /** Milliseconds each call took. */
  async calls({ name, count, together }) {
    const { client, target } = clients.get(name)
    const took = []
    let next = 0
    const lane = async () => {
      while (next < count) {
        const text = `hello ${next++}`
        const start = performance.now()
        const answer = await client.ask("tools/call", { name: target.tool, arguments: { message: text } })
        took.push(performance.now() - start)
        const reply = answer.result?.content?.[0]?.text
        if (reply === undefined || !reply.endsWith(text)) throw new Error(`A wrong answer: ${JSON.stringify(answer)}`)
      }
    }
    await Promise.all(Array.from({ length: together }, lane))
    return took
  },

  async lists({ name, count, least }) {
    const { client } = clients.get(name)
    for (let done = 0; done < count; done += 1) {
      const { result } = await client.ask("tools/list", undefined)
      if (result.tools.length < least) throw new Error(`The list has ${result.tools.length} tools.`)
    }
  },

  /** Opens clients that initialize, listen and do nothing else. */
  async idle({ target, count }) {
    for (let index = 0; index < count; index += 1) {
      const client = await streamableClient(target)
      await client.listen()
      clients.set(`idle ${index} ${Math.random()}`, { client, target })
    }
  },

  async close({ name }) {
    clients.get(name)?.client.close()
    clients.delete(name)
  },
}

function streamableClient({ url, headers, era = "legacy" }) {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  let last = 0
  let clientHeaders = { ...headers, "mcp-protocol-version": era === "modern" ? modernRevision : legacyRevision }
  const client = {
    async ask(method, params) {
      const id = ++last
      const asked = era === "modern" ? { ...params, _meta: envelope } : params
      const named =
        era === "modern" ? { "mcp-method": method, ...(params?.name && { "mcp-name": params.name }) } : undefined
      const { status, body, ...rest } = await post(
        url,
        agent,
        { ...clientHeaders, ...named },
        {
          jsonrpc: "2.0",
          id,
          method,
          ...(asked && { params: asked }),
        },
      )
      if (status !== 200) throw new Error(`${method} was answered with ${status}: ${body}`)
      return { ...messageIn(rest.headers["content-type"], body, id), headers: rest.headers }
    },
    /** Opens the stream on which a server sends notifications. */
    listen: () =>
      new Promise((resolve, reject) => {
        const listening = httpRequest(url, {
          method: "GET",
          agent,
          headers: { ...clientHeaders, accept: "text/event-stream" },
        })
        listening.on("response", (response) => {
          response.resume()
          if (response.statusCode === 200) resolve()
          else reject(new Error(`Listening was answered with ${response.statusCode}.`))
        })
        listening.on("error", () => {})
        listening.end()
      }),
    close: () => agent.destroy(),
  }
  if (era === "modern") return Promise.resolve(client)
  return (async () => {
    const hello = await client.ask("initialize", helloParams)
    clientHeaders = { ...clientHeaders, "mcp-session-id": hello.headers["mcp-session-id"] }
    await post(url, agent, clientHeaders, { jsonrpc: "2.0", method: "notifications/initialized" })
    return client
  })()
}

/** The transport before streamable HTTP: answers come on one stream. */
function sseClient({ url, headers }) {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
  const waiting = new Map()
  let last = 0
  let endpoint
  const stream = httpRequest(url, { method: "GET", headers: { ...headers, accept: "text/event-stream" } })
  const client = {
    async ask(method, params) {
      const id = ++last
      const answered = new Promise((resolve) => waiting.set(id, resolve))
      const { status, body } = await post(endpoint, agent, headers, { jsonrpc: "2.0", id, method, params })
      if (status >= 300) throw new Error(`${method} was answered with ${status}: ${body}`)
      return answered
    },
    close: () => {
      stream.destroy()
      agent.destroy()
    },
  }
  return new Promise((resolve, reject) => {
    stream.on("error", reject)
    stream.on("response", (response) => {
      if (response.statusCode !== 200) reject(new Error(`Listening was answered with ${response.statusCode}.`))
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk) => {
        text += chunk
        for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
          take(text.slice(0, end))
          text = text.slice(end + 2)
        }
      })
    })
    stream.end()
    const take = (event) => {
      const data = dataOf(event)
      if (/^event: endpoint$/m.test(event)) {
        endpoint = new URL(data, url)
        client.ask("initialize", helloParams).then(async () => {
          await post(endpoint, agent, headers, { jsonrpc: "2.0", method: "notifications/initialized" })
          resolve(client)
        }, reject)
        return
      }
      if (data === "") return
      const message = JSON.parse(data)
      waiting.get(message.id)?.(message)
      waiting.delete(message.id)
    }
  })
}

const helloParams = {
  protocolVersion: legacyRevision,
  capabilities: {},
  clientInfo: { name: "quartermaster-bench", version: "1" },
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": modernRevision,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": helloParams.clientInfo,
}

function post(url, agent, headers, message) {
  const body = JSON.stringify(message)
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, {
      method: "POST",
      agent,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": Buffer.byteLength(body),
        ...headers,
      },
    })
    asked.on("error", reject)
    asked.on("response", (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk) => (text += chunk))
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: text }))
    })
    asked.end(body)
  })
}

function messageIn(type, body, id) {
  if (!type?.startsWith("text/event-stream")) return JSON.parse(body)
  for (const event of body.split("\n\n")) {
    const data = dataOf(event)
    if (data === "") continue
    const message = JSON.parse(data)
    if (message.id === id) return message
  }
  throw new Error(`The stream ended without an answer: ${body}`)
}

function dataOf(event) {
  return event
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice(6))
    .join("\n")
}
