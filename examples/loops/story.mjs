// What the examples share: an app with three tools, a person who answers, a model server on this machine, and what must have
// happened in the end.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createQuartermaster, defineTool } from "quartermaster"
import { z } from "zod"
import { startModelServer } from "../../dist/model-server.js"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))

export const app = await createQuartermaster(
  {
    data: { dir },
    org: { roles: [{ name: "clerk", toolGroups: ["office"] }], agents: [{ id: "clara", role: "clerk" }] },
    rules: [{ ask: "send_mail", because: "Somebody reads every mail before it leaves." }],
  },
  { onWaiting: () => {} },
)

const sent = []
app.registry.register(
  defineTool({
    name: "find_customer",
    group: "office",
    description: "Find a customer by name.",
    effect: "read",
    input: z.object({ name: z.string() }),
    permission: { requireResultApproval: "always" },
    execute: ({ name }) => ({ name, mail: "ann@example.com", phone: "555-0199" }),
  }),
)
app.registry.register(
  defineTool({
    name: "send_mail",
    group: "office",
    description: "Send a mail.",
    effect: "communicate",
    input: z.object({ to: z.email(), text: z.string() }),
    execute: ({ to }) => {
      sent.push(to)
      return { sent: to }
    },
  }),
)

let answered = 0
let answeredBeforeNote
app.registry.register(
  defineTool({
    name: "note_call",
    group: "office",
    description: "Note that a customer was written to.",
    effect: "write",
    permission: { level: "public" },
    input: z.object({ name: z.string() }),
    execute: () => {
      answeredBeforeNote = answered
      return "noted"
    },
  }),
)

// The person: removes the phone number from the held result, allows the mail to Ann and no other. In a real program this is
// `qm approvals`, the console, or the option `approvals` of governedTools.
app.on("TOOL_CALL_WAITING", async ({ callId }) => {
  const { kind, input, sessionId, revision } = await app.approvals.show(callId)
  assert.equal(sessionId, "chat-1")
  const answer =
    kind === "result"
      ? { kind: "release", redact: ["/phone"] }
      : input.to === "ann@example.com"
        ? { kind: "approve" }
        : { kind: "reject", reason: "We do not write to everyone." }
  if (kind === "call") answered++
  const { ok, sentence } = await app.approvals.answer(callId, answer, "ann", revision)
  assert.ok(ok, sentence)
})

// The model: it looks Ann up, writes to her and to everyone, notes it, and says what came of it.
export const question = "Tell Ann that the office is closed tomorrow."
const answer = "Ann has been told. I could not write to everyone."
const text = "The office is closed tomorrow."
export const server = await startModelServer()
server.reply(
  { calls: [{ id: "call_1", name: "find_customer", arguments: { name: "Ann" } }], pieces: 5 },
  {
    text: "I write to both.",
    calls: [
      { id: "call_2", name: "send_mail", arguments: { to: "ann@example.com", text } },
      { id: "call_3", name: "send_mail", arguments: { to: "all@example.com", text } },
      { id: "call_4", name: "note_call", arguments: { name: "Ann" } },
    ],
    pieces: 5,
  },
  { text: answer, pieces: 5 },
)

/** Fails unless everything happened as it should. `pieces` are the pieces of text in which the last answer came. */
export async function finish(pieces) {
  console.log(pieces.join("|"))
  assert.equal(pieces.join(""), answer)
  assert.ok(pieces.length > 3, "the answer came in pieces")
  assert.equal(server.requests.length, 3)
  assert.deepEqual(sent, ["ann@example.com"], "what a person refused did not run")
  assert.equal(answeredBeforeNote, 2, "a call with effects waits for the questions of its answer")

  // What the model was told in its last request.
  const told = JSON.stringify(server.requests.at(-1).body.messages)
  assert.match(told, /find_customer/)
  assert.match(told, /ann@example\.com/)
  assert.doesNotMatch(told, /555-0199/, "the model does not see what a person removed")
  assert.match(told, /sent.{1,8}ann@example\.com/)
  assert.match(told, /NOT EXECUTED.*We do not write to everyone.*Do not retry/)

  await app.settle()
  const calls = await app.audit.list()
  console.table(calls.map(({ tool, agentId, status, code }) => ({ tool, agentId, status, code })))
  assert.deepEqual(calls.map(({ code }) => code ?? "success").sort(), [
    "approval_rejected",
    "success",
    "success",
    "success",
  ])
  await server.close()
  await app.close()
  rmSync(dir, { recursive: true })
}
