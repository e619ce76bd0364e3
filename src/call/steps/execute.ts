import { Ending } from "../../core/ending.ts"
import type { Ports } from "../state/ports.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { onAbort } from "../../lib/on-abort.ts"
import { RunClock } from "../state/run-clock.ts"
import type { RunContext } from "./run-context.ts"
import { drain, isStream } from "./stream.ts"
import { mayBeHeld, outerClock, type ActiveCall } from "../state/active-call.ts"
import { abortedEnding } from "../state/stopped-endings.ts"

/** A tool that ignores its aborted signal counts as lost after this time and gives up its permit. */
const lostAfterMs = 60_000

/**
 * Executes the tool once. The time limit, the caller or a freeze may end the call first: then the tool's signal is aborted,
 * and if the tool settles later, that is announced, because it may have had an effect. `free` is called when the tool has
 * settled or counts as lost.
 */
export function execute(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  { context, timeoutMs, ports, free }: { context: RunContext; timeoutMs: number | null; ports: Ports; free(): void },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { signal } = call.request
    let over = false
    let lost: NodeJS.Timeout | undefined

    const waitingFor = tool.kind === "interactive" ? outerClock(call) : undefined
    waitingFor?.countWaiting(1)
    const finish = () => {
      over = true
      waitingFor?.countWaiting(-1)
      ports.running.delete(call.callId)
      call.waitedMs += call.clock?.stop() ?? 0
      call.clock = undefined
      signal?.removeEventListener("abort", cancel)
    }
    const giveUp = (ending: Ending) => {
      if (over) return
      finish()
      context.end(ending)
      lost = setTimeout(() => late("lost"), lostAfterMs)
      lost.unref()
      reject(ending)
    }
    const cancel = (reason?: unknown) => giveUp(reason instanceof Ending ? reason : abortedEnding(call))
    const onSettled = (outcome: "returned" | "failed", settle: () => void) => {
      if (over) return late(outcome)
      finish()
      context.settle()
      free()
      settle()
    }
    const late = (outcome: "returned" | "failed" | "lost") => {
      if (outcome !== "lost") clearTimeout(lost)
      free()
      announceLate(call, tool, outcome, ports)
    }

    if (timeoutMs !== null || tool.kind === "composite") {
      call.clock = new RunClock(timeoutMs, () => giveUp(timedOut(tool, timeoutMs ?? 0)), outerClock(call))
    }
    const { agentId } = call.request
    ports.running.set(call.callId, {
      agentId,
      tool: tool.name,
      input: call.maskedInput?.text ?? "",
      since: call.startedAt ?? call.receivedAt,
      cancel,
    })
    if (signal !== undefined) onAbort(signal, cancel)

    const handle = (returned: unknown): unknown =>
      isStream(returned) ? drain(returned, context, () => over) : returned
    let returned: unknown
    try {
      returned = handle(tool.execute(input, context))
    } catch (error) {
      return onSettled("failed", () => reject(error))
    }
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== "function") {
      return onSettled("returned", () => resolve(returned))
    }
    // Another library's thenable may settle twice or with a thenable; a real promise does neither.
    const promise = returned instanceof Promise ? returned : Promise.resolve(returned as PromiseLike<unknown>)
    promise.then(handle).then(
      (value) => onSettled("returned", () => resolve(value)),
      (error: unknown) => onSettled("failed", () => reject(error)),
    )
  })
}

function timedOut(tool: RegisteredTool, timeoutMs: number): Ending {
  return new Ending(
    "timeout",
    dialectText`Tool execution timed out after ${timeoutMs}ms. ${toolRef(tool.name)} was told to stop; what it did until then is done.`,
    { metadata: { timeoutMs } },
  )
}

function announceLate(
  call: ActiveCall,
  tool: RegisteredTool,
  outcome: "returned" | "failed" | "lost",
  ports: Ports,
): void {
  const ids = { callId: call.callId, at: ports.now(), agentId: call.request.agentId }
  const text =
    outcome === "lost"
      ? "The tool did not stop when it was told to; it may still run."
      : `The tool ${outcome} after its call had ended; side effects are possible.`
  void (async () => {
    try {
      await ports.recorder.write({ kind: "late", tool: tool.name, text, ...ids }, ports.settings.durability)
      const peopleOnly = mayBeHeld(call)
      ports.emit({ type: "TOOL_CALL_LATE_RESULT", toolName: tool.name, outcome, peopleOnly, ...ids })
    } catch (error) {
      ports.logger.error("A late result could not be written to the audit log.", error)
    }
  })()
}
