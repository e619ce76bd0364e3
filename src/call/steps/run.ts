import { sleepUnlessAborted } from "../../lib/on-abort.ts"
import { hasRun } from "../../core/call.ts"
import { Ending, StoreUnavailable, ToolFailure } from "../../core/ending.ts"
import type { Ports } from "../state/ports.ts"
import type { EndingCode, ToolResult } from "../../core/result.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { rateLimitedEnding } from "./allowed.ts"
import { RunContext } from "./run-context.ts"
import { inputSecrets } from "../../schema/input-secrets.ts"
import { fromCache } from "../state/result-cache.ts"
import { execute } from "./execute.ts"
import { handOver } from "./hand-over.ts"
import { noteBefore } from "./note-changes.ts"
import { runFallbacks } from "./fallback.ts"
import { recheckBeforeRun } from "./recheck-before-run.ts"
import { startEntry } from "./audit-entries.ts"
import { advance } from "../stored/rows.ts"
import { requireAgent, type ActiveCall, type CallTool } from "../state/active-call.ts"
import { abortedEnding, agentStoppedEnding } from "../state/stopped-endings.ts"

/** The outcome of a run: a value, or the ending the tool failed with. */
export type RunOutcome = { value: unknown; ending?: undefined } | { value?: undefined; ending: Ending }

const tries = 3
const longestMs = 600_000
export const networkTimeoutMs = 60_000

/**
 * Runs the tool inside its limits, after its start is in the audit log. If the call was resumed and the tool has run
 * already, this returns the stored result.
 */
export async function run(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
  callTool: CallTool,
): Promise<RunOutcome> {
  const stored = call.row?.result
  if (stored && hasRun(call.row)) return storedOutcome(call, stored, ports)

  const turn = call.order?.asking.turn()
  if (turn !== undefined) {
    await turn
    await recheckBeforeRun(call, tool, input, ports)
  }
  const taken = ports.limits.take(requireAgent(call), tool, ports.now())
  const limit = taken instanceof Promise ? await taken : taken
  if (!limit.ok) throw rateLimitedEnding(limit.sentence, limit.retryAfterMs)
  const isHere = call.request.elsewhere === undefined
  if (call.row !== undefined && isHere) await advance(call, ports, { state: "started" })
  const writing = writeStart(call, tool, input, ports)
  // The starts of calls with effects are written together.
  call.order?.asking.leave()
  if (writing !== undefined) await writing
  const noting = noteBefore(call, tool, ports)
  if (noting !== undefined) await noting
  if (call.request.elsewhere !== undefined) return handOver(call, call.request.elsewhere, input, ports)

  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const work = () => runOnce(call, tool, tool.idempotent ? structuredClone(input) : input, ports, callTool)
        const value = await (tool.cache === undefined ? work() : fromCache(call, tool, input, ports, work))
        return { value: tool.output === undefined ? value : checkOutput(tool, value) }
      } catch (error) {
        if (attempt === tries || !tool.idempotent || !isTransient(error)) throw error
        await pauseBeforeRetry(call, tool, attempt, error, ports)
      }
    }
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    const outcome = { ending: error instanceof Ending ? error : failed(error, tool, ports) }
    if (tool.fallback === undefined) return outcome
    const final = await runFallbacks(call, tool, input, outcome, ports, callTool)
    return final.ending === undefined && tool.output !== undefined ? { value: checkOutput(tool, final.value) } : final
  }
}

/**
 * Writes the start to the audit log. A tool that changes something waits until it is written. For a tool that only reads
 * it is queued, and written before the caller gets anything, together with the end if the tool is fast.
 */
function writeStart(call: ActiveCall, tool: RegisteredTool, input: unknown, ports: Ports): Promise<void> | undefined {
  call.maskedInput ??= ports.masker.mask(input, inputSecrets(tool, call.secretFields))
  ports.logger.logToolCall(tool.name, call.maskedInput.text)
  const at = ports.now()
  const entry = startEntry(call, tool, at, ports)
  const announce = announcement(call, tool, input, at, ports)
  const readsOnly = tool.effect === "none" || tool.effect === "read"
  const writing =
    readsOnly && call.row === undefined
      ? ports.recorder.queue(entry, announce)
      : ports.recorder.write(entry, readsOnly ? "crash" : (tool.durability ?? ports.settings.durability)).then(announce)
  const started = () => {
    call.startedAt = at
    call.waitedMs = 0
  }
  if (writing !== undefined) return writing.then(started)
  started()
  return undefined
}

const doNothing = () => {}

/** Announces the start of the call with a copy of its input, because the tool may change the input. */
function announcement(call: ActiveCall, tool: RegisteredTool, input: unknown, at: number, ports: Ports): () => void {
  if (!ports.hasListeners("TOOL_CALL_REQUESTED")) return doNothing
  const ids = { callId: call.callId, toolName: tool.name, agentId: call.request.agentId }
  const params = structuredClone(input)
  return () => ports.emit({ type: "TOOL_CALL_REQUESTED", at, ...ids, params })
}

