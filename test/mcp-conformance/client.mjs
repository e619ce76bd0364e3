// The client for the official suite: an app with the suite's server as an MCP server, and an agent that calls its tools.
// The suite starts it once for each scenario, with the server's URL as the only argument.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Connection } from "../../build/mcp-servers/connection.js"
import { callbackAdapter, createQuartermaster } from "../../build/index.js"
import { authFor, runSignedIn } from "./client-auth.mjs"

const url = process.argv[2]
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env
const { toolCalls = [], ...credentials } = JSON.parse(context)
const needsSignIn = scenario.startsWith("auth/")

/** What the agent does in a scenario, if it does not simply call every tool. */
const scenarios = {
  tools_call: ({ call }) => call("add_numbers", { a: 5, b: 3 }),
  "json-schema-ref-no-deref": () => {},
  "request-metadata": () => {},
  initialize: () => {},
  "http-standard-headers": useEverything,
  "http-custom-headers": callExactly,
  "json-schema-2020-12-preservation": ({ call, schemaOf }) =>
    call("json_schema_echo", { schema: schemaOf("json_schema_2020_12_tool") }),
  "sep-2322-client-request-state": async ({ call }) => {
    await Promise.all([call("test_mrtr_echo_state"), call("test_mrtr_unrelated")])
    await call("test_mrtr_no_state")
    // The SDK refuses a result of the newer protocol without a resultType, and sends no second request.
    await call("test_mrtr_no_result_type").catch(() => {})
  },
}

const dir = mkdtempSync(join(tmpdir(), "qm-client-"))
const app = await openApp()
try {
  await app.mcp.ready()
  const [state] = app.mcp.list()
  if (needsSignIn) await runSignedIn(app, scenario, () => callEveryTool(agent()))
  else if (state.state !== "connected") throw new Error(state.problem)
  else await (scenarios[scenario] ?? callEveryTool)(agent())
} finally {
  await app.close()
  rmSync(dir, { recursive: true, force: true })
}

function openApp() {
  return createQuartermaster(
    {
      data: { dir },
      mcpServers: { suite: { url, ...(needsSignIn ? { auth: authFor(scenario, credentials) } : {}) } },
      org: { roles: [{ name: "caller", toolGroups: ["suite"] }], agents: [{ id: "caller", role: "caller" }] },
      rules: [{ allow: "group:suite", because: "It is the suite." }],
    },
    // A person who accepts a form without filling in anything.
    { version: "1.0.0", approvals: callbackAdapter({ onQuestion: () => ({ answer: formAnswer() }) }) },
  )
}

function formAnswer() {
  return scenario.startsWith("sep-2322") ? { confirmed: true } : {}
}

function agent() {
  const tools = app.visibleTools("caller")
  const run = async (tool, input) => {
    const result = await app.call({ agentId: "caller", tool, input })
    if (!result.success) throw new Error(`${tool}: ${result.error}`)
    return result.result
  }
  return {
    tools,
    call: (tool, input = {}) => run(`mcp:suite:${tool}`, input),
    schemaOf: (tool) => tools.find(({ name }) => name === `mcp:suite:${tool}`).mcp.inputSchema,
    run,
  }
}

async function callEveryTool({ tools, run }) {
  for (const { name, mcp } of tools) await run(name, exampleOf(mcp.inputSchema))
}

async function useEverything(agent) {
  await callEveryTool(agent)
  for (const { uri } of app.mcp.resources("suite")) await agent.run("mcp:suite:resources.read", { uri })
  for (const { name } of app.mcp.prompts("suite")) await agent.run("mcp:suite:prompts.get", { name })
}

/** Calls with exactly the suite's arguments. They have null for a boolean, which the app would refuse. */
async function callExactly() {
  const logger = { debug() {}, info() {}, warn() {}, error() {} }
  const silent = () => {}
  const host = { logger, workspace: dir, version: "1.0.0", onOffer: silent, onState: silent, onResourceUpdated: silent }
  const spec = {
    name: "suite",
    enabled: true,
    url,
    layer: "system",
    prefix: true,
    trust: "first",
    sampling: "refuse",
    roots: "workspace",
  }
  const connection = new Connection(spec, host)
  await connection.ensureConnected()
  const requestContext = { callId: "call", agentId: "caller", signal: new AbortController().signal, timeoutMs: 10_000 }
  for (const { name, arguments: input } of toolCalls) await connection.callTool(name, input, requestContext)
  await connection.close()
}

/** A minimal input for a schema. */
function exampleOf({ properties = {}, required = [] }) {
  const examples = { string: "x", number: 1, integer: 1, boolean: true, array: [], object: {} }
  return Object.fromEntries(required.map((name) => [name, examples[properties[name]?.type] ?? null]))
}
