// Plays the client for the official suite: a house that has the suite's server among its MCP servers, and an agent that
// calls what it finds there. The suite starts it once for each scenario, with the server's address as the only argument.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Connection } from "../../../dist/mcp/client/connection.js"
import { callbackAdapter, createQuartermaster } from "../../../dist/index.js"
import { authFor, signsIn } from "./client-auth.mjs"

const url = process.argv[2]
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env
const { toolCalls = [], ...told } = JSON.parse(context)
const isAboutSigningIn = scenario.startsWith("auth/")

/** What the agent does where it does not just call every tool that it finds. */
const scenarios = {
  tools_call: ({ call }) => call("add_numbers", { a: 5, b: 3 }),
  "json-schema-ref-no-deref": () => {},
  "request-metadata": () => {},
  initialize: () => {},
  "http-standard-headers": usesEverything,
  "http-custom-headers": callsAsTold,
  "json-schema-2020-12-preservation": ({ call, schemaOf }) =>
    call("json_schema_echo", { schema: schemaOf("json_schema_2020_12_tool") }),
  "sep-2322-client-request-state": async ({ call }) => {
    await Promise.all([call("test_mrtr_echo_state"), call("test_mrtr_unrelated")])
    await call("test_mrtr_no_state")
    // The SDK takes a result of the newer protocol that does not name its kind for none, and makes no second request.
    await call("test_mrtr_no_result_type").catch(() => {})
  },
}

const dir = mkdtempSync(join(tmpdir(), "qm-client-"))
const house = await openHouse()
try {
  await house.mcp.ready()
  const [state] = house.mcp.list()
  if (isAboutSigningIn) await signsIn(house, scenario, () => callsEveryTool(agent()))
  else if (state.state !== "connected") throw new Error(state.problem)
  else await (scenarios[scenario] ?? callsEveryTool)(agent())
} finally {
  await house.close()
  rmSync(dir, { recursive: true, force: true })
}

function openHouse() {
  return createQuartermaster(
    {
      data: { dir },
      mcpServers: { suite: { url, ...(isAboutSigningIn ? { auth: authFor(scenario, told) } : {}) } },
      org: { roles: [{ name: "caller", toolGroups: ["suite"] }], agents: [{ id: "caller", role: "caller" }] },
      rules: [{ allow: "group:suite", because: "It is the suite." }],
    },
    // A person who agrees to a form without filling in anything.
    { version: "1.0.0", approvals: callbackAdapter({ onQuestion: () => ({ answer: filledIn() }) }) },
  )
}

function filledIn() {
  return scenario.startsWith("sep-2322") ? { confirmed: true } : {}
}

function agent() {
  const tools = house.visibleTools("caller")
  const run = async (tool, input) => {
    const result = await house.call({ agentId: "caller", tool, input })
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

async function callsEveryTool({ tools, run }) {
  for (const { name, mcp } of tools) await run(name, exampleOf(mcp.inputSchema))
}

async function usesEverything(agent) {
  await callsEveryTool(agent)
  for (const { uri } of house.mcp.resources("suite")) await agent.run("mcp:suite:resources.read", { uri })
  for (const { name } of house.mcp.prompts("suite")) await agent.run("mcp:suite:prompts.get", { name })
}

/** Calls with exactly what the suite says. It says null for a truth value, which the house would refuse before the server. */
async function callsAsTold() {
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
  await connection.ensure()
  const asking = { callId: "call", agentId: "caller", signal: new AbortController().signal, timeoutMs: 10_000 }
  for (const { name, arguments: input } of toolCalls) await connection.callTool(name, input, asking)
  await connection.close()
}

/** The least that a schema takes. */
function exampleOf({ properties = {}, required = [] }) {
  const examples = { string: "x", number: 1, integer: 1, boolean: true, array: [], object: {} }
  return Object.fromEntries(required.map((name) => [name, examples[properties[name]?.type] ?? null]))
}
