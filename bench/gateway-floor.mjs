/**
 * The floor: our own HTTP fast path with an echo behind it, without tokens, rules, limits, audit log and upstream server.
 * It is a real app in which only calls and tokens are replaced.
 */
import { createQuartermaster } from "../build/index.js"
import { serveHttp } from "../build/interfaces/http/serve.js"

const [folder] = process.argv.slice(2)
const holder = { id: "token", agentId: "worker", name: "bench", createdBy: "bench", createdAt: 0, expiresAt: null }
const echo = async ({ tool, input }) => ({
  callId: "call",
  toolName: tool,
  version: "1",
  status: "success",
  success: true,
  result: `Echo: ${input.message}`,
  startedAt: 0,
})

const app = await createQuartermaster(
  {
    data: { dir: `${folder}/data` },
    org: { roles: [{ name: "worker" }], agents: [{ id: "worker", role: "worker" }] },
  },
  { workspace: folder },
)
const parts = { ...app, submit: echo, call: echo, tokens: { holder: () => holder, list: () => [holder] } }

const served = await serveHttp(parts, { port: 0, version: "0" })
process.on("disconnect", () => process.exit())
process.send({ port: served.port, worker: "anything" })
