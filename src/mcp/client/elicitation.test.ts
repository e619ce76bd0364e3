import { expect, test } from "vitest"
import { open, until } from "../../testing/open.ts"
import { definition, toolbox } from "../testing/toolbox.ts"

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
    { say: "answer", value: { name: "Ann", age: 3 } },
    '{"action":"accept","content":{"name":"Ann","age":3}}',
  ],
  ["rejected", { say: "reject", reason: "No." }, '{"action":"decline"}'],
] as const)("a question of a server waits at the desk, and is %s there", async (_how, saying, answer) => {
  const box = toolbox(offered)
  const house = await open({ mcpServers: { box: box.command }, rules })
  await house.mcp.ready()
  const asked = house.call({ agentId: "operator", tool: "mcp:box:ask", input: {} })
  await until(async () => (await house.desk.list()).length === 1, "the question waits")
  const [item] = await house.desk.list()
  expect(item).toMatchObject({
    kind: "question",
    tool: "mcp:box:elicitation.create",
    question: { question: "Who are you?", form: { required: ["name"] } },
  })
  expect(Object.keys(item!.question!.form!["properties"] as object)).toEqual(["name", "age"])
  if (saying.say === "answer") {
    expect(await house.desk.say(item!.callId, { say: "answer", value: { age: 3 } }, "ann")).toMatchObject({ ok: false })
  }
  expect(await house.desk.say(item!.callId, saying, "ann")).toMatchObject({ ok: true })
  expect(await asked).toMatchObject({ result: { content: [{ text: answer }] } })
  const again = { agentId: "operator", tool: item!.tool, input: item!.input }
  expect(await house.call(again)).toMatchObject({ code: "invalid_arguments" })
})

test("the same question of two calls is two questions: a yes to one is none to the other", async () => {
  const house = await open({ mcpServers: { box: toolbox(offered).command }, rules })
  await house.mcp.ready()
  const call = (text: string) => house.call({ agentId: "operator", tool: "mcp:box:ask", input: { text } })
  const both = [call("one"), call("two")]
  await until(async () => (await house.desk.list()).length === 2, "both wait")
  for (const [index, { callId }] of (await house.desk.list()).entries()) {
    await house.desk.say(callId, { say: "answer", value: { name: `Ann ${index}` } }, "ann")
  }
  const said = (await Promise.all(both)).map(({ result }) => JSON.stringify(result))
  expect(new Set(said).size).toBe(2)
})

test("an address to visit is put to a person, and one that is no web address is declined unasked", async () => {
  const house = await open({ mcpServers: { box: toolbox(offered).command }, rules })
  await house.mcp.ready()
  const visit = (url: string) => house.call({ agentId: "operator", tool: "mcp:box:visit", input: { url } })
  expect(await visit("javascript:alert(1)")).toMatchObject({ result: { content: [{ text: '{"action":"decline"}' }] } })
  const asked = visit("https://example.com/sign-in")
  await until(async () => (await house.desk.list()).length === 1, "the question waits")
  const [item] = await house.desk.list()
  expect(item?.question).toMatchObject({ question: "Sign in.", url: "https://example.com/sign-in" })
  await house.desk.say(item!.callId, { say: "answer", value: {} }, "ann")
  expect(await asked).toMatchObject({ result: { content: [{ text: '{"action":"accept"}' }] } })
})

test("nobody answers: the question is cancelled when its time is over, and sampling is refused with a sentence", async () => {
  const house = await open({ mcpServers: { box: toolbox(offered).command }, rules, approvals: { deadline: 0.001 } })
  await house.mcp.ready()
  expect(await house.call({ agentId: "operator", tool: "mcp:box:ask", input: {} })).toMatchObject({
    result: { content: [{ text: '{"action":"cancel"}' }] },
  })
  expect(await house.call({ agentId: "operator", tool: "mcp:box:sample", input: {} })).toMatchObject({
    code: "tool_failed",
    error: expect.stringContaining("Sampling is refused"),
  })
})

test("nobody but the server asks in its name", async () => {
  const house = await open({ mcpServers: { box: toolbox(offered).command }, rules })
  await house.mcp.ready()
  const input = { message: "Your password?", form: '{"type":"object"}', call: "x", id: "y" }
  const result = await house.call({ agentId: "operator", tool: "mcp:box:elicitation.create", input })
  expect(result).toMatchObject({ code: "invalid_arguments", error: expect.stringContaining("no question") })
  expect(await house.desk.list()).toEqual([])
})
