// An MCP server behind Quartermaster and two agents in front of it, each with an ordinary MCP client. They see different
// tools, an approval is answered in the client, and everything is in the audit log.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const config = join(dir, "quartermaster.json")
const mcpServers = { notes: { command: process.execPath, args: [here("mcp/notes-server.mjs")] } }
const rules = [
  { allow: "mcp:notes:find", because: "Looking changes nothing." },
  { deny: "mcp:notes:forget", role: "reader", because: "Readers delete nothing." },
]
const org = {
  roles: [
    { name: "reader", toolGroups: ["notes"] },
    { name: "writer", toolGroups: ["notes"] },
  ],
  agents: [
    { id: "rea", role: "reader" },
    { id: "wim", role: "writer" },
  ],
}
// What deletes has high risk, which is answered in the client only where it is trusted with everything.
const approvals = { inClient: "all" }
writeFileSync(config, JSON.stringify({ mcpServers, rules, org, approvals }))

const environment = { ...process.env, HOME: dir }
const words = [here("../dist/qm.js"), "--config", config, "--data", join(dir, "data"), "--json"]
const qm = (...more) => JSON.parse(execFileSync(process.execPath, [...words, ...more], { env: environment }).toString())

// The server prints its address in one line.
const server = spawn(process.execPath, [...words, "serve", "--port", "0"], {
  env: environment,
  stdio: ["ignore", "pipe", "inherit"],
})
const [line] = await new Promise((resolve) => createInterface(server.stdout).once("line", (...given) => resolve(given)))
const { mcp } = JSON.parse(line)

/** An ordinary client with a token for the agent. Its person approves everything. */
async function clientOf(agent) {
  const { token } = qm("tokens", "create", "--agent", agent, "--person", "me")
  const client = new Client(
    { name: "example", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  )
  const asked = []
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params.message)
    await setTimeout(1000) // reads it: an answer within half a second is taken for a program's
    return { action: "accept", content: { decision: "once" } }
  })
  const headers = { Authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit: { headers } }))
  return { client, asked }
}

const names = async (client) => (await client.listTools()).tools.map(({ name }) => name)
const call = async (client, name, given) => {
  const { content, isError = false } = await client.callTool({ name, arguments: given })
  return { text: content[0].text, isError }
}

try {
  const reader = await clientOf("rea")
  const writer = await clientOf("wim")
  assert.deepEqual(await names(reader.client), ["notes__find"])
  assert.deepEqual(await names(writer.client), ["notes__find", "notes__forget"])

  assert.equal((await call(reader.client, "notes__find", { name: "milk" })).text, "Buy milk.")
  const denied = await call(reader.client, "notes__forget", { name: "milk" })
  assert.equal(denied.isError, true)
  assert.match(denied.text, /Readers delete nothing/)

  assert.equal((await call(writer.client, "notes__forget", { name: "milk" })).text, "Forgot milk.")
  assert.match(writer.asked[0], /wants to call mcp:notes:forget/)
  assert.deepEqual(reader.asked, [])

  await reader.client.close()
  await writer.client.close()
  const record = qm("audit", "list").map(({ agentId, tool, status }) => `${agentId} ${tool} ${status}`)
  assert.deepEqual(record.toReversed(), [
    "rea mcp:notes:find success",
    "rea mcp:notes:forget error",
    "wim mcp:notes:forget success",
  ])
  assert.equal(qm("audit", "verify").ok, true)
  console.log("Two agents, one server, every call decided and recorded.")
} finally {
  server.kill()
  await new Promise((resolve) => server.once("exit", resolve))
  rmSync(dir, { recursive: true, force: true })
}
