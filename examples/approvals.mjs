// An organisation, a rule and a call that waits. Another house on the same store answers it; then why, and the record.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createQuartermaster, defineTool, isTicket, modelText } from "quartermaster"
import { z } from "zod"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const config = { data: { dir } }
const house = await createQuartermaster(config)
const ran = []
house.registry.register(
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

// Who there is. It is kept in the store, so every house on it knows.
const ann = { kind: "person", id: "ann" }
await house.org.createPerson({ id: "ann", roles: ["lead"] }, ann)
await house.org.createPerson({ id: "bob", roles: ["lead"] }, ann)
await house.org.createRole({ name: "writer", toolGroups: ["mail"] }, ann)
await house.org.createAgent({ id: "wim", role: "writer" }, ann)
await house.rules.add(
  {
    ask: "send_mail",
    args: { "/to": "*@example.com" },
    because: "Two leads see it.",
    approvers: { role: "lead", count: 2 },
  },
  "ann",
)
const mail = { agentId: "wim", tool: "send_mail", input: { to: "all@example.com", text: "Hello" } }

// What would become of it, without calling.
const { verdict, reasons, change } = await house.why(mail)
assert.equal(verdict, "ask")
console.log(reasons.map(({ sentence }) => sentence).join("\n"))
console.log(change.join("\n"))

// It waits. Another house, here in the same process, sees it at the desk and answers. It need not know the tool.
const other = await createQuartermaster(config)
const waiting = new Promise((resolve) => house.on("TOOL_CALL_WAITING", resolve))
const call = house.call(mail)
const { callId } = await waiting
const item = await other.desk.show(callId)
assert.equal(item.preview, "To: all@example.com\n\nHello")
assert.deepEqual(item.remember, [], "what a rule asks for is not remembered")

const heard = async (saying, by) => (await other.desk.say(callId, saying, by)).sentence
assert.equal(await heard({ say: "approve" }, "wim"), "'wim' is an agent, and only a person answers.")
assert.equal(await heard({ say: "approve" }, "ann"), "Counted. 1 more must agree.")

// Bob gives another input. It comes back as a new revision; Ann's vote was for the old one.
await heard({ say: "edit", input: { to: "team@example.com", text: "Hello, team" } }, "bob")
await until(async () => (await other.desk.show(callId))?.revision === 2)
assert.deepEqual((await other.desk.show(callId)).votes, [])
assert.equal(await heard({ say: "approve" }, "bob"), "Counted. 1 more must agree.")
assert.equal(await heard({ say: "approve" }, "ann"), "Answered.")

const ended = await call
assert.deepEqual(ended.result, { sent: "team@example.com" })
assert.deepEqual(ended.ranInput, { to: "team@example.com", text: "Hello, team" })
assert.deepEqual(ran, ["Hello, team"])

// A door that cannot wait is given a ticket. Whoever holds it goes on once somebody has answered.
const ticket = await house.submit({ ...mail, input: { to: "eve@elsewhere.org", text: "Hi" } }, { waitMs: 50 })
assert.ok(isTicket(ticket))
await other.desk.say(ticket.callId, { say: "reject", reason: "Not to strangers." }, "ann")
const rejected = await house.resume(ticket.callId)
assert.equal(rejected.code, "approval_rejected")
console.log(modelText(rejected))

// A frozen agent has nothing, in the list and in the call; the other houses see it a moment later.
await other.freeze({ agentId: "wim", by: "ann", because: "Enough for today." })
await until(() => house.org.view("wim").frozen !== undefined)
assert.deepEqual(house.visibleTools("wim"), [])
assert.equal((await house.call(mail)).code, "frozen")

// Every attempt is in the record, step by step, and nothing in it was changed.
await house.settle()
const story = await house.audit.show(callId)
console.table(story.map(({ kind, by, text, status }) => ({ kind, by, text: text ?? status })))
const told = story.filter(({ kind }) => kind !== "answered").map(({ kind }) => kind)
assert.deepEqual(told, ["asked", "asked", "start", "end"])
const said = story.filter(({ kind }) => kind === "answered").map(({ by, text }) => `${by} ${text}`)
assert.deepEqual(said.sort(), [
  "ann agreed to revision 1",
  "bob agreed to revision 2",
  "bob edited the input",
  "bob, ann approved",
])
const { total, byEnding } = await house.audit.stats({ agentId: "wim" })
assert.equal(total, 3)
assert.deepEqual(byEnding, { success: 1, approval_rejected: 1, frozen: 1 })
assert.equal((await house.audit.verify()).ok, true)

await Promise.all([house.close(), other.close()])
rmSync(dir, { recursive: true })

async function until(isSo) {
  for (let tries = 0; !(await isSo()); tries++) {
    assert.ok(tries < 500, "It should have been so by now.")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
