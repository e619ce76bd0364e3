import type { CallClock } from "./batch-options.ts"
import { dailySession, hasRun, type CallRequest, type CallRow } from "../../core/call.ts"
import { newId } from "../../lib/new-id.ts"
import type { AgentView } from "../../core/organisation.ts"
import type { ResultApproval } from "../../core/permission.ts"
import type { HoldingRule } from "../../core/verdict.ts"
import type { Masked } from "../../audit/masker.ts"
import type { Ports } from "./ports.ts"
import type { Reason } from "../../core/reason.ts"
import type { Ticket, ToolResult } from "../../core/result.ts"
import type { Alias } from "../../registry/dialects/dialect.ts"
import type { Touches } from "../../core/touches.ts"
import type { SecretPaths } from "../../core/schema.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { BatchPlace } from "./batch-gate.ts"
import type { OrderPlace } from "./start-order.ts"
import type { RunClock } from "./run-clock.ts"
import type { DeclaredTouches } from "../../policy/touches.ts"
import { allowedPathsOf } from "./agent-folder-of-call.ts"
import { readRequest } from "./read-request.ts"

/** Options of a call, beyond its request. */
export interface CallOptions {
  /** Milliseconds that the caller waits for a person before it gets a ticket. Without it, it waits to the end. */
  waitMs?: number
  /** Aborted when the caller stops waiting for a person sooner. */
  detach?: AbortSignal
  /** Its id, where the caller must know it before the end. */
  callId?: string
  /** The call whose tool makes this one. */
  parent?: ActiveCall
  /** The stored row of a call that is resumed. */
  row?: CallRow
  /** The session of a call that is resumed. */
  sessionId?: string
  /** Its place among calls that are made together. */
  batch?: BatchPlace
  /** Its place among the calls that were made with it. */
  order?: OrderPlace
  /** Measures the time of calls that are made together. */
  clock?: CallClock
}

/** The type of `callTool`. It is passed to whatever makes calls in turn, so that those take every step too. */
export type CallTool = (request: CallRequest, ports: Ports, options: CallOptions) => Promise<ToolResult | Ticket>

/** A call in progress. It holds what one step finds out and a later step or the audit log needs. */
export interface ActiveCall {
  /** Chosen by us. A call that continues a stored one takes over its id. */
  callId: string
  /** After `validate`, its input is in the tool's own format, also when the tool was called by an alias. */
  request: CallRequest
  /** The problems of the request itself, for `validate` to report. */
  readonly problems: readonly string[]
  /** The agent, as it was when the call was last decided on. */
  who: AgentView | undefined
  readonly agentId: string
  readonly sessionId: string
  readonly receivedAt: number
  /** The options it was made with. */
  readonly options: CallOptions
  /** The call whose tool made this one. */
  readonly parent: ActiveCall | undefined
  /** Its place among calls that are made together. */
  readonly batch: BatchPlace | undefined
  readonly order: OrderPlace | undefined
  /** The number of calls above this one. */
  readonly depth: number
  tool: RegisteredTool | undefined
  /** The alias the tool was called by. */
  alias: Alias | undefined
  /** The reasons for the verdict. */
  reasons: readonly Reason[]
  /** The touches that the tool declares: reads, writes, commands and hosts; undefined if it failed to declare them. */
  declared: DeclaredTouches
  /** The same, as the guards have checked it. */
  touches: Touches
  /** The condition for a person to release the result: the stricter of the tool's and the rules'. */
  release: ResultApproval
  /** The rules that hold its result. */
  holds: readonly HoldingRule[]
  /** The input that a person gave instead of the request's. */
  ranInput: { input: unknown } | undefined
  /** The message to the model from the person who approved it. */
  approvalNote: string | undefined
  /** The result of the tool's `secretFields` for this input. */
  secretFields: SecretPaths | undefined
  /** The input as the audit log shows it. */
  maskedInput: Masked | undefined
  /** The result as the audit log shows it. */
  maskedResult: Masked | undefined
  /** The error that a tool of the host threw. */
  cause: unknown
  /** The time the start was written to the audit log. */
  startedAt: number | undefined
  /** Time it waited for people since it was received or, once it was started, since then. */
  waitedMs: number
  /** True if the tool began to run. A started call may still wait for its permit. */
  ran: boolean
  /** The metadata of a successful result, without the time it took. */
  resultNotes: ResultNotes | undefined
  /** The tool's own additions to the metadata of a successful result. */
  toolMetadata: Readonly<Record<string, unknown>> | undefined
  /** The row in the store, for a call that waits, is held or has a key. */
  row: CallRow | undefined
  /** True when the program that runs the tool itself asks its own person first. */
  asksElsewhere: boolean
  /** The time limit of the running tool. Its sub-calls stop this clock while they all wait for people. */
  clock: RunClock | undefined
}

