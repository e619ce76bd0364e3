// A server with one agent and one person, and a client for each: the agent's call waits, the person reads the card and
// approves it, and both see it in the event stream and the audit log.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { createClient, QuartermasterProblem } from "quartermaster/client"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const config = join(dir, "quartermaster.json")
const org = {
  roles: [{ name: "writer", toolGroups: ["workspace", "system"] }],
  agents: [{ id: "wim", role: "writer" }],
}
writeFileSync(config, JSON.stringify({ org }))

const qmFile = fileURLToPath(new URL("../dist/qm.js", import.meta.url))
const words = [qmFile, "-C", dir, "--config", config, "--data", join(dir, "data"), "--json"]
const env = { ...process.env, HOME: dir }
const qm = (...more) => JSON.parse(execFileSync(process.execPath, [...words, ...more], { env }).toString())
const { token: agentToken } = qm("tokens", "create", "--agent", "wim")
const { token: personToken } = qm("people", "create", "--id", "ann")

// The server prints its address in one line.
const server = spawn(process.execPath, [...words, "serve", "--port", "0"], {
  env,
  stdio: ["ignore", "pipe", "inherit"],
})
const line = await new Promise((resolve) => createInterface(server.stdout).once("line", resolve))
const baseUrl = new URL(JSON.parse(line).mcp).origin

const wim = createClient({ baseUrl, token: agentToken })
const ann = createClient({ baseUrl, token: personToken })

// Nobody has to be asked for the time.
const time = await wim.call("current_time", {})
console.log(`It is ${JSON.stringify(time.result)}.`)

// Ann follows what happens and approves the call that waits.
async function approveFirst(events) {
  for await (const event of events) {
    if (event.type !== "call" || event.state !== "waiting") continue
    const card = await ann.approvals.get(event.callId)
    console.log(`${card.agent.id} wants: ${card.title.text} (${card.risk.band} risk)`)
    return ann.approvals.answer(card, { kind: "approve" })
  }
}
const events = ann.events()
assert.equal((await events.next()).value.type, "hello")
const answering = approveFirst(events)
const written = await wim.call("write_file", { path: "hello.txt", content: "Hello.\n" })
assert.equal(written.status, "success")
assert.equal((await answering).done, true)

// An agent's token answers nothing.
const refused = await wim.approvals.list().catch((error) => error)
assert(refused instanceof QuartermasterProblem && refused.status === 403)
console.log(refused.message)

const { items } = await ann.audit.list({ agentId: "wim" })
assert.deepEqual(items.map(({ tool }) => tool).sort(), ["current_time", "write_file"])
assert.equal((await ann.audit.verify()).ok, true)

server.kill()
await new Promise((resolve) => server.once("exit", resolve))
rmSync(dir, { recursive: true })
