import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import type { QuartermasterEvent } from "../core/events.ts"
import { endings, type EndingCode } from "../core/result.ts"
import { failure } from "../core/ending.ts"
import { modelText } from "../core/model-text.ts"
import type { ToolContext } from "../core/tool.ts"
import { openTestApp, tool } from "../testing/test-app.ts"
import { useFakeClock } from "./testing.ts"

const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic

interface Case {
  what: string
  tool?: string
  input: unknown
  code?: EndingCode
  says?: RegExp | string
}

const badInputs: Case[] = [
  { what: "an unknown tool", tool: "no_such_thing_at_all", input: {}, code: "unknown_tool", says: "not found" },
  { what: "a misspelled name", tool: "ehco", input: {}, code: "unknown_tool", says: 'Did you mean "echo"?' },
  { what: "a name that is no text", tool: 7 as never, input: {}, code: "unknown_tool", says: "not found" },
  { what: "a prototype's name as tool", tool: "constructor", input: {}, code: "unknown_tool", says: "not found" },
  { what: "__proto__ as tool", tool: "__proto__", input: {}, code: "unknown_tool", says: "not found" },
  {
    what: "a wrong type",
    input: { text: 1 },
    code: "invalid_arguments",
    says: "Parameter 'text' expected string, got number",
  },
  { what: "a missing parameter", input: {}, code: "invalid_arguments", says: "Missing required parameter: text" },
  {
    what: "an extra parameter",
    input: { text: "a", txet: 1 },
    code: "invalid_arguments",
    says: "Did you mean 'text'?",
  },
  { what: "null for a text", input: { text: null }, code: "invalid_arguments", says: "expected string, got null" },
  { what: "NaN", input: { text: "a", number: Number.NaN }, code: "invalid_arguments", says: "finite" },
  {
    what: "several problems at once",
    input: { number: "x", more: 1 },
    code: "invalid_arguments",
    says: /text.*number.*more/,
  },
  { what: "an array as input", input: [], code: "invalid_arguments", says: "expected object, got array" },
  { what: "a text as input", input: "text", code: "invalid_arguments", says: "a text that is not a JSON object" },
  { what: "no input at all", input: undefined, code: "invalid_arguments", says: "Missing required parameter: text" },
  { what: "deep nesting", input: { text: "a", any: deep(500) }, code: "invalid_arguments", says: "deeper than 100" },
  {
    what: "a value that contains itself",
    input: { text: "a", any: cyclic },
    code: "invalid_arguments",
    says: "contains itself",
  },
  {
    what: "__proto__ as a key",
    input: JSON.parse('{"text":"a","__proto__":{"x":1}}'),
    code: "invalid_arguments",
    says: "__proto__",
  },
  {
    what: "__proto__ far inside",
    input: JSON.parse('{"text":"a","any":{"b":{"__proto__":1}}}'),
    code: "invalid_arguments",
    says: "any.b.__proto__",
  },
  {
    what: "constructor as a key",
    input: { text: "a", constructor: 1 },
    code: "invalid_arguments",
    says: "Unknown parameter 'constructor'",
  },
  { what: "a function", input: { text: "a", any: () => 1 }, code: "invalid_arguments", says: "JSON data" },
  {
    what: "a class instance",
    input: { text: "a", any: new Map() },
    code: "invalid_arguments",
    says: "plain JSON object",
  },
  { what: "a bigint", input: { text: "a", any: 1n }, code: "invalid_arguments", says: "JSON data" },
  { what: "a huge text", input: { text: "x".repeat(5_000_000) } },
]

const echo = tool({
  name: "echo",
  input: z.object({ text: z.string(), number: z.number().optional(), any: z.unknown().optional() }) as never,
  execute: ({ text }: { text: string }) => ({ length: text.length }),
})

test.each(badInputs)(
  "$what gets a clear ending and leaves a record",
  async ({ tool: name = "echo", input, code, says }) => {
    const system = await openTestApp()
    system.registry.register(echo)
    const result = await system.call({ agentId: "operator", tool: name, input })
    expect(result.code).toBe(code)
    expect(result.success).toBe(code === undefined)
    if (says !== undefined) expect(result.error).toMatch(says)
    const [row] = await system.audit.list()
    expect(row).toMatchObject({ callId: result.callId, status: result.status })
    expect(await system.audit.verify()).toMatchObject({ ok: true })
  },
)

