import { expect, test } from "vitest"
import { callResult } from "../../interfaces/mcp/call-result.ts"
import { answerText } from "../../core/model-text.ts"
import { openTestApp, tool, until } from "../../testing/test-app.ts"

const rules = [{ ask: "send", approvers: { count: 2 }, because: "Two people look at it." }]
const people = [{ id: "ann" }, { id: "bob" }]

test.each([
  ["one person", [], ["ann"], [" Only this once. "], "Only this once."],
  ["two people", rules, ["ann", "bob"], ["Only once.", "And keep it short."], "Only once.\nAnd keep it short."],
  ["a note of blanks", [], ["ann"], ["  "], undefined],
])("%s: the model reads what was said with the approval", async (_who, given, by, notes, expected) => {
  const app = await openTestApp({ org: { people }, rules: given } as never)
  app.registry.register(tool({ name: "send", effect: "communicate", execute: () => "sent" }))
  const running = app.call({ agentId: "operator", tool: "send", input: {} })
  await until(async () => (await app.approvals.list()).length === 1, "it waits")
  const [{ callId } = { callId: "" }] = await app.approvals.list()
  for (const [index, who] of by.entries())
    expect(await app.approvals.answer(callId, { kind: "approve", note: notes[index] }, who)).toMatchObject({ ok: true })
  const ended = await running
  expect(ended).toMatchObject({ success: true, result: "sent" })
  expect(ended.approvalNote).toBe(expected)
  const said = `A person approved this and says: ${JSON.stringify(expected)}`
  expect(answerText(ended, "send")).toBe(expected === undefined ? "sent" : `${said}\nsent`)
  expect(callResult(ended, undefined).content[0]).toEqual({
    type: "text",
    text: expected === undefined ? "sent" : said,
  })
  await app.settle()
  const entries = await app.audit.show(callId)
  const texts = entries.flatMap((entry) => (entry.kind === "answered" ? [entry.text] : []))
  for (const note of notes.map((each) => each.trim()).filter((each) => each !== ""))
    expect(texts.join("\n")).toContain(note)
})
