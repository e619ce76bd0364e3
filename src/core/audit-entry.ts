import type { EndingCode, ToolExecuteStatus } from "./result.ts"
import type { Reason } from "./reason.ts"

interface EntryBase {
  callId: string
  /** Milliseconds since 1970. */
  at: number
}

/** Who called which tool with which input. Text is already masked and cut. */
export interface AuditCallFields {
  agentId: string
  role?: string | undefined
  tool: string
  version?: string | undefined
  layer?: string | undefined
  sessionId?: string | undefined
  taskId?: string | undefined
  userId?: string | undefined
  parentCallId?: string | undefined
  traceId?: string | undefined
  key?: string | undefined
  /** What the agent said about the reason of the call. */
  intent?: string | undefined
  /** The input as JSON text, masked and cut. */
  input?: string | undefined
  /** Keyed digest of the whole input, when `input` was masked or cut. */
  inputDigest?: string | undefined
  policy?: string | undefined
}

export interface StartEntry extends EntryBase, AuditCallFields {
  kind: "start"
  reasons?: readonly Reason[] | undefined
  /** The process that runs it, when several processes write into one chain. */
  owner?: string | undefined
}

export interface EndEntry extends EntryBase, AuditCallFields {
  kind: "end"
  status: ToolExecuteStatus
  code?: EndingCode | undefined
  startedAt: number
  /** How long the tool ran. What the call waited for people is not counted. */
  durationMs: number
  error?: string | undefined
  /** Where a tool of the host threw, masked and cut. Shown by `qm audit show --stack` only. */
  stack?: string | undefined
  /** The result as JSON text, masked and cut. */
  result?: string | undefined
  resultDigest?: string | undefined
  resultLength?: number | undefined
  reasons?: readonly Reason[] | undefined
  /** False when the call ended before the tool ran. */
  ran: boolean
}

/** Something between start and end of a call, or a note without a call. */
export interface StepEntry extends EntryBase {
  kind: "asked" | "answered" | "try" | "late" | "held" | "released" | "withheld" | "note"
  agentId?: string | undefined
  tool?: string | undefined
  by?: string | undefined
  text?: string | undefined
}

/** One entry of the audit log. */
export type AuditEntry = StartEntry | EndEntry | StepEntry

/** An entry for everybody but the author of the tool. */
export function withoutStack(entry: AuditEntry): AuditEntry {
  if (entry.kind !== "end" || entry.stack === undefined) return entry
  const { stack: _stack, ...rest } = entry
  return rest
}
