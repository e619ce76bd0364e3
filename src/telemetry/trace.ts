import type { App } from "../model/app.ts"
import type { Telemetry, TraceOptions } from "./spans.ts"

/** Tells calls as spans, where that is wished for: to the tracer that was given, else to the SDK this process has loaded. */
export async function trace(
  configured: { enabled?: boolean | undefined; content?: boolean | undefined } | undefined,
  given: Telemetry | undefined,
  on: App["on"],
  options: Omit<TraceOptions, "content">,
): Promise<void> {
  if (given === undefined && configured?.enabled !== true) return
  const { globalTracer, traceCalls } = await import("./spans.ts")
  const { tracer, content }: Partial<Telemetry> = { ...configured, ...given }
  traceCalls(on, tracer ?? (await globalTracer()), { ...options, content })
}
