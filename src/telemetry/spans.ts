import type { Events } from "../core/events.ts"
import type { EventOf, EventType, Listener } from "../core/events.ts"
import type { Masker } from "../audit/masker.ts"
import { secretPaths } from "../schema/secret-paths.ts"
import type { RegisteredTool } from "../core/tool.ts"

export type Attributes = Record<string, string | number | boolean>

/** The part of OpenTelemetry's `Tracer` that is used here. `trace.getTracer("…")` returns one. */
export interface Tracer {
  startSpan(name: string, options: { kind: number; attributes: Attributes; startTime: number }): Span
}

/** The part of OpenTelemetry's `Span` that is used here. */
export interface Span {
  addEvent(name: string, attributes: Attributes, time: number): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(time: number): void
}

/** The destination and the contents of spans. */
export interface Telemetry {
  tracer: Tracer
  /** Also send input, result and error message, masked as in the audit log. Off by default. */
  content?: boolean
}

export interface TraceOptions {
  content?: boolean
  /** Without a masker no content is sent. */
  masker?: Masker
  /** Looks up a tool in the registry. */
  tool?:
    | ((name: string) => Pick<RegisteredTool, "description" | "input" | "output" | "secretFields"> | undefined)
    | undefined
}

/** The tracer of the OpenTelemetry SDK this process has loaded. Without an SDK it does nothing. */
export async function globalTracer(): Promise<Tracer> {
  const { trace } = await import("@opentelemetry/api")
  return trace.getTracer("quartermaster")
}

/** OpenTelemetry's SpanKind.INTERNAL and SpanStatusCode.ERROR. */
const internal = 0
const failed = 2

/**
 * Sends a span `execute_tool <name>` for every call that ends, and `invoke_agent <id>` for every run of a conversation. The
 * span of a call begins when the tool started or, if it did not start, when the call was received. It only listens to events
 * and never affects a call. Returns a function that stops it.
 */
export function traceCalls(on: Events["on"], tracer: Tracer, options: TraceOptions = {}): () => void {
  const { masker } = options
  const content = options.content === true && masker !== undefined ? masker : undefined
  const calls = new Map<string, OpenCall>()
  const unsubscribes: (() => void)[] = []
  const listen = <T extends EventType>(type: T, listener: Listener<T>) => void unsubscribes.push(on(type, listener))

  function openCall(callId: string): OpenCall {
    const known = calls.get(callId)
    if (known !== undefined) return known
    // A call that continued in another process never ends here, so the oldest is forgotten when there are too many.
    if (calls.size >= maxOpenCalls) calls.delete(calls.keys().next().value!)
    const fresh: OpenCall = { waits: [] }
    calls.set(callId, fresh)
    return fresh
  }

  function answered({ callId, at }: Ended, outcome: string): void {
    const wait = calls.get(callId)?.waits.at(-1)
    if (wait !== undefined) wait.until ??= { at, outcome }
  }

  function ended(event: Ended & { startedAt: number }, more: Attributes, status?: { code: number; message?: string }) {
    const { callId, at, startedAt: startTime } = event
    answered(event, "ended")
    const { waits, input } = calls.get(callId) ?? { waits: [] }
    calls.delete(callId)
    const attributes = { ...attributesOf(event, options), ...input, ...more }
    const span = tracer.startSpan(`execute_tool ${event.toolName}`, { kind: internal, attributes, startTime })
    for (const { since, until } of waits) {
      const waited = { "quartermaster.waited_ms": Math.max(0, (until?.at ?? at) - since) }
      const outcome = { "quartermaster.outcome": until?.outcome ?? "ended" }
      span.addEvent("quartermaster.waited", { ...waited, ...outcome }, Math.max(startTime, until?.at ?? at))
    }
    if (status !== undefined) span.setStatus(status)
    span.end(at)
  }

  listen("TOOL_CALL_WAITING", ({ callId, at }) => void openCall(callId).waits.push({ since: at }))
  listen("TOOL_CALL_APPROVED", (event) => answered(event, "approved"))
  listen("TOOL_CALL_REJECTED", (event) => answered(event, "rejected"))
  listen("TOOL_CALL_RELEASED", (event) => answered(event, "released"))
  listen("TOOL_CALL_WITHHELD", (event) => answered(event, "withheld"))
  if (content !== undefined) {
    listen("TOOL_CALL_REQUESTED", ({ callId, toolName, params }) => {
      const tool = options.tool?.(toolName)
      // The secret fields depend on the input, and were found elsewhere.
      const { text } = content.mask(params, tool?.secretFields === undefined ? secretsOf(tool?.input) : [[]])
      openCall(callId).input = { "gen_ai.tool.call.arguments": text }
    })
  }
  listen("TOOL_CALL_COMPLETED", (event) => {
    const shown = content?.mask(event.result, secretsOf(options.tool?.(event.toolName)?.output)).text
    ended(event, shown === undefined ? {} : { "gen_ai.tool.call.result": shown })
  })
  listen("TOOL_CALL_FAILED", (event) => {
    const message = content?.text(event.error)
    ended(event, { "error.type": event.code }, { code: failed, ...(message === undefined ? {} : { message }) })
  })
  listen("RUN_ENDED", (event) => {
    const span = tracer.startSpan(`invoke_agent ${event.agentId}`, {
      kind: internal,
      attributes: runAttributes(event),
      startTime: event.at - event.durationMs,
    })
    if (event.status === "error") span.setStatus({ code: failed })
    span.end(event.at)
  })
  return () => {
    for (const unsubscribe of unsubscribes) unsubscribe()
    calls.clear()
  }
}

const maxOpenCalls = 10_000

/** The facts about a call before it ends. */
interface OpenCall {
  waits: { since: number; until?: { at: number; outcome: string } }[]
  input?: Attributes
}

type Ended = Pick<EventOf<"TOOL_CALL_COMPLETED">, "callId" | "toolName" | "agentId" | "at">

function attributesOf({ callId, toolName, agentId }: Ended, { tool }: TraceOptions): Attributes {
  const description = tool?.(toolName)?.description
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": toolName,
    "gen_ai.tool.call.id": callId,
    "gen_ai.tool.type": "function",
    "gen_ai.agent.id": agentId,
    ...(description === undefined ? {} : { "gen_ai.tool.description": description }),
  }
}

function runAttributes({ agentId, conversationId, modelId, status, used }: EventOf<"RUN_ENDED">): Attributes {
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.id": agentId,
    "gen_ai.conversation.id": conversationId,
    "gen_ai.request.model": modelId,
    "gen_ai.usage.input_tokens": used.inputTokens,
    "gen_ai.usage.output_tokens": used.outputTokens,
    "quartermaster.status": status,
    "quartermaster.tool_calls": used.calls,
    "quartermaster.cost": used.cost,
  }
}

function secretsOf(schema: RegisteredTool["output"]): ReturnType<typeof secretPaths> {
  return schema === undefined ? [] : secretPaths(schema.json)
}
