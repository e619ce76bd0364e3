import { expect, test } from "vitest"
import { openTestApp, until } from "../testing/test-app.ts"
import { definition, toolbox } from "../testing/mcp/toolbox.ts"

const offered = {
  tools: [
    definition("ask"),
    definition("visit", { inputSchema: { type: "object", properties: { url: { type: "string" } } } }),
    definition("sample"),
  ],
}
const rules = [{ allow: "mcp:*", because: "The tests use them." }]

test.each([
  [
    "answered",
    { kind: "answer", value: { name: "Ann", age: 3 } },
    '{"action":"accept","content":{"name":"Ann","age":3}}',
  ],
  ["rejected", { kind: "reject", reason: "No." }, '{"action":"decline"}'],
] as const)("a server's question waits in the approval queue and is %s there", async (_how, decision, answer) => {
  const box = toolbox(offered)
  const app = await openTestApp({ mcpServers: { box: box.command }, rules })
  await app.mcp.ready()
  const asked = app.call({ agentId: "operator", tool: "mcp:box:ask", input: {} })
  await until(async () => (await app.approvals.list()).length === 1, "the question waits")
  const [item] = await app.approvals.list()
  expect(item).toMatchObject({
    kind: "question",
    tool: "mcp:box:elicitation.create",
    question: { question: "Who are you?", form: { required: ["name"] } },
  })
  expect(Object.keys(item!.question!.form!["properties"] as object)).toEqual(["name", "age"])
  if (decision.kind === "answer") {
    expect(await app.approvals.answer(item!.callId, { kind: "answer", value: { age: 3 } }, "ann")).toMatchObject({
      ok: false,
    })
  }
  expect(await app.approvals.answer(item!.callId, decision, "ann")).toMatchObject({ ok: true })
  expect(await asked).toMatchObject({ result: { content: [{ text: answer }] } })
  const again = { agentId: "operator", tool: item!.tool, input: item!.input }
  expect(await app.call(again)).toMatchObject({ code: "invalid_arguments" })
})

test("the same question of two calls is two questions, each with its own answer", async () => {
  const app = await openTestApp({ mcpServers: { box: toolbox(offered).command }, rules })
  await app.mcp.ready()
  const call = (text: string) => app.call({ agentId: "operator", tool: "mcp:box:ask", input: { text } })
  const both = [call("one"), call("two")]
  await until(async () => (await app.approvals.list()).length === 2, "both wait")
  for (const [index, { callId }] of (await app.approvals.list()).entries()) {
    await app.approvals.answer(callId, { kind: "answer", value: { name: `Ann ${index}` } }, "ann")
  }
  const answers = (await Promise.all(both)).map(({ result }) => JSON.stringify(result))
  expect(new Set(answers).size).toBe(2)
})

test("a person is asked to open a URL, but one that is not http is declined at once", async () => {
  const app = await openTestApp({ mcpServers: { box: toolbox(offered).command }, rules })
  await app.mcp.ready()
  const visit = (url: string) => app.call({ agentId: "operator", tool: "mcp:box:visit", input: { url } })
  expect(await visit("javascript:alert(1)")).toMatchObject({ result: { content: [{ text: '{"action":"decline"}' }] } })
  const asked = visit("https://example.com/sign-in")
  await until(async () => (await app.approvals.list()).length === 1, "the question waits")
  const [item] = await app.approvals.list()
  expect(item?.question).toMatchObject({ question: "Sign in.", url: "https://example.com/sign-in" })
  await app.approvals.answer(item!.callId, { kind: "answer", value: {} }, "ann")
  expect(await asked).toMatchObject({ result: { content: [{ text: '{"action":"accept"}' }] } })
})

test("an unanswered question is cancelled at its deadline, and sampling is refused with a sentence", async () => {
  const app = await openTestApp({
    mcpServers: { box: toolbox(offered).command },
    rules,
    approvals: { deadline: 0.001 },
  })
  await app.mcp.ready()
  expect(await app.call({ agentId: "operator", tool: "mcp:box:ask", input: {} })).toMatchObject({
    result: { content: [{ text: '{"action":"cancel"}' }] },
  })
  expect(await app.call({ agentId: "operator", tool: "mcp:box:sample", input: {} })).toMatchObject({
    code: "tool_failed",
    error: expect.stringContaining("Sampling is refused"),
  })
})

test("an agent cannot ask a question in a server's name", async () => {
  const app = await openTestApp({ mcpServers: { box: toolbox(offered).command }, rules })
  await app.mcp.ready()
  const input = { message: "Your password?", form: '{"type":"object"}', call: "x", id: "y" }
  const result = await app.call({ agentId: "operator", tool: "mcp:box:elicitation.create", input })
  expect(result).toMatchObject({ code: "invalid_arguments", error: expect.stringContaining("not a question") })
  expect(await app.approvals.list()).toEqual([])
})
