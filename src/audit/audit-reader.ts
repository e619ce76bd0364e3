import type { AuditFilter, AuditRow } from "../store/port.ts"
import type { AuditEntry, StepEntry } from "../core/audit-entry.ts"

/** Reads and verifies the audit log. */
export interface AuditReader {
  /** Ended calls, newest first. */
  list(filter?: AuditFilter): Promise<AuditRow[]>
  /**
   * All entries of one call, by a unique beginning of its id or by one of its records as `verify` names it, `record 1/5`.
   * Empty when none or several calls match.
   */
  show(callId: string): Promise<AuditEntry[]>
  /** All entries of each of these calls, by their whole ids. */
  showMany(callIds: readonly string[]): Promise<ReadonlyMap<string, readonly AuditEntry[]>>
  /** Returns the answers of people, by the id of the call. */
  answers(): Promise<ReadonlyMap<string, readonly StepEntry[]>>
  /** The call ids with this beginning, at most a hundred. */
  beginningWith(beginning: string): Promise<string[]>
  stats(filter?: AuditFilter): Promise<AuditStats>
  /** Counts the calls that have ended. */
  count(filter?: AuditFilter): Promise<number>
  /** The hours in which calls ended, oldest first. */
  hours(filter?: AuditFilter): Promise<AuditHour[]>
  /** The tools with most calls first, at most so many. */
  tools(filter: AuditFilter, most: number): Promise<ToolCount[]>
  /** The answers of people, oldest first. Reads agent, tool and time of the filter. */
  waits(filter: AuditFilter): Promise<AuditWait[]>
  /** For how many calls since then each rule gave a reason, by the hash in its reasons. */
  rules(since: number): Promise<ReadonlyMap<string, number>>
  /** Checks that no entry was changed or removed. `head` is an earlier checkpoint that must still be part of the log. */
  verify(head?: string): Promise<AuditVerification>
  /** A checkpoint hash of the log, to store elsewhere for a later `verify`. */
  head(): Promise<string>
  /** Streams every ended call, oldest first. */
  export(filter?: AuditFilter): AsyncIterable<ExportedCall>
  /** Deletes the oldest closed segments but keeps their hashes, so that `verify` still works. */
  drop(before: number, by: string): Promise<{ segments: number; records: number }>
}

/** One ended call as a flat row for other programs. Secrets are masked as in the audit log. */
export interface ExportedCall {
  callId: string
  at: number
  agentId: string
  role: string
  tool: string
  version: string
  status: string
  code: string
  startedAt: number
  durationMs: number
  sessionId: string
  taskId: string
  userId: string
  parentCallId: string
  input: string
  /** Keyed digest of the whole input when `input` is masked or cut, else empty. */
  inputDigest: string
  result: string
  error: string
  reasons: string
  policy: string
}

export interface AuditStats {
  total: number
  failures: number
  byTool: Record<string, { count: number; failures: number; averageMs: number }>
  byAgent: Record<string, { count: number; failures: number }>
  byRole: Record<string, { count: number; failures: number }>
  byEnding: Record<string, number>
  /** ISO hour, for example 2026-01-01T09. */
  byHour: Record<string, { count: number; failures: number }>
}

/** The calls that ended in one hour. */
export interface AuditHour {
  /** The time at which the hour begins. */
  at: number
  /** The number of calls that ended with `success` or with each code. */
  byEnding: Readonly<Record<string, number>>
  /** Histogram of durations in milliseconds, to two digits, shortest first. */
  times: readonly { ms: number; count: number }[]
}

export interface ToolCount {
  tool: string
  count: number
  failures: number
  averageMs: number
}

/** The time that a call waited for an answer that came at `at`. */
export interface AuditWait {
  at: number
  ms: number
  agentId: string
  tool: string
}

export type AuditVerification =
  | { ok: true; records: number; chains: number }
  | { ok: false; problem: string; record: string }
