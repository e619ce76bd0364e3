import { expect, test } from "vitest"
import type { FinishReason, ModelMessage, ModelPart } from "./port.ts"
import { readTurn } from "./read-turn.ts"

const finish = (reason: FinishReason): ModelPart => ({ type: "finish", reason })
const call = (input: string, id = "c1", name = "read_file"): ModelPart => ({ type: "tool-call", id, name, input })
const said = (text: string): ModelPart => ({ type: "text", block: "t", text })
const tools = [{ name: "read_file", description: "", inputSchema: {} }]
const read = (parts: readonly ModelPart[], messages: readonly ModelMessage[] = []) =>
  readTurn(parts, { messages, tools })

test.each<FinishReason>(["stop", "tool-calls", "other", "length"])(
  "calls are made because they came, also when the finish reason is %s",
  (reason) => {
    expect(read([call('{"path":"a"}'), finish(reason)])).toMatchObject({
      kind: "turn",
      calls: [{ id: "c1", name: "read_file", input: { path: "a" } }],
    })
  },
)

test.each(["", "  \n", "null", "{}"])("the arguments %j are an empty object", (input) => {
  expect(read([call(input), finish("tool-calls")])).toMatchObject({ calls: [{ input: {} }] })
})

test.each<[string, FinishReason, string]>([
  ['{"path": "a', "length", "cut off"],
  ['{"path": "a', "stop", "not valid JSON"],
  ["", "length", "cut off"],
  ["", "content-filter", "cut off"],
  ['["a"]', "tool-calls", "not a JSON object"],
  ['"{}"', "tool-calls", "not a JSON object"],
  ["7", "tool-calls", "not a JSON object"],
  ["[".repeat(5000), "tool-calls", "nested too deeply"],
  ["{path: a}", "tool-calls", "not valid JSON"],
])(
  "the arguments %.20j with the finish reason %s make the call malformed and are not repaired",
  (input, reason, why) => {
    const reading = read([call(input), finish(reason)])
    expect(reading).toMatchObject({
      calls: [{ id: "c1", malformed: { text: input, sentence: expect.stringContaining(why) as string } }],
      content: [{ type: "tool-call", id: "c1", input: {} }],
    })
  },
)

test("only the last call of an answer that was cut can be cut", () => {
  const reading = read([call("", "c1"), call("", "c2"), finish("length")])
  expect(reading).toMatchObject({
    calls: [
      { id: "c1", input: {} },
      { id: "c2", malformed: {} },
    ],
  })
})

test.each<[string, ModelPart[], unknown]>([
  ["the stream ends without a finish", [call("{}")], { kind: "broken" }],
  ["nothing comes", [], { kind: "broken" }],
  ["the finish reports an error", [call("{}"), finish("error")], { kind: "broken" }],
  [
    "an error comes after a call",
    [call("{}"), { type: "error", error: "x" }, finish("stop")],
    { kind: "broken", error: "x" },
  ],
  ["an error comes and no finish", [call("{}"), { type: "error", error: "x" }], { kind: "broken", error: "x" }],
  ["calls are announced and none came", [said("I look."), finish("tool-calls")], { kind: "lost-calls" }],
  [
    "a call is lost and others came",
    [call("{}"), { type: "error", error: "x" }, finish("tool-calls")],
    { kind: "lost-calls" },
  ],
])("nothing runs before a clean finish: %s", (_, parts, reading) => {
  expect(read(parts)).toEqual(reading)
})

test("missing, unusable and repeated ids are replaced by ids that follow from the place of the call", () => {
  const before: ModelMessage[] = [
    { role: "user", content: "Go." },
    { role: "assistant", content: [{ type: "tool-call", id: "used", name: "read_file", input: {} }] },
    { role: "tool", content: [{ type: "tool-result", id: "used", name: "read_file", output: "" }] },
  ]
  const parts = [
    call("", ""),
    call("", "used"),
    call("", "same"),
    call("", "same"),
    call("", "a b"),
    call("", "x".repeat(65)),
    call("", "functions.look:0"),
    finish("tool-calls"),
  ]
  const ids = (reading: ReturnType<typeof read>) => (reading.kind === "turn" ? reading.calls.map(({ id }) => id) : [])
  expect(ids(read(parts, before))).toEqual([
    "call_3_0",
    "call_3_1",
    "same",
    "call_3_3",
    "call_3_4",
    "call_3_5",
    "functions.look:0",
  ])
  expect(read(parts, before)).toEqual(read(parts, before))
})

test("a replaced id is one that no earlier call has, also where a summary has moved them", () => {
  const earlier = ["call_2_0", "call_2_1"]
  const before: ModelMessage[] = [
    { role: "assistant", content: earlier.map((id) => ({ type: "tool-call", id, name: "read_file", input: {} })) },
    { role: "tool", content: earlier.map((id) => ({ type: "tool-result", id, name: "read_file", output: "" })) },
  ]
  const reading = read([call("", ""), call("", ""), finish("tool-calls")], before)
  expect(reading).toMatchObject({ calls: [{ id: "call_2_2" }, { id: "call_2_3" }] })
})

test.each([
  "I will. <tool_call>\n{}\n</tool_call>",
  '<|tool_call|>{"name":"x"}',
  "<function=read_file>",
  '[TOOL_CALLS] [{"name": "read_file"}]',
  '{"name": "read_file", "arguments": {"path": "a"}}',
  '```json\n{"tool": "read_file"}\n```',
])("the text %j is a call that was described and not made", (text) => {
  expect(read([said(text), finish("stop")])).toMatchObject({ describedCall: true, calls: [] })
})

test.each([
  "The tool call failed.",
  '{"name": "Ada"}',
  "{broken",
  "Use <b>read_file</b>.",
  "It writes `<invoke name=` first.",
])("the text %j is no call", (text) => {
  expect(read([said(text), finish("stop")])).toMatchObject({ describedCall: false })
})

test("without tools, or beside a real call, no text counts as a call", () => {
  const text = said("<tool_call>")
  expect(readTurn([text, finish("stop")], { messages: [] })).toMatchObject({ describedCall: false })
  expect(read([text, call("{}"), finish("stop")])).toMatchObject({ describedCall: false })
})

test("blocks stay in their order, with what their provider needs back", () => {
  const reading = read([
    { type: "reasoning", block: "1", text: "I " },
    { type: "reasoning", block: "1", text: "think." },
    { type: "reasoning", block: "1", text: "", providerMetadata: { anthropic: { signature: "s" } } },
    { type: "reasoning", block: "2", text: "", providerMetadata: { anthropic: { redactedData: "r" } } },
    said("Hello "),
    said("there."),
    {
      type: "tool-call",
      id: "c",
      name: "read_file",
      input: "{}",
      providerMetadata: { google: { thoughtSignature: "g" } },
    },
    { type: "usage", usage: { inputTokens: 3, outputTokens: 2 } },
    finish("tool-calls"),
  ])
  expect(reading).toMatchObject({
    text: "Hello there.",
    reasoning: "I think.",
    usage: { inputTokens: 3, outputTokens: 2 },
    content: [
      { type: "reasoning", text: "I think.", providerMetadata: { anthropic: { signature: "s" } } },
      { type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "r" } } },
      { type: "text", text: "Hello there." },
      { type: "tool-call", id: "c", input: {}, providerMetadata: { google: { thoughtSignature: "g" } } },
    ],
  })
})
