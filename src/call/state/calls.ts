import type {
  CallRequest,
  ReportedOutcome,
  RunningElsewhere,
  TypedCallRequest,
  UnwantedCalls,
} from "../../core/call.ts"
import type { Ticket, ToolResult } from "../../core/result.ts"
import type { StoredArtifact } from "../../core/tool.ts"
import type { BatchOptions } from "./batch-options.ts"

export interface CallsElsewhere {
  /** The calls of a session that run now, the oldest first. */
  list(filter: { agentId?: string; sessionId: string }): Promise<RunningElsewhere[]>
  /** Ends one with what came of it. A result that a person must release waits `waitMs`; then this is a ticket. */
  report(callId: string, outcome: ReportedOutcome, options?: { waitMs?: number }): Promise<ToolResult | Ticket>
  /** Ends those of which nothing will be reported any more, as `unknown_outcome`. Returns how many. */
  endSession(filter: { agentId?: string; sessionId: string }, because: string): Promise<number>
}

/** The ways to call tools, and to read what calls have stored. */
export interface Calls {
  /** Calls a tool and resolves when the call has ended, however it ended. Refusals and failures are results, not rejections. */
  call<Input, Output>(request: TypedCallRequest<Input, Output>): Promise<ToolResult<Output>>
  call(request: CallRequest): Promise<ToolResult>
  /** With `waitMs`, does not wait for people longer than that: then it returns a ticket for `resume`. */
  call<Input, Output>(
    request: TypedCallRequest<Input, Output>,
    options: { waitMs: number },
  ): Promise<ToolResult<Output> | Ticket>
  call(request: CallRequest, options: { waitMs: number }): Promise<ToolResult | Ticket>
  /**
   * Continues a stored call: redeems a ticket, waits on, or returns how the call ended. With `watch` it only looks: a call
   * that no process has stays as it is.
   */
  resume(
    callId: string,
    options?: { waitMs?: number; watch?: boolean } & Pick<CallRequest, "caller" | "signal">,
  ): Promise<ToolResult | Ticket>
  /**
   * Makes several calls at once and returns a result for each, in the order of the requests. One failure does not affect
   * the others.
   */
  callMany(requests: readonly CallRequest[]): Promise<ToolResult[]>
  /** With options, those calls that still wait when nobody waits for them any more are tickets. */
  callMany(requests: readonly CallRequest[], options: BatchOptions): Promise<(ToolResult | Ticket)[]>
  /**
   * Ends the calls of a session that nobody wants any more: those that wait for people, and those whose results are held.
   * Returns the results of the calls with these keys, as far as they have run.
   */
  endCalls(unwanted: UnwantedCalls): Promise<ReadonlyMap<string, ToolResult>>
  /** The calls with `elsewhere`, whose tools their callers run: from the moment they are let through to their end. */
  elsewhere: CallsElsewhere
  /** Reads an artifact. Undefined when it does not exist or the agent may not read it. */
  artifact(agentId: string, ref: string): Promise<StoredArtifact | undefined>
  /** Stores a text of a call as an artifact of its agent. Returns the reference. */
  storeText(of: { agentId: string; taskId?: string; callId: string }, text: string, mimeType?: string): Promise<string>
}
