/** The floor: our own front with an echo behind it, without tokens to look up, rules, limits, record and upstream. */
import { serveHttp } from "../dist/http/serve.js"

const holder = { id: "token", agentId: "worker", name: "bench", createdBy: "bench", createdAt: 0, expiresAt: null }

const parts = {
  submit: async ({ tool, input }) => ({
    callId: "call",
    toolName: tool,
    version: "1",
    status: "success",
    success: true,
    result: `Echo: ${input.message}`,
    startedAt: 0,
  }),
  tokens: { holder: () => holder, list: () => [holder] },
  visibleTools: () => [],
  wireName: (tool) => tool,
  listVersion: () => "1",
  mayKnow: () => false,
  on: () => () => {},
  sealKey: () => Buffer.alloc(32),
  mcpTools: () => [],
  mcp: {
    ready: async () => {},
    list: () => [],
    onChange: () => () => {},
    resources: () => [],
    templates: () => [],
    prompts: () => [],
  },
  desk: { list: async () => [] },
  health: async () => undefined,
}

const served = await serveHttp(parts, { port: 0, version: "0" })
process.on("disconnect", () => process.exit())
process.send({ port: served.port, worker: "anything" })
