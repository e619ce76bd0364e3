/** Quartermaster's HTTP API with everything on: a token, rules and the audit log. Sends its port and token to the parent. */
import { createQuartermaster } from "../build/index.js"
import { serveHttp } from "../build/interfaces/http/serve.js"

const [folder] = process.argv.slice(2)
const app = await createQuartermaster(
  {
    data: { dir: `${folder}/data` },
    tools: { maxConcurrent: 64 },
    agents: { maxConcurrentTools: 64 },
    org: { roles: [{ name: "worker", toolGroups: ["system"] }], agents: [{ id: "worker", role: "worker" }] },
    rules: [
      { deny: "group:command", role: "worker", because: "Workers run no commands." },
      { ask: "group:network", role: "worker", because: "A person looks at the network." },
    ],
  },
  { workspace: folder },
)
const { token } = await app.tokens.create({ agentId: "worker", name: "bench" }, "bench")
const served = await serveHttp(app, { port: 0, version: "0" })
process.on("disconnect", () => process.exit())
process.send({ port: served.port, token })
