import { setTimeout as sleep } from "node:timers/promises"
import { Ending, StoreUnavailable, ToolFailure } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import type { EndingCode, ToolResult } from "../model/result.ts"
import { secretPaths } from "../model/secrets.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { rateLimited } from "./allowed.ts"
import { RunContext, type CallTool } from "./context.ts"
import { fromCache } from "./cache.ts"
import { execute } from "./execute.ts"
import { orElse } from "./fallback.ts"
import { stillAgreed } from "./still-agreed.ts"
import { startEntry } from "./entries.ts"
import { advance, hasRun } from "./states.ts"
import { agentOf, agentStopped, aborted, type Walk } from "./walk.ts"

/** What running the tool came to: a value, or the ending it failed with. */
export type Outcome = { value: unknown; ending?: undefined } | { value?: undefined; ending: Ending }

const tries = 3
const longestMs = 600_000
const networkMs = 60_000

/** Runs the tool inside its limits. Its start is kept before; a result that was held is taken as it is. */
export async function run(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
  callTool: CallTool,
): Promise<Outcome> {
  const kept = walk.row?.result
  if (kept && hasRun(walk.row)) return storedOutcome(walk, kept)

  const took = ports.limits.take(agentOf(walk), tool, ports.now())
  const place = took instanceof Promise ? await took : took
  if (!place.ok) throw rateLimited(place.sentence, place.retryAfterMs)
  if (walk.row !== undefined) await advance(walk, ports, { state: "started" })
  const at = ports.now()
  await keepStart(walk, tool, input, at, ports)
  walk.startedAt = at
  announce(walk, tool, input, ports)

  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const work = () => once(walk, tool, tool.idempotent ? structuredClone(input) : input, ports, callTool)
        const value = await (tool.cache === undefined ? work() : fromCache(walk, tool, input, ports, work))
        return { value: tool.output === undefined ? value : checkOutput(tool, value) }
      } catch (error) {
        if (attempt === tries || !tool.idempotent || !isTransient(error)) throw error
        await pauseBeforeRetry(walk, tool, attempt, error, ports)
      }
    }
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error
    const outcome = { ending: error instanceof Ending ? error : failed(error, tool, ports) }
    if (tool.fallback === undefined) return outcome
    const other = await orElse(walk, tool, input, outcome, ports, callTool)
    return other.ending === undefined && tool.output !== undefined ? { value: checkOutput(tool, other.value) } : other
  }
}

/** A start is synced before the run where the tool changes the world; else together with its ending. */
function keepStart(walk: Walk, tool: RegisteredTool, input: unknown, at: number, ports: Ports): Promise<void> {
  walk.maskedInput ??= ports.masker.mask(input, secretPaths(tool.input.json))
  const entry = startEntry(walk, tool, at, ports)
  const power = (tool.durability ?? ports.settings.durability) === "power"
  const harmless = tool.effect === "none" || tool.effect === "read"
  return ports.recorder.keep(entry, power && !harmless ? "power" : "crash")
}

function announce(walk: Walk, tool: RegisteredTool, input: unknown, ports: Ports): void {
  ports.logger.logToolCall(tool.name, walk.maskedInput?.text)
  if (!ports.hears("TOOL_CALL_REQUESTED")) return
  ports.emit({
    type: "TOOL_CALL_REQUESTED",
    at: ports.now(),
    callId: walk.callId,
    toolName: tool.name,
    agentId: walk.request.agentId,
    params: structuredClone(input),
  })
}

async function once(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
  callTool: CallTool,
): Promise<unknown> {
  const context = new RunContext(walk, tool, ports, callTool)
  const asked = ports.permits.acquire({
    agentId: walk.request.agentId,
    callId: walk.callId,
    exclusive: tool.exclusive,
    free: tool.kind !== "plain",
    ancestors: ancestorsOf(walk),
    signal: walk.request.signal,
  })
  const permit = asked instanceof Promise ? await asked : asked
  try {
    if (asked instanceof Promise) await stillAgreed(walk, tool, input, ports)
    // From here to the tool nothing is awaited: what was stopped before has not begun.
    const stopped = ports.closing.aborted ? aborted(walk) : agentStopped(walk, ports)
    if (stopped !== undefined) throw stopped
  } catch (error) {
    permit.release()
    throw error
  }
  const timeoutMs = timeoutOf(walk, tool, ports)
  walk.ran = true
  walk.permit = permit
  return execute(walk, tool, input, { context, timeoutMs, ports, free: () => permit.release() })
}

function ancestorsOf(walk: Walk): string[] {
  const ids: string[] = []
  for (let above = walk.parent; above !== undefined; above = above.parent) ids.push(above.callId)
  return ids
}

/** What the request asks for, else the tool's own limit, else its kind's, else the configured one; 600 s at most. */
export function timeoutOf(walk: Walk, tool: RegisteredTool, ports: Ports): number | null {
  const asked = walk.request.timeoutMs
  const own = tool.timeoutMs
  if (asked !== undefined) return Math.min(asked, longestMs)
  if (own !== undefined) return own === null ? null : Math.min(own, longestMs)
  if (tool.kind !== "plain") return null
  return tool.effect === "network" ? Math.max(networkMs, ports.settings.timeoutMs) : ports.settings.timeoutMs
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

async function pauseBeforeRetry(walk: Walk, tool: RegisteredTool, attempt: number, error: unknown, ports: Ports) {
  const text = `Try ${attempt} of ${tries} failed: ${ports.masker.text(sentenceOf(error), walk.maskedInput?.hidden)}`
  const about = { callId: walk.callId, at: ports.now(), agentId: walk.request.agentId, tool: tool.name }
  await ports.recorder.keep({ kind: "try", text, ...about }, ports.settings.durability)
  const { signal } = walk.request
  const stops = signal === undefined ? ports.closing : AbortSignal.any([signal, ports.closing])
  await sleep(1000 * attempt, undefined, { signal: stops }).catch(() => {
    throw aborted(walk)
  })
  const stopped = agentStopped(walk, ports)
  if (stopped !== undefined) throw stopped
}

/** What the fence and the web refuse while a tool of ours runs, and a command whose time is over, end as everywhere. */
const refusals: Readonly<Record<string, EndingCode>> = {
  outside: "path_outside_workspace",
  sealed: "permission_denied",
  host_denied: "host_denied",
  command_timeout: "timeout",
}

function failed(error: unknown, tool: RegisteredTool, ports: Ports): Ending {
  if (error instanceof ToolFailure) {
    const { toolCode, metadata } = error
    const code = tool.type === "builtin" ? refusals[toolCode ?? ""] : undefined
    return new Ending(code ?? "tool_failed", error.message, { toolCode, metadata, cause: error })
  }
  ports.logger.error(`Tool execution error: ${tool.name}`, error)
  return new Ending("tool_failed", sentenceOf(error), { cause: error })
}

function sentenceOf(error: unknown): string {
  try {
    if (error instanceof Error) return String(error.message || error.name)
    return error === undefined ? "The tool failed without saying why." : String(error)
  } catch {
    return "The tool failed with something that cannot be shown."
  }
}

function storedOutcome(walk: Walk, kept: ToolResult): Outcome {
  walk.startedAt = kept.startedAt
  walk.ran = true
  if (kept.ranInput !== undefined) walk.ranInput = { input: kept.ranInput }
  if (kept.success) return { value: kept.result }
  return {
    ending: new Ending(kept.code ?? "tool_failed", kept.error ?? "The tool failed.", { metadata: kept.metadata }),
  }
}
