import type { EndingCode, ToolExecuteStatus } from "./result.ts"
import type { Reason } from "./reason.ts"

interface EntryBase {
  callId: string
  /** Milliseconds since 1970. */
  at: number
}

/** The agent, the tool and the input of a call. Text is already masked and cut. */
export interface AuditCallFields {
  agentId: string
  role?: string
  tool: string
  version?: string
  layer?: string
  sessionId?: string
  taskId?: string
  userId?: string
  parentCallId?: string
  traceId?: string
  key?: string
  /** The agent's reason for the call. */
  intent?: string
  /** The input as JSON text, masked and cut. */
  input?: string
  /** Keyed digest of the whole input, when `input` was masked or cut. */
  inputDigest?: string
  policy?: string
}

export interface StartEntry extends EntryBase, AuditCallFields {
  kind: "start"
  reasons?: readonly Reason[]
  /** The process that runs it, when several processes write into one chain. */
  owner?: string
}

export interface EndEntry extends EntryBase, AuditCallFields {
  kind: "end"
  status: ToolExecuteStatus
  code?: EndingCode
  startedAt: number
  /** Running time of the tool. Time that the call waited for people is not counted. */
  durationMs: number
  error?: string
  /** The stack of an error that a tool of the host threw, masked and cut. Shown by `qm audit show --stack` only. */
  stack?: string
  /** The result as JSON text, masked and cut. */
  result?: string
  resultDigest?: string
  resultLength?: number
  reasons?: readonly Reason[]
  /** False when the call ended before the tool ran. */
  ran: boolean
}

/** Something between start and end of a call, or a note without a call. */
export interface StepEntry extends EntryBase {
  kind: "asked" | "answered" | "try" | "late" | "held" | "released" | "withheld" | "note"
  agentId?: string
  tool?: string
  by?: string
  text?: string
}

/** One entry of the audit log. */
export type AuditEntry = StartEntry | EndEntry | StepEntry

/** An entry for everybody but the author of the tool. */
export function withoutStack(entry: AuditEntry): AuditEntry {
  if (entry.kind !== "end" || entry.stack === undefined) return entry
  const { stack: _stack, ...rest } = entry
  return rest
}