const badTools: { what: string; execute: () => unknown; code?: EndingCode; says?: string }[] = [
  { what: "throws a text", execute: () => { throw "a plain text" }, code: "tool_failed", says: "a plain text" }, // oxlint-disable-line no-throw-literal
  { what: "throws nothing", execute: () => { throw undefined }, code: "tool_failed", says: "without saying why" }, // oxlint-disable-line no-throw-literal
  { what: "throws an error", execute: () => Promise.reject(new Error("it broke")), code: "tool_failed", says: "it broke" },
  { what: "announces a failure", execute: () => { throw failure("There is no file.", { toolCode: "file_not_found" }) }, code: "tool_failed", says: "no file" },
  { what: "returns undefined", execute: () => undefined },
  { what: "returns a thenable", execute: () => ({ then: (done: (value: number) => void) => done(4) }) },
  { what: "returns itself in itself", execute: () => cyclic, code: "output_invalid", says: "JSON" },
  { what: "returns a bigint", execute: () => ({ n: 1n }), code: "output_invalid", says: "JSON" },
  { what: "returns a function", execute: () => () => 1 },
  { what: "prints to stdout", execute: () => (process.stdout.write(""), 1) },
  { what: "calls a tool without being composite", execute: function (this: unknown, ...args: unknown[]) { return (args[1] as { call(name: string, input: unknown): Promise<unknown> }).call("echo", {}) }, code: "tool_failed", says: "composite" },
] // prettier-ignore

test.each(badTools)("a tool that $what ends clearly", async ({ execute, code, says }) => {
  const system = await openTestApp()
  system.registry.register(tool({ execute }))
  const result = await system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(result.code).toBe(code)
  if (says !== undefined) expect(result.error).toContain(says)
  expect((await system.audit.list())[0]?.status).toBe(result.status)
})

test("a tool's own code goes into metadata.toolCode, and executionTime beside it", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({
      execute() {
        throw failure("There is no file.", { toolCode: "file_not_found", metadata: { path: "a" } })
      },
    }),
  )
  const { metadata, durationMs } = await system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(metadata).toEqual({ toolCode: "file_not_found", path: "a", ran: true, executionTime: durationMs })
})

test("an output that breaks its schema is refused, and undeclared fields are dropped", async () => {
  const system = await openTestApp()
  const output = z.object({ sum: z.number() })
  system.registry.register(tool({ name: "wrong", output, execute: () => ({ sum: "3" }) }))
  system.registry.register(tool({ name: "more", output, execute: () => ({ sum: 3, secret: "x" }) }))
  const wrong = await system.call({ agentId: "operator", tool: "wrong", input: {} })
  expect(wrong).toMatchObject({ code: "output_invalid", error: expect.stringContaining("Field 'sum' expected number") })
  const more = await system.call({ agentId: "operator", tool: "more", input: {} })
  expect(more.result).toEqual({ sum: 3 })
})

test("a result has every field of S4's, and one call id everywhere", async () => {
  const system = await openTestApp()
  const events: QuartermasterEvent[] = []
  for (const type of ["TOOL_CALL_REQUESTED", "TOOL_CALL_COMPLETED"] as const)
    system.on(type, (event) => events.push(event))
  const result = await system.call({ agentId: "operator", tool: "base64_encode", input: { text: "a" } })
  expect(result).toMatchObject({ toolName: "base64_encode", success: true, result: { encoded: "YQ==" } })
  expect(result.completedAt).toBeGreaterThanOrEqual(result.startedAt)
  expect(result.durationMs).toBe(result.completedAt! - result.startedAt)
  expect(events.map((event) => "callId" in event && event.callId)).toEqual([result.callId, result.callId])
})

