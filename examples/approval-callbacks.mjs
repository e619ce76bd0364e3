// Approvals by callbacks: for a call, for a result, and for a question of ask_user.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { callbackAdapter, createQuartermaster, defineTool, modelText } from "quartermaster"
import { z } from "zod"

const dir = mkdtempSync(join(tmpdir(), "quartermaster-"))
const asked = []
const quartermaster = await createQuartermaster(
  { data: { dir } },
  {
    approvals: callbackAdapter({
      onExecution: ({ tool, args, request }) => {
        asked.push({ tool, args, because: request.reasons[0].sentence })
        if (args.to === "team@example.com") return { approved: true, remember: "input-session", by: "ann" }
        return { approved: false, rejectReason: "Write to the team only." }
      },
      onResult: ({ args }) =>
        args.query === "birthday"
          ? { approved: false, rejectReason: "Personal data." }
          : { approved: true, redact: ["/0/phone"] },
      onQuestion: ({ question, options }) => (question === "Which branch?" ? options[0] : undefined),
    }),
  },
)

quartermaster.registry.registerMany([
  defineTool({
    name: "send_mail",
    group: "mail",
    description: "Send a mail.",
    effect: "communicate",
    input: z.object({ to: z.email(), text: z.string() }),
    preview: ({ to, text }) => `To: ${to}\n\n${text}`,
    execute: ({ to }) => ({ sent: to }),
  }),
  defineTool({
    name: "search_notes",
    group: "notes",
    description: "Search personal notes.",
    effect: "read",
    permission: { requireResultApproval: "always" },
    input: z.object({ query: z.string() }),
    execute: () => [{ note: "born 1970-01-01", phone: "555-0100" }],
  }),
])

const call = (tool, input) => quartermaster.call({ agentId: "operator", tool, input })

// The approval was remembered for this input, so the second call runs without asking.
for (const _ of [1, 2]) assert.equal((await call("send_mail", { to: "team@example.com", text: "Hello" })).success, true)
assert.equal(asked.length, 1)
console.log((await quartermaster.approvals.grants())[0].words.split(" in session ")[0])

const rejected = await call("send_mail", { to: "all@example.com", text: "Hello" })
assert.equal(rejected.status, "execution_rejected")
console.log(modelText(rejected))

const withheld = await call("search_notes", { query: "birthday" })
assert.equal(withheld.status, "result_rejected")
assert.ok(!modelText(withheld).includes("1970"))
console.log(modelText(withheld))

const redacted = await call("search_notes", { query: "phone" })
assert.deepEqual(redacted.result, [{ note: "born 1970-01-01", phone: "[redacted]" }])

const answered = await call("ask_user", { question: "Which branch?", options: ["main", "next"] })
assert.deepEqual(answered.result, { question: "Which branch?", answer: "main" })
assert.equal((await call("ask_user", { question: "Why?" })).metadata.toolCode, "no_answer")

await quartermaster.close()
rmSync(dir, { recursive: true })
