import { setImmediate as nextTurn } from "node:timers/promises"
import type { AuditEntry, EndEntry, StartEntry } from "../../core/audit-entry.ts"
import type { AuditFilter } from "../../store/port.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { ToolRegistry } from "./registry.ts"

export interface LoggedStart {
  id: string
  agentId: string
  toolName: string
  /** Without secrets. */
  params: unknown
  timestamp: number
}

export interface LoggedSuccess {
  id: string
  duration: number
  /** As text, cut where it is long. */
  result: string | undefined
  timestamp: number
}

export interface LoggedFailure {
  id: string
  duration: number
  error: string
  timestamp: number
}

/** One execution in the audit log. */
export interface AuditedExecution extends LoggedStart {
  success: boolean
  duration: number
  result?: string
  error?: string
}

/**
 * S2's view of the audit log, which every call writes itself. An engine tells its logger what was written, so that a subclass
 * can pass it on.
 */
export class ToolAuditLogger {
  readonly #registry: ToolRegistry

  constructor(registry: ToolRegistry) {
    this.#registry = registry
  }

  logStart(_entry: LoggedStart): void | Promise<void> {}

  logSuccess(_entry: LoggedSuccess): void | Promise<void> {}

  logFailure(_entry: LoggedFailure): void | Promise<void> {}

  /** The executions in the audit log, newest first, also those that were refused. */
  async list(filter: AuditFilter = {}): Promise<AuditedExecution[]> {
    const app = await this.#registry.appFor(undefined).open()
    await app.settle()
    const rows = await app.audit.list(filter)
    const entries = await app.audit.showMany(rows.map(({ callId }) => callId))
    return rows.flatMap(({ callId }) => executionsOf(entries.get(callId) ?? [], this.#registry))
  }
}

export type Logger = Pick<ToolAuditLogger, "logStart" | "logSuccess" | "logFailure">

/** Tells a logger of the start of a call before its tool runs. */
export async function tellStart(logger: Logger, callId: string, app: Quartermaster, names: Names): Promise<void> {
  // The start of a tool that only reads is written in the next turn.
  await nextTurn()
  await app.settle()
  const start = (await app.audit.show(callId)).find((entry) => entry.kind === "start")
  if (start === undefined) throw new Error(`The start of the call ${callId} is not in the audit log.`)
  await logger.logStart(startOf(start, names))
}

/** Tells a logger what the audit log has about a call. `hasStart`: of its start it was told before. */
export async function tellLogger(
  logger: Logger,
  entries: readonly AuditEntry[],
  names: Names,
  hasStart: boolean,
): Promise<void> {
  for (const entry of entries) {
    if (entry.kind === "start" && !hasStart) await logger.logStart(startOf(entry, names))
    if (entry.kind !== "end" || !entry.ran) continue
    const { callId: id, durationMs: duration, result, error = "", at: timestamp } = entry
    if (entry.status === "success") await logger.logSuccess({ id, duration, result, timestamp })
    else await logger.logFailure({ id, duration, error, timestamp })
  }
}

type Names = Pick<ToolRegistry, "nameOf">

function startOf({ callId, agentId, tool, input, at }: StartEntry | EndEntry, names: Names): LoggedStart {
  return { id: callId, agentId, toolName: names.nameOf(tool), params: parsed(input), timestamp: at }
}

/** A call that was refused has no start. */
function executionsOf(entries: readonly AuditEntry[], names: Names): AuditedExecution[] {
  const start = entries.find((entry) => entry.kind === "start")
  const end = entries.find((entry) => entry.kind === "end")
  if (end === undefined) return []
  const { status, startedAt: timestamp, durationMs: duration, result, error } = end
  return [{ ...startOf(start ?? end, names), timestamp, success: status === "success", duration, result, error }]
}

/** The input, as text where it was cut. */
function parsed(input: string | undefined): unknown {
  try {
    return input === undefined ? undefined : (JSON.parse(input) as unknown)
  } catch {
    return input
  }
}
