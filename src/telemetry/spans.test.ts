import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { Emitter } from "../app/emitter.ts"
import { silentLogger } from "../core/logger.ts"
import { recordKeyFromText } from "../store/sqlite/record-key.ts"
import { masker } from "../audit/mask.ts"
import { modelOf } from "../agents/testing/played-model.ts"
import { openTestApp, tool } from "../testing/test-app.ts"
import { traceCalls, type Attributes, type Tracer } from "./spans.ts"

interface Recorded {
  name: string
  kind: number
  attributes: Attributes
  startTime: number
  events: [string, Attributes, number][]
  status?: { code: number; message?: string }
  endTime?: number
}

/** A tracer that collects spans in memory, as OpenTelemetry's in-memory exporter does. */
function recordingTracer(): { tracer: Tracer; spans: Recorded[] } {
  const spans: Recorded[] = []
  return {
    spans,
    tracer: {
      startSpan(name, options) {
        const span: Recorded = { name, ...options, events: [] }
        spans.push(span)
        return {
          addEvent: (event, attributes, time) => span.events.push([event, attributes, time]),
          setStatus: (status) => (span.status = status),
          end: (time) => void (span.endTime = time),
        }
      },
    },
  }
}

const call = { callId: "c1", toolName: "probe", agentId: "ann" }
const secrets = masker(recordKeyFromText("ab".repeat(32)))

function listening(options: Parameters<typeof traceCalls>[2] = {}) {
  const emitter = new Emitter(silentLogger)
  const recording = recordingTracer()
  const stop = traceCalls((type, listener) => emitter.on(type, listener), recording.tracer, options)
  return { emitter, stop, ...recording }
}

test("a call that succeeds is one span with the names of the GenAI conventions", () => {
  const { emitter, spans } = listening({
    tool: () => ({ description: "Probes.", input: undefined as never, output: undefined }),
  })
  emitter.emit({ type: "TOOL_CALL_REQUESTED", ...call, at: 100, params: { a: 1 } })
  emitter.emit({ type: "TOOL_CALL_COMPLETED", ...call, at: 150, result: "done", startedAt: 100, durationMs: 50 })
  expect(spans).toEqual([
    {
      name: "execute_tool probe",
      kind: 0,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "probe",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
        "gen_ai.agent.id": "ann",
        "gen_ai.tool.description": "Probes.",
      },
      startTime: 100,
      endTime: 150,
      events: [],
    },
  ])
})

test("a failed call has its code as the error type, and no message", () => {
  const { emitter, spans } = listening()
  emitter.emit({
    type: "TOOL_CALL_FAILED",
    ...call,
    at: 150,
    status: "error",
    code: "timeout",
    error: "Too slow: x",
    startedAt: 100,
    durationMs: 50,
  })
  expect(spans).toMatchObject([
    { startTime: 100, endTime: 150, status: { code: 2 }, attributes: { "error.type": "timeout" } },
  ])
  expect(JSON.stringify(spans)).not.toContain("Too slow")
})

test("content is sent only when it is on, and masked", () => {
  const events = (emitter: Emitter) => {
    emitter.emit({ type: "TOOL_CALL_REQUESTED", ...call, at: 1, params: { password: "hunter2", pin: "4711", a: 1 } })
    emitter.emit({
      type: "TOOL_CALL_COMPLETED",
      ...call,
      at: 2,
      result: { token: "abcdef", b: 2 },
      startedAt: 1,
      durationMs: 1,
    })
    emitter.emit({
      type: "TOOL_CALL_FAILED",
      ...call,
      at: 3,
      status: "error",
      code: "tool_failed",
      error: "password=hunter2 is wrong",
      startedAt: 2,
      durationMs: 1,
    })
  }
  const pin = { json: { properties: { pin: { secret: true } } }, check: () => ({ ok: true as const, value: 0 }) }
  const shown = listening({
    content: true,
    masker: secrets,
    tool: () => ({ description: "", input: pin, output: undefined }),
  })
  events(shown.emitter)
  expect(shown.spans).toMatchObject([
    {
      attributes: {
        "gen_ai.tool.call.arguments": '{"password":"***","pin":"***","a":1}',
        "gen_ai.tool.call.result": '{"token":"***","b":2}',
      },
    },
    { status: { code: 2, message: "password=*** is wrong" } },
  ])
  for (const options of [{}, { content: true }, { content: false, masker: secrets }, { masker: secrets }]) {
    const quiet = listening(options)
    events(quiet.emitter)
    expect(quiet.spans).toHaveLength(2)
    expect(JSON.stringify(quiet.spans)).not.toMatch(/hunter2|4711|abcdef|"a"|arguments|result|wrong/)
    expect(quiet.emitter.hasListeners("TOOL_CALL_REQUESTED")).toBe(false)
  }
})

test("time spent waiting for a person is an event of the span, for the call and for its result", () => {
  const { emitter, spans } = listening()
  emitter.emit({ type: "TOOL_CALL_WAITING", ...call, at: 1000, until: 9000 })
  emitter.emit({ type: "TOOL_CALL_APPROVED", ...call, at: 4000, by: "ann" })
  emitter.emit({ type: "TOOL_CALL_WAITING", ...call, at: 5000, until: 9000 })
  emitter.emit({ type: "TOOL_CALL_RELEASED", ...call, at: 6000, by: "ann" })
  emitter.emit({ type: "TOOL_CALL_COMPLETED", ...call, at: 6001, result: 1, startedAt: 4500, durationMs: 501 })
  expect(spans).toMatchObject([
    {
      startTime: 4500,
      events: [
        ["quartermaster.waited", { "quartermaster.waited_ms": 3000, "quartermaster.outcome": "approved" }, 4500],
        ["quartermaster.waited", { "quartermaster.waited_ms": 1000, "quartermaster.outcome": "released" }, 6000],
      ],
    },
  ])
})

