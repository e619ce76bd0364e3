// An organisation, a rule, and a call that waits for two approvals. Another app on the same store answers it.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createQuartermaster, defineTool, isTicket, modelText } from "quartermaster"
import { z } from "zod"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const config = { data: { dir } }
const app = await createQuartermaster(config)
const ran = []
app.registry.register(
  defineTool({
    name: "send_mail",
    group: "mail",
    description: "Send a mail.",
    effect: "communicate",
    input: z.object({ to: z.email(), text: z.string() }),
    preview: ({ to, text }) => `To: ${to}\n\n${text}`,
    execute: ({ to, text }) => {
      ran.push(text)
      return { sent: to }
    },
  }),
)

// People, roles and agents are stored, so every app on the same store knows them.
const ann = { kind: "person", id: "ann" }
await app.org.createPerson({ id: "ann", roles: ["lead"] }, ann)
await app.org.createPerson({ id: "bob", roles: ["lead"] }, ann)
await app.org.createRole({ name: "writer", toolGroups: ["mail"] }, ann)
await app.org.createAgent({ id: "wim", role: "writer" }, ann)
await app.rules.add(
  {
    ask: "send_mail",
    args: { "/to": "*@example.com" },
    because: "Two leads see it.",
    approvers: { role: "lead", count: 2 },
  },
  "ann",
)
const mail = { agentId: "wim", tool: "send_mail", input: { to: "all@example.com", text: "Hello" } }

// What would happen to this call, and why, without making it.
const { verdict, reasons, change } = await app.why(mail)
assert.equal(verdict, "ask")
console.log(reasons.map(({ sentence }) => sentence).join("\n"))
console.log(change.join("\n"))

// The call waits for approval. Another app (here in the same process) finds it in its queue. It need not have the tool.
const other = await createQuartermaster(config)
const waiting = new Promise((resolve) => app.on("TOOL_CALL_WAITING", resolve))
const call = app.call(mail)
const { callId } = await waiting
const item = await other.approvals.show(callId)
assert.equal(item.preview, "To: all@example.com\n\nHello")
assert.deepEqual(item.remember, [], "what a rule asks for is not remembered")

const answer = async (decision, by) => (await other.approvals.answer(callId, decision, by)).sentence
assert.equal(await answer({ kind: "approve" }, "wim"), "'wim' is an agent, and only a person answers.")
assert.equal(await answer({ kind: "approve" }, "ann"), "Counted. 1 more must agree.")

// Bob edits the input. That makes a new revision; Ann's vote was for the old one and no longer counts.
await answer({ kind: "edit", input: { to: "team@example.com", text: "Hello, team" } }, "bob")
await until(async () => (await other.approvals.show(callId))?.revision === 2)
assert.deepEqual((await other.approvals.show(callId)).votes, [])
assert.equal(await answer({ kind: "approve" }, "bob"), "Counted. 1 more must agree.")
assert.equal(await answer({ kind: "approve" }, "ann"), "Approved.")

const ended = await call
assert.deepEqual(ended.result, { sent: "team@example.com" })
assert.deepEqual(ended.ranInput, { to: "team@example.com", text: "Hello, team" })
assert.deepEqual(ran, ["Hello, team"])

// A caller that cannot wait gets a ticket, and resumes the call once it has been answered.
const ticket = await app.call({ ...mail, input: { to: "eve@elsewhere.org", text: "Hi" } }, { waitMs: 50 })
assert.ok(isTicket(ticket))
await other.approvals.answer(ticket.callId, { kind: "reject", reason: "Not to strangers." }, "ann")
const rejected = await app.resume(ticket.callId)
assert.equal(rejected.code, "approval_rejected")
console.log(modelText(rejected))

// A frozen agent sees no tools and its calls are denied. Other apps notice it a moment later.
await other.freeze({ agentId: "wim", by: "ann", because: "Enough for today." })
await until(() => app.org.view("wim").frozen !== undefined)
assert.deepEqual(app.visibleTools("wim"), [])
assert.equal((await app.call(mail)).code, "frozen")

// The audit log has every attempt, step by step, and `verify` shows that nothing was changed.
await app.settle()
const entries = await app.audit.show(callId)
console.table(entries.map(({ kind, by, text, status }) => ({ kind, by, text: text ?? status })))
const kinds = entries.filter(({ kind }) => kind !== "answered").map(({ kind }) => kind)
assert.deepEqual(kinds, ["asked", "asked", "start", "end"])
const answers = entries.filter(({ kind }) => kind === "answered").map(({ by, text }) => `${by} ${text}`)
assert.deepEqual(answers.sort(), [
  "ann agreed to revision 1",
  "bob agreed to revision 2",
  "bob edited the input",
  "bob, ann approved",
])
const { total, byEnding } = await app.audit.stats({ agentId: "wim" })
assert.equal(total, 3)
assert.deepEqual(byEnding, { success: 1, approval_rejected: 1, frozen: 1 })
assert.equal((await app.audit.verify()).ok, true)

await Promise.all([app.close(), other.close()])
rmSync(dir, { recursive: true })

async function until(isSo) {
  for (let tries = 0; !(await isSo()); tries++) {
    assert.ok(tries < 500, "timed out")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