test("requested, then completed or failed, each with its payload", async () => {
  const system = await openTestApp()
  const seen: unknown[] = []
  for (const type of ["TOOL_CALL_REQUESTED", "TOOL_CALL_COMPLETED", "TOOL_CALL_FAILED"] as const) {
    system.on(type, ({ at: _at, callId: _id, agentId: _agent, ...event }) => seen.push(event))
  }
  await system.call({ agentId: "operator", tool: "json_parse", input: { text: "1" } })
  await system.call({ agentId: "operator", tool: "json_parse", input: { text: "{" } })
  expect(seen).toEqual([
    { type: "TOOL_CALL_REQUESTED", toolName: "json_parse", params: { text: "1" } },
    {
      type: "TOOL_CALL_COMPLETED",
      toolName: "json_parse",
      result: { data: 1 },
      startedAt: expect.any(Number),
      durationMs: expect.any(Number),
    },
    { type: "TOOL_CALL_REQUESTED", toolName: "json_parse", params: { text: "{" } },
    expect.objectContaining({ type: "TOOL_CALL_FAILED", code: "tool_failed", durationMs: expect.any(Number) }),
  ])
})

test("what an event says is already in the audit log", async () => {
  const system = await openTestApp()
  const seen: Promise<boolean>[] = []
  system.on("TOOL_CALL_COMPLETED", ({ callId }) => {
    seen.push(system.audit.list().then((rows) => rows.some((row) => row.callId === callId)))
  })
  await system.call({ agentId: "operator", tool: "current_time", input: {} })
  expect(await Promise.all(seen)).toEqual([true])
})

test("the start of a read that streams is in the journal before its first event", async () => {
  const system = await openTestApp()
  const journal = join(system.dir, "journal")
  const starts = () =>
    readdirSync(journal).flatMap((file) => readFileSync(join(journal, file), "utf8").match(/"kind":"start"/g) ?? [])
  const seen: [string, number][] = []
  for (const type of ["TOOL_CALL_REQUESTED", "TOOL_CALL_OUTPUT", "TOOL_CALL_COMPLETED"] as const)
    system.on(type, () => void seen.push([type, existsSync(journal) ? starts().length : 0]))
  const execute = (_input: unknown, { emit }: ToolContext) => emit("first words")
  system.registry.register(tool({ name: "streams", effect: "read", permission: { level: "public" }, execute }))
  await system.call({ agentId: "operator", tool: "streams", input: {} })
  expect(seen).toEqual([
    ["TOOL_CALL_REQUESTED", 1],
    ["TOOL_CALL_OUTPUT", 1],
    ["TOOL_CALL_COMPLETED", 1],
  ])
})

test("a listener that throws does not affect the call", async () => {
  const system = await openTestApp()
  system.on("TOOL_CALL_COMPLETED", () => {
    throw new Error("listener")
  })
  expect(await system.call({ agentId: "operator", tool: "current_time", input: {} })).toMatchObject({ success: true })
})

test("the text for the model says what was not executed, and who decided that", async () => {
  const system = await openTestApp({ approvals: { unattended: "reject" } })
  const rejected = await system.call({ agentId: "operator", tool: "set_env", input: { key: "A", value: "1" } })
  expect(modelText(rejected)).toMatch(/^NOT EXECUTED\. Nobody agreed to the call of set_env/)
  const hidden = await system.call({ agentId: "root", tool: "current_time", input: {} })
  expect(modelText(hidden)).toMatch(/^NOT EXECUTED\. .*current_time.*Role root has no group/)
  const failed = await system.call({ agentId: "operator", tool: "json_parse", input: { text: "{" } })
  expect(modelText(failed)).toMatch(/^Error: The text is not JSON/)
})

test("every code has a status of S1 and an exit code", () => {
  for (const { status, exit } of Object.values(endings)) {
    expect(["not_found", "error", "execution_rejected", "result_rejected"]).toContain(status)
    expect([1, 2, 3, 4]).toContain(exit)
  }
})

const oddRequests: [string, object | null, string][] = [
  ["no agent", { tool: "current_time", input: {} }, "tool_not_available"],
  ["an object for an agent", { agentId: {}, tool: "current_time", input: {} }, "tool_not_available"],
  ["nothing at all", null, "unknown_tool"],
  ["half a character in the tool's name", { agentId: "operator", tool: "a\ud800", input: {} }, "unknown_tool"],
  ["a NUL in the tool's name", { agentId: "operator", tool: "a\0b", input: {} }, "unknown_tool"],
  ["a name cut in an emoji", { agentId: "operator", tool: `${"a".repeat(199)}😀`, input: {} }, "unknown_tool"],
  ["a tool that is no text", { agentId: "operator", tool: Object.create(null), input: {} }, "unknown_tool"],
  ["a key that is no text", { agentId: "operator", tool: "current_time", input: {}, key: {} }, "invalid_arguments"],
  ["a bigint for a user", { agentId: "operator", tool: "current_time", input: {}, userId: 5n }, "invalid_arguments"],
  [
    "five megabytes of user",
    { agentId: "operator", tool: "current_time", input: {}, userId: "x".repeat(5_000_000) },
    "invalid_arguments",
  ],
  [
    "a time limit of NaN",
    { agentId: "operator", tool: "current_time", input: {}, timeoutMs: Number.NaN },
    "invalid_arguments",
  ],
]

