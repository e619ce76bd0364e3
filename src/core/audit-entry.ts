import type { EndingCode, ToolExecuteStatus } from "./result.ts"

/** The durability level. *crash* survives `kill -9`; *power* is synced to disk and also survives a power cut. */
export type Durability = "crash" | "power"

/** Why a call was decided as it was. */
export interface Reason {
  /** The check that decided: group, role, department, level, permission, limit, rule, guard, person. */
  check: string
  /** Where that is written: a tool id, a line of the configuration, a rule. */
  source: string
  /** The same for programs. It does not change when the sentence is reworded or translated. */
  code: string
  /** The values in the sentence: paths, hosts, levels. */
  params?: ReasonParams | undefined
  sentence: string
  /** For an ask that only a person can answer: allow rules and grants do not lift it. */
  binding?: boolean | undefined
  /** For a rule in shadow, which decides nothing: what it would have decided. */
  shadow?: "allow" | "ask" | "deny" | undefined
}

export type ReasonParams = Readonly<Record<string, string | number | readonly string[]>>

/** A stored reason. Older ones have no code. */
export type StoredReason = Omit<Reason, "code"> & { code?: string | undefined }

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
