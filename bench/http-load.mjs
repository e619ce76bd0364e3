/** The load: raw HTTP over persistent connections, in a process of its own. Every answer is checked. */
import { Agent, request } from "node:http"

const agents = new Map()

process.on("message", ({ port, token, count, connections }) => {
  load(port, token, count, connections).then(
    (value) => process.send({ value }),
    (error) => process.send({ error: error.stack ?? String(error) }),
  )
})

async function load(port, token, count, connections) {
  const agent = agents.get(port) ?? new Agent({ keepAlive: true, maxSockets: connections })
  agents.set(port, agent)
  const took = []
  let next = 0
  const lane = async () => {
    while (next++ < count) {
      const begun = performance.now()
      await call(agent, port, token)
      took.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: connections }, lane))
  return took
}

const body = JSON.stringify({ input: {} })

function call(agent, port, token) {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": body.length,
  }
  return new Promise((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      method: "POST",
      path: "/v1/tools/current_time/call",
      headers,
      agent,
    })
    sent.on("error", reject)
    sent.on("response", (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk) => (text += chunk))
      response.on("end", () =>
        response.statusCode === 200 && text.includes('"status":"success"') && text.includes('"iso":')
          ? resolve()
          : reject(new Error(`Answered ${response.statusCode}: ${text.slice(0, 300)}`)),
      )
    })
    sent.end(body)
  })
}
