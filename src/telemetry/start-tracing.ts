import type { Events } from "../core/events.ts"
import type { Telemetry, TraceOptions } from "./spans.ts"

/** Sends a span per call, if telemetry is on: to the given tracer, else to the OpenTelemetry SDK this process has loaded. */
export async function startTracing(
  configured: { enabled?: boolean; content?: boolean } | undefined,
  given: Telemetry | undefined,
  on: Events["on"],
  options: Omit<TraceOptions, "content">,
): Promise<void> {
  if (given === undefined && configured?.enabled !== true) return
  const { globalTracer, traceCalls } = await import("./spans.ts")
  const { tracer, content }: Partial<Telemetry> = { ...configured, ...given }
  traceCalls(on, tracer ?? (await globalTracer()), { ...options, content })
}
