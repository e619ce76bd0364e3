// A person agrees to a call, holds a result back, and a door that cannot wait gets a ticket.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { callbackAdapter, createQuartermaster, defineTool, isTicket, modelText } from "quartermaster"
import { z } from "zod"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const asked = []
const quartermaster = await createQuartermaster(
  { data: { dir } },
  {
    approvals: callbackAdapter({
      onExecution: ({ tool, args, request }) => {
        asked.push({ tool, args, because: request.reasons[0].sentence })
        return args.to === "team@example.com" ? true : { approved: false, rejectReason: "Write to the team only." }
      },
      onResult: () => ({ approved: false, rejectReason: "Personal data." }),
    }),
  },
)

const mail = defineTool({
  name: "send_mail",
  group: "mail",
  description: "Send a mail.",
  effect: "communicate",
  input: z.object({ to: z.email(), text: z.string() }),
  preview: ({ to, text }) => `To: ${to}\n\n${text}`,
  execute: ({ to }) => ({ sent: to }),
})
const search = defineTool({
  name: "search_notes",
  group: "notes",
  description: "Search personal notes.",
  effect: "read",
  permission: { requireResultApproval: "always" },
  input: z.object({ query: z.string() }),
  execute: () => ["born 1970-01-01"],
})
quartermaster.registry.registerMany([mail, search])

const call = (tool, input) => quartermaster.call({ agentId: "operator", tool, input })
assert.equal((await call("send_mail", { to: "team@example.com", text: "Hello" })).success, true)

const rejected = await call("send_mail", { to: "all@example.com", text: "Hello" })
assert.equal(rejected.status, "execution_rejected")
console.log(modelText(rejected))

const withheld = await call("search_notes", { query: "birthday" })
assert.equal(withheld.status, "result_rejected")
assert.ok(!modelText(withheld).includes("1970"))
console.log(modelText(withheld))
assert.equal(asked.length, 2)
await quartermaster.close()

// Without anyone attached, a door that cannot wait is given a ticket; the answer may come from another process.
const later = await createQuartermaster({ data: { dir } })
later.registry.register(mail)
const ticket = await later.submit(
  { agentId: "operator", tool: "send_mail", input: { to: "team@example.com", text: "Later" } },
  { waitMs: 50 },
)
assert.ok(isTicket(ticket))
await later.answer(ticket.callId, { approved: true, by: "ann" })
const ended = await later.resume(ticket.callId)
assert.deepEqual(ended.result, { sent: "team@example.com" })
console.log(`Ticket ${ticket.callId} redeemed.`)

await later.close()
rmSync(dir, { recursive: true })
