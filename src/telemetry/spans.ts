import type { App } from "../model/app.ts"
import type { EventOf, EventType, Listener } from "../model/events.ts"
import type { Masker } from "../model/ports.ts"
import { secretPaths } from "../model/secrets.ts"
import type { RegisteredTool } from "../model/tool.ts"

export type Attributes = Record<string, string | number | boolean>

/** As much of OpenTelemetry's `Tracer` as is used here; `trace.getTracer("…")` gives one. */
export interface Tracer {
  startSpan(name: string, options: { kind: number; attributes: Attributes; startTime: number }): Span
}

/** As much of OpenTelemetry's `Span`. */
export interface Span {
  addEvent(name: string, attributes: Attributes, time: number): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(time: number): void
}

/** Where spans go, and how much is in them. */
export interface Telemetry {
  tracer: Tracer
  /** Also what went in, what came out and what an error said, masked as the record is. Off unless asked for. */
  content?: boolean | undefined
}

export interface TraceOptions {
  content?: boolean | undefined
  /** Without one no content is sent. */
  masker?: Masker | undefined
  /** What the registry knows of a tool. */
  tool?: ((name: string) => Pick<RegisteredTool, "description" | "input" | "output"> | undefined) | undefined
}

/** The tracer of whatever OpenTelemetry SDK this process has loaded; without one it does nothing. */
export async function globalTracer(): Promise<Tracer> {
  const { trace } = await import("@opentelemetry/api")
  return trace.getTracer("quartermaster")
}

/** OpenTelemetry's SpanKind.INTERNAL and SpanStatusCode.ERROR. */
const internal = 0
const failed = 2

/**
 * Makes a span `execute_tool <name>` of every call that ends, from when its tool started or, where it never got so far,
 * from when the call came. It only listens to events: what a call does is the same with it and without. Returns what
 * stops it.
 */
export function traceCalls(on: App["on"], tracer: Tracer, options: TraceOptions = {}): () => void {
  const { masker } = options
  const content = options.content === true && masker !== undefined ? masker : undefined
  const calls = new Map<string, Noted>()
  const offs: (() => void)[] = []
  const hear = <T extends EventType>(type: T, listener: Listener<T>) => void offs.push(on(type, listener))

  function noted(callId: string): Noted {
    const known = calls.get(callId)
    if (known !== undefined) return known
    // Calls that went on in another process never end here: of too many, the oldest is let go.
    if (calls.size >= mostOpen) calls.delete(calls.keys().next().value!)
    const fresh: Noted = { waits: [] }
    calls.set(callId, fresh)
    return fresh
  }

  function answered({ callId, at }: Ended, outcome: string): void {
    const wait = calls.get(callId)?.waits.at(-1)
    if (wait !== undefined) wait.until ??= { at, outcome }
  }

  function ended(event: Ended & { durationMs: number }, more: Attributes, status?: { code: number; message?: string }) {
    const { callId, at, durationMs } = event
    answered(event, "ended")
    const { waits, input } = calls.get(callId) ?? { waits: [] }
    calls.delete(callId)
    const startTime = at - durationMs
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

  hear("TOOL_CALL_WAITING", ({ callId, at }) => void noted(callId).waits.push({ since: at }))
  hear("TOOL_CALL_APPROVED", (event) => answered(event, "approved"))
  hear("TOOL_CALL_REJECTED", (event) => answered(event, "rejected"))
  hear("TOOL_CALL_RELEASED", (event) => answered(event, "released"))
  hear("TOOL_CALL_WITHHELD", (event) => answered(event, "withheld"))
  if (content !== undefined) {
    hear("TOOL_CALL_REQUESTED", ({ callId, toolName, params }) => {
      const { text } = content.mask(params, secretsOf(options.tool?.(toolName)?.input))
      noted(callId).input = { "gen_ai.tool.call.arguments": text }
    })
  }
  hear("TOOL_CALL_COMPLETED", (event) => {
    const shown = content?.mask(event.result, secretsOf(options.tool?.(event.toolName)?.output)).text
    ended(event, shown === undefined ? {} : { "gen_ai.tool.call.result": shown })
  })
  hear("TOOL_CALL_FAILED", (event) => {
    const message = content?.text(event.error)
    ended(event, { "error.type": event.code }, { code: failed, ...(message === undefined ? {} : { message }) })
  })
  return () => {
    for (const off of offs) off()
    calls.clear()
  }
}

const mostOpen = 10_000

/** What is known of a call before it ends. */
interface Noted {
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

function secretsOf(schema: RegisteredTool["output"]): ReturnType<typeof secretPaths> {
  return schema === undefined ? [] : secretPaths(schema.json)
}