/** One try: waits for a permit, checks the call once more if it had to wait, and executes the tool. */
async function runOnce(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
  callTool: CallTool,
): Promise<unknown> {
  const turn = call.order?.starting.turn()
  if (turn !== undefined) await turn
  const acquired = ports.permits.acquire({
    agentId: call.request.agentId,
    callId: call.callId,
    exclusive: tool.exclusive,
    free: tool.kind !== "plain",
    parentCallIds: parentCallIds(call),
    signal: call.request.signal,
  })
  // Permits are given in the order in which they are asked for.
  call.order?.starting.leave()
  const permit = acquired instanceof Promise ? await acquired : acquired
  try {
    if (acquired instanceof Promise || turn !== undefined) await recheckBeforeRun(call, tool, input, ports)
    // Nothing is awaited from here until the tool runs, so no stop can come in between.
    const isCancelled = ports.closing.aborted || call.request.signal?.aborted === true
    const stopped = isCancelled ? abortedEnding(call) : agentStoppedEnding(call, ports)
    if (stopped !== undefined) throw stopped
  } catch (error) {
    permit.release()
    throw error
  }
  const context = new RunContext(call, tool, ports, callTool, permit)
  const timeoutMs = timeoutOf(call, tool, ports)
  call.ran = true
  return execute(call, tool, input, { context, timeoutMs, ports, free: () => permit.release() })
}

function parentCallIds(call: ActiveCall): string[] {
  const ids: string[] = []
  for (let above = call.parent; above !== undefined; above = above.parent) ids.push(above.callId)
  return ids
}

/** The time limit: the request's, else the tool's, else that of its kind, else the configured one; 600 s at most. */
export function timeoutOf(call: ActiveCall, tool: RegisteredTool, ports: Ports): number | null {
  const requested = call.request.timeoutMs
  const own = tool.timeoutMs
  if (requested !== undefined) return Math.min(requested, longestMs)
  if (own !== undefined) return own === null ? null : Math.min(own, longestMs)
  if (tool.kind !== "plain") return null
  return tool.effect === "network" ? Math.max(networkTimeoutMs, ports.settings.timeoutMs) : ports.settings.timeoutMs
}

function checkOutput(tool: RegisteredTool, value: unknown): unknown {
  const checked = tool.output?.check(value)
  if (checked === undefined || checked.ok) return checked === undefined ? value : checked.value
  const problems = checked.problems.map((problem) =>
    problem.replace("Parameter", "Field").replace("required parameter", "field"),
  )
  throw new Ending(
    "output_invalid",
    `${tool.name} returned something other than it promises: ${problems.join(", ")}.`,
    {
      metadata: { problems },
    },
  )
}

const transientCodes = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ETIMEDOUT",
  "EPIPE",
  "EAI_AGAIN",
  "EBUSY",
  "EAGAIN",
  "ENETUNREACH",
])

function isTransient(error: unknown): boolean {
  if (error instanceof Ending) return false
  if (error instanceof ToolFailure) return error.transient
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === "string" && transientCodes.has(code)
}

async function pauseBeforeRetry(call: ActiveCall, tool: RegisteredTool, attempt: number, error: unknown, ports: Ports) {
  const text = `Try ${attempt} of ${tries} failed: ${ports.masker.text(sentenceOf(error), call.maskedInput?.hidden)}`
  const ids = { callId: call.callId, agentId: call.request.agentId, tool: tool.name }
  await ports.recorder.write({ kind: "try", text, at: ports.now(), ...ids }, ports.settings.durability)
  const signals = [call.request.signal, ports.closing]
  await sleepUnlessAborted(1000 * attempt, signals)
  if (signals.some((signal) => signal?.aborted)) throw abortedEnding(call)
  const stopped = agentStoppedEnding(call, ports)
  if (stopped !== undefined) throw stopped
}

/** Failures of built-in tools that end the call with a code of its own: what files and web refuse, and a command's timeout. */
const codeOfFailure: Readonly<Record<string, EndingCode>> = {
  outside: "path_outside_workspace",
  sealed: "permission_denied",
  host_denied: "host_denied",
  command_timeout: "timeout",
}

function failed(error: unknown, tool: RegisteredTool, ports: Ports): Ending {
  if (error instanceof ToolFailure) {
    const { toolCode, metadata } = error
    const code = tool.type === "builtin" ? codeOfFailure[toolCode ?? ""] : undefined
    const noted = error.transient ? { ...metadata, transient: true } : metadata
    return new Ending(code ?? "tool_failed", error.said ?? error.message, { toolCode, metadata: noted, cause: error })
  }
  ports.logger.error(`Tool execution error: ${tool.name}`, error)
  const metadata = isTransient(error) ? { transient: true } : undefined
  return new Ending("tool_failed", sentenceOf(error), { metadata, cause: error })
}

function sentenceOf(error: unknown): string {
  try {
    if (error instanceof Error) return String(error.message || error.name)
    return error === undefined ? "The tool failed without saying why." : String(error)
  } catch {
    return "The tool failed with something that cannot be shown."
  }
}

function storedOutcome(call: ActiveCall, stored: ToolResult, ports: Ports): RunOutcome {
  call.startedAt = stored.startedAt
  // Since it ran, its result has waited for a person or for its caller.
  call.waitedMs = ports.now() - stored.startedAt - (stored.durationMs ?? 0)
  call.ran = true
  if (stored.ranInput !== undefined) call.ranInput = { input: stored.ranInput }
  call.approvalNote = stored.approvalNote
  if (stored.success) return { value: stored.result }
  return {
    ending: new Ending(stored.code ?? "tool_failed", stored.said ?? stored.error ?? "The tool failed.", {
      metadata: stored.metadata,
    }),
  }
}
