import type { CallRequest, CallRow } from "./call.ts"
import type { EventType, Listener } from "./events.ts"
import type { AuditFilter, AuditRow } from "./ports.ts"
import type { RecordEntry } from "./record.ts"
import type { Ticket, ToolResult } from "./result.ts"
import type { RegisteredTool } from "./tool.ts"

/** What a door is given: everything it may do, and nothing else. */
export interface App {
  /** Resolves when the call has ended, however it ended. Never rejects for an expected ending. */
  call(request: CallRequest): Promise<ToolResult>
  /** Like `call`, for a door that cannot wait for people: after `waitMs` it gets a ticket instead. */
  submit(request: CallRequest, options: { waitMs: number }): Promise<ToolResult | Ticket>
  /** Goes on with a stored call: redeems a ticket, waits on, or tells how it ended. */
  resume(callId: string, options?: { waitMs?: number }): Promise<ToolResult | Ticket>
  /** Every call gets an answer, in order; one failure never loses its siblings. */
  callMany(requests: readonly CallRequest[]): Promise<ToolResult[]>
  /** Throws the error classes of the source designs instead of returning a failed result. */
  executeOrThrow<T = unknown>(request: CallRequest): Promise<T>
  /** The tools an agent may know of, in the order of their names. */
  visibleTools(agentId: string): readonly RegisteredTool[]
  /** Every group with the names of its tools. */
  listGroups(): { id: string; description: string; toolCount: number; tools: string[]; isReserved: boolean }[]
  on<T extends EventType>(type: T, listener: Listener<T>): () => void
  /** Calls that wait for a person. */
  waiting(): Promise<CallRow[]>
  /** Says yes or no to a waiting call or a held result. The first answer wins. */
  answer(callId: string, answer: { approved: boolean; by: string; rejectReason?: string }): Promise<boolean>
  readonly audit: AuditReader
  close(): Promise<void>
}

export interface AuditReader {
  list(filter?: AuditFilter): Promise<AuditRow[]>
  show(callId: string): Promise<RecordEntry[]>
  stats(filter?: AuditFilter): Promise<AuditStats>
  verify(head?: string): Promise<Verified>
  head(): Promise<string>
}

export interface AuditStats {
  total: number
  failures: number
  byTool: Record<string, { count: number; failures: number; averageMs: number }>
  byAgent: Record<string, { count: number; failures: number }>
  byEnding: Record<string, number>
}

export type Verified = { ok: true; records: number; chains: number } | { ok: false; problem: string; record: string }