test.each([
  ["TOOL_CALL_REJECTED", "rejected"],
  ["TOOL_CALL_WITHHELD", "withheld"],
  [undefined, "ended"],
] as const)("a wait that ends with %s has the outcome %s", (type, outcome) => {
  const { emitter, spans } = listening()
  emitter.emit({ type: "TOOL_CALL_WAITING", ...call, at: 10, until: 90 })
  if (type !== undefined) emitter.emit({ type, ...call, at: 20, by: "ann", reason: "No." })
  emitter.emit({
    type: "TOOL_CALL_FAILED",
    ...call,
    at: 30,
    status: "error",
    code: "aborted",
    error: "",
    startedAt: 10,
    durationMs: 0,
  })
  const waited_ms = type === undefined ? 20 : 10
  expect(spans[0]!.events).toMatchObject([
    [expect.anything(), { "quartermaster.waited_ms": waited_ms, "quartermaster.outcome": outcome }, 10 + waited_ms],
  ])
})

test("calls that never end here are forgotten, oldest first, and no spans are sent after stopping", () => {
  const { emitter, spans, stop } = listening()
  for (let index = 0; index < 10_001; index++)
    emitter.emit({ type: "TOOL_CALL_WAITING", ...call, callId: `c${index}`, at: 1, until: 2 })
  const end = (callId: string) =>
    emitter.emit({ type: "TOOL_CALL_COMPLETED", ...call, callId, at: 5, result: 1, startedAt: 5, durationMs: 0 })
  end("c0")
  end("c10000")
  expect(spans.map((span) => span.events.length)).toEqual([0, 1])
  stop()
  end("c1")
  expect(spans).toHaveLength(2)
  for (const type of ["TOOL_CALL_COMPLETED", "TOOL_CALL_FAILED", "TOOL_CALL_WAITING"] as const)
    expect(emitter.hasListeners(type)).toBe(false)
})

test("a tracer that throws affects no call, and every call of an app is traced once, also refused ones", async () => {
  const system = await openTestApp()
  const { tracer, spans } = recordingTracer()
  traceCalls(system.on, { startSpan: () => { throw new Error("no") } }) // prettier-ignore
  traceCalls(system.on, tracer, { content: true, masker: secrets, tool: (name) => system.registry.get(name) })
  system.registry.register(tool({ input: z.object({ a: z.number() }) as never, execute: ({ a }: { a: number }) => { if (a > 1) throw new Error("large"); return a } })) // prettier-ignore
  const input = (a: unknown) => ({ agentId: "operator", tool: "probe", input: { a } })
  const results = [await system.call(input(1)), await system.call(input(2)), await system.call(input("x"))]
  expect(results.map((result) => result.code)).toEqual([undefined, "tool_failed", "invalid_arguments"])
  expect(
    spans.map((span) => [
      span.attributes["gen_ai.tool.call.id"],
      span.attributes["error.type"],
      span.attributes["gen_ai.tool.call.arguments"],
    ]),
  ).toEqual([
    [results[0]!.callId, undefined, '{"a":1}'],
    [results[1]!.callId, "tool_failed", '{"a":2}'],
    [results[2]!.callId, "invalid_arguments", '{"a":"x"}'],
  ])
  expect(spans[0]!.attributes).toMatchObject({
    "gen_ai.tool.description": "A tool of a test.",
    "gen_ai.tool.call.result": "1",
  })
})

test("telemetry.enabled sends spans to the SDK this process has loaded, without content unless it is on", async () => {
  const { trace: api } = await import("@opentelemetry/api")
  const { tracer, spans } = recordingTracer()
  api.setGlobalTracerProvider({ getTracer: () => tracer } as never)
  onTestFinished(() => api.disable())
  const call = { agentId: "operator", tool: "json_parse", input: { text: "1" } }
  for (const telemetry of [{ enabled: false }, { enabled: true }, { enabled: true, content: true }]) {
    const system = await openTestApp({ telemetry })
    await system.call(call)
  }
  expect(spans.map(({ attributes }) => attributes["gen_ai.tool.call.arguments"])).toEqual([undefined, '{"text":"1"}'])
})

test("a run of a conversation is a span with its model and what it used", async () => {
  const { tracer, spans } = recordingTracer()
  const model = modelOf({ calls: [{ name: "json_parse", input: { text: "1" } }] }, { say: "Done." })
  const app = await openTestApp({}, { models: { played: model }, telemetry: { tracer } })
  const { id } = await app.chain("operator").run("Go.")
  expect(spans.map(({ name }) => name)).toEqual(["execute_tool json_parse", "invoke_agent operator"])
  expect(spans[1]!.attributes).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.id": "operator",
    "gen_ai.conversation.id": id,
    "gen_ai.request.model": "played",
    "gen_ai.usage.input_tokens": 20,
    "gen_ai.usage.output_tokens": 10,
    "quartermaster.status": "completed",
    "quartermaster.tool_calls": 1,
    "quartermaster.cost": 0,
  })
})