/** Notes on the origin of a result that is not simply the tool's return value. */
export interface ResultNotes {
  /** A person took something out of it or replaced it. */
  redacted?: true
  /** It consists of the streamed chunks and nothing else. */
  streamed?: true
  /** It is from the cache. */
  cached?: true
  /** The tool that did the work after the called one failed. */
  fallback?: string
}

export function beginCall(input: CallRequest, ports: Ports, options: CallOptions): ActiveCall {
  const { request: given, problems } = readRequest(input)
  const { parent, row } = options
  const receivedAt = ports.now()
  const who = ports.organisation.view(given.agentId)
  const allowedPaths = allowedPathsOf(who?.folder, given.allowedPaths, ports.settings.workspace)
  const request = allowedPaths === given.allowedPaths ? given : { ...given, allowedPaths }
  return {
    callId: row?.id ?? options.callId ?? newId(),
    request,
    problems,
    who,
    agentId: request.agentId,
    sessionId: options.sessionId ?? request.sessionId ?? parent?.sessionId ?? dailySession(request.agentId, receivedAt),
    receivedAt,
    options,
    parent,
    batch: options.batch,
    order: options.order,
    depth: parent === undefined ? 0 : parent.depth + 1,
    tool: undefined,
    alias: undefined,
    reasons: [],
    declared: undefined,
    touches: noTouches,
    release: "never",
    holds: [],
    ranInput: undefined,
    approvalNote: undefined,
    secretFields: undefined,
    maskedInput: undefined,
    maskedResult: undefined,
    cause: undefined,
    startedAt: undefined,
    waitedMs: 0,
    ran: hasRun(row),
    resultNotes: undefined,
    toolMetadata: undefined,
    row,
    asksElsewhere: false,
    clock: undefined,
  }
}

/** Returns the time at which the caller stops waiting for a person and gets a ticket. */
export function waitUntil({ options: { detach, waitMs = Infinity }, receivedAt }: ActiveCall): number {
  return detach?.aborted === true ? receivedAt : receivedAt + waitMs
}

/** The clock that a call is counted by: that of its batch, or of the call above it. */
export function outerClock({ options, parent }: ActiveCall): CallClock | undefined {
  return options.clock ?? parent?.clock
}

const noTouches: Touches = { list: [], proved: true }

/** Reports whether a person may still hold back the result of this call, or of a call above it. */
export function mayBeHeld(call: ActiveCall): boolean {
  for (let each: ActiveCall | undefined = call; each !== undefined; each = each.parent) {
    if (each.release !== "never") return true
  }
  return false
}

/** Reports whether a person approved this very call. The approval of its parent does not count. */
export function isApproved({ row }: ActiveCall): boolean {
  return row?.answer?.approved === true && row.answer.edit === undefined
}

/** Tells the caller and everyone who listens to events that a call waits for a person. */
export function announceWaiting(
  call: ActiveCall,
  waiting: { callId: string; toolName: string; agentId: string; until: number },
  ports: Ports,
): void {
  const { callId, toolName: tool, until } = waiting
  call.batch?.waits()
  call.order?.leave()
  ports.emit({ type: "TOOL_CALL_WAITING", at: ports.now(), ...waiting })
  call.request.caller?.onWaiting?.({ callId, tool, until })
}

/** The part of an approval card that says which agent calls which tool. */
export function cardHeader(call: ActiveCall, tool: RegisteredTool) {
  const { role, ancestors } = requireAgent(call)
  return {
    role: role.name,
    roleMadeBy: role.madeBy === "agent" ? role.createdBy : undefined,
    spawners: ancestors.map(({ agent }) => agent.id),
    description: tool.description,
    level: tool.permission.level,
  }
}

/** The agent of a call that has passed `visible`. */
export function requireAgent(call: ActiveCall): AgentView {
  if (call.who === undefined) throw new Error("A step after `visible` got a call without an agent.")
  return call.who
}

/** Thrown when this call gets the result of another one: that has the same key, or is the same call and waits. */
export class Joined {
  readonly result: ToolResult
  readonly joinedId: string

  constructor(result: ToolResult, joinedId: string) {
    this.result = result
    this.joinedId = joinedId
  }
}

/** Thrown when the caller stops waiting and gets a ticket. The call itself goes on waiting. */
export class Detached {
  readonly ticket: Ticket

  constructor(ticket: Ticket) {
    this.ticket = ticket
  }
}