test.each(oddRequests)(
  "a request with %s ends clearly, and the record can be read and verified after it",
  async (_what, request, code) => {
    const system = await openTestApp()
    const [odd, good] = await system.callMany([
      request as never,
      { agentId: "operator", tool: "current_time", input: {} },
    ])
    expect(odd).toMatchObject({ code })
    expect(good).toMatchObject({ success: true })
    expect(await system.audit.list()).toHaveLength(2)
    expect(await system.audit.verify()).toMatchObject({ ok: true })
  },
)

test("a generator that never waits is stopped by its time limit all the same", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ timeoutMs: 60, async *execute() { for (;;) yield "x" } })) // prettier-ignore
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ code: "timeout" })
})

test("a thenable that answers with another one that never does is stopped by its time limit", async () => {
  const system = await openTestApp()
  const never = { then: (done: (value: unknown) => void) => done(new Promise(() => {})) }
  system.registry.register(tool({ timeoutMs: 40, execute: () => never }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ code: "timeout" })
})

test("a promise of a stream is a stream, and one without return is fine", async () => {
  const system = await openTestApp()
  const bare = { pieces: ["a", "b"], [Symbol.asyncIterator]() { return this }, next() { return Promise.resolve({ done: this.pieces.length === 0, value: this.pieces.shift() }) } } // prettier-ignore
  system.registry.register(tool({ execute: () => Promise.resolve(bare) }))
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ result: "ab" })
})

test("a secret in the error of a tool does not reach the audit log", async () => {
  const system = await openTestApp()
  system.registry.register(
    tool({
      input: z.object({ password: z.string() }) as never,
      execute: ({ password }: { password: string }) => Promise.reject(new Error(`wrong: ${password}`)),
    }),
  )
  const { callId, error } = await system.call({
    agentId: "operator",
    tool: "probe",
    input: { password: "hunter2-secret" },
  })
  expect(error).toContain("hunter2-secret")
  expect(JSON.stringify(await system.audit.show(callId))).not.toContain("hunter2")
})

test("a question to a person under a tool with a time limit stops its clock", async () => {
  const pass = useFakeClock()
  const system = await openTestApp({}, { ask: async () => (pass(600_000), "yes") })
  system.registry.register(
    tool({
      kind: "composite",
      timeoutMs: 300_000,
      execute: async (_input, { call }) => (await call("ask_user", { question: "Really?" })).success,
    }),
  )
  expect(await system.call({ agentId: "operator", tool: "probe", input: {} })).toMatchObject({ result: true })
})

test("a tool with an unknown field is refused with the nearest known one", () => {
  expect(() => tool({ timeoutms: 5, execute: () => 1 } as never)).toThrow("did you mean 'timeoutMs'")
})

test("a plain generator is refused with what to do, and an unknown format names the known ones", async () => {
  const system = await openTestApp()
  system.registry.register(tool({ *execute() { yield 1 } })) // prettier-ignore
  const result = await system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(result).toMatchObject({ code: "output_invalid", error: expect.stringContaining("async") })
  expect(() => system.toolsFor("operator", { format: "x" as never })).toThrow(
    "There is no format 'x'. Use one of: openai",
  )
})

test("several problems of an input are read as sentences, also after a question", async () => {
  const system = await openTestApp()
  const { error } = await system.call({ agentId: "operator", tool: "read_file", input: { pth: "a" } })
  expect(error).toBe(
    "Validation failed: Unknown parameter 'pth'. Did you mean 'path'? Parameter 'path' is missing; give path or paths. Correct the input of read_file.",
  )
})
