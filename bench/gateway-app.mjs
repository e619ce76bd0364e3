/**
 * Quartermaster with everything on: a token for each request, rules, a rate limit and the audit log. Sends its port to
 * the parent process, and its memory usage on request.
 */
import { createQuartermaster, defineTool } from "../build/index.js"
import { serveHttp } from "../build/interfaces/http/serve.js"
import { mcpOverHttp } from "../build/interfaces/mcp/http.js"
import { z } from "zod"

const [folder, everything, way] = process.argv.slice(2)
const withoutFastPath = (app, endpoint, options) => mcpOverHttp(app, endpoint, options, () => () => undefined)
const plenty = { rateLimit: { maxCallsPerMinute: 10_000_000, maxCallsPerHour: 10_000_000 } }

const app = await createQuartermaster(
  {
    data: { dir: `${folder}/data` },
    tools: { maxConcurrent: 64, permissions: { "mcp:everything:echo": plenty } },
    agents: { maxConcurrentTools: 64 },
    mcpServers: { everything: { command: process.execPath, args: [everything, "stdio"] } },
    org: {
      roles: [
        { name: "worker", toolGroups: ["everything"] },
        { name: "lister", toolGroups: ["many"] },
      ],
      agents: [
        { id: "worker", role: "worker" },
        { id: "lister", role: "lister" },
      ],
    },
    rules: [
      { allow: "mcp:everything:echo", role: "worker", because: "Echoing harms nobody." },
      { deny: "mcp:everything:*", args: { "/message": "*rm -rf*" }, because: "Nobody says this here." },
      { ask: "mcp:everything:*", args: { "/message": "*password*" }, because: "A person looks at secrets." },
      { deny: "group:command", role: "worker", because: "Workers run no commands." },
    ],
  },
  { workspace: folder },
)
for (let index = 0; index < 1000; index += 1) {
  app.registry.register(
    defineTool({
      name: `tool_${String(index).padStart(4, "0")}`,
      group: "many",
      description: `Does the thing with number ${index}, and tells what became of it.`,
      effect: "none",
      input: z.object({ text: z.string().describe("What it is about"), count: z.number().optional() }),
      execute: async ({ text }) => ({ text }),
    }),
  )
}
await app.mcp.ready(20_000)
const token = async (agentId) => (await app.tokens.create({ agentId, name: "bench" }, "bench")).token
const served = await serveHttp(app, { port: 0, version: "0" }, way === "sdk" ? withoutFastPath : mcpOverHttp)

process.on("message", (message) => {
  if (message !== "memory") return
  globalThis.gc?.()
  process.send({ memory: process.memoryUsage() })
})
process.on("disconnect", () => process.exit())
process.send({ port: served.port, worker: await token("worker"), lister: await token("lister") })
