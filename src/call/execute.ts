import { Ending } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { onAbort } from "./abort.ts"
import { RunClock } from "./clock.ts"
import type { RunContext } from "./context.ts"
import { drain, isStream } from "./stream.ts"
import { aborted, mayBeHeld, type Walk } from "./walk.ts"

/** How long a tool that ignored its signal may keep its permit before it counts as lost. */
const lostAfterMs = 60_000

/**
 * One try: the tool against its clock and its caller's patience. Whatever loses the race is told to stop; a tool that
 * settles later is announced as late, because it may have had its effect. `free` is called once the tool is done with.
 */
export function execute(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  { context, timeoutMs, ports, free }: { context: RunContext; timeoutMs: number | null; ports: Ports; free(): void },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { signal } = walk.request
    let over = false
    let lost: NodeJS.Timeout | undefined

    const waitsForPerson = tool.kind === "interactive" ? walk.parent?.clock : undefined
    waitsForPerson?.waiting(1)
    const finish = () => {
      over = true
      waitsForPerson?.waiting(-1)
      ports.running.delete(walk.callId)
      walk.clock?.stop()
      walk.clock = undefined
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
    const cancel = (because?: unknown) => giveUp(because instanceof Ending ? because : aborted(walk))
    const settled = (outcome: "returned" | "failed", act: () => void) => {
      if (over) return late(outcome)
      finish()
      context.settle()
      free()
      act()
    }
    const late = (outcome: "returned" | "failed" | "lost") => {
      if (outcome !== "lost") clearTimeout(lost)
      free()
      announceLate(walk, tool, outcome, ports)
    }

    if (timeoutMs !== null || tool.kind === "composite") {
      walk.clock = new RunClock(timeoutMs, () => giveUp(timedOut(tool, timeoutMs ?? 0)), walk.parent?.clock)
    }
    if (signal?.aborted) return cancel()
    ports.running.set(walk.callId, { agentId: walk.request.agentId, cancel })
    if (signal !== undefined) onAbort(signal, cancel)

    const handle = (returned: unknown): unknown =>
      isStream(returned) ? drain(returned, context, () => over) : returned
    let returned: unknown
    try {
      returned = handle(tool.execute(input, context))
    } catch (error) {
      return settled("failed", () => reject(error))
    }
    if (typeof (returned as PromiseLike<unknown> | undefined)?.then !== "function") {
      return settled("returned", () => resolve(returned))
    }
    // A foreign thenable may answer twice, or with another one: a real promise does neither.
    const promise = returned instanceof Promise ? returned : Promise.resolve(returned as PromiseLike<unknown>)
    promise.then(handle).then(
      (value) => settled("returned", () => resolve(value)),
      (error: unknown) => settled("failed", () => reject(error)),
    )
  })
}

function timedOut(tool: RegisteredTool, timeoutMs: number): Ending {
  return new Ending(
    "timeout",
    `Tool execution timed out after ${timeoutMs}ms. ${tool.name} was told to stop; what it did until then is done.`,
    { metadata: { timeoutMs } },
  )
}

function announceLate(walk: Walk, tool: RegisteredTool, outcome: "returned" | "failed" | "lost", ports: Ports): void {
  const about = { callId: walk.callId, at: ports.now(), agentId: walk.request.agentId }
  const text =
    outcome === "lost"
      ? "The tool did not stop when it was told to; it may still run."
      : `The tool ${outcome} after its call had ended; side effects are possible.`
  void (async () => {
    try {
      await ports.recorder.keep({ kind: "late", tool: tool.name, text, ...about }, ports.settings.durability)
      const peopleOnly = mayBeHeld(walk)
      ports.emit({ type: "TOOL_CALL_LATE_RESULT", toolName: tool.name, outcome, peopleOnly, ...about })
    } catch (error) {
      ports.logger.error("A late result could not be kept.", error)
    }
  })()
}
