import type { AnswerValue } from "../model/approval.ts"
import type { CallRequest, CallRow } from "../model/call.ts"
import { Ending } from "../model/ending.ts"
import { newId } from "../model/identity.ts"
import type { AgentView } from "../model/organisation.ts"
import type { ResultApproval } from "../model/permission.ts"
import type { Masked, Permit, Ports } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { Ticket, ToolResult } from "../model/result.ts"
import type { Alias } from "../model/dialect.ts"
import type { Finding } from "../model/guard.ts"
import type { Touches } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { RunClock } from "./clock.ts"
import { readRequest } from "./request.ts"
import { hasRun } from "./states.ts"

/** How a door walks a call, beyond what the request says. */
export interface WalkOptions {
  /** Milliseconds this door can wait for a person; after that it gets a ticket. Without it, it waits to the end. */
  patienceMs?: number | undefined
  /** The call this one was made by. */
  parent?: Walk | undefined
  /** The stored row of a call that is resumed. */
  row?: CallRow | undefined
  /** The session a resumed call belongs to. */
  sessionId?: string | undefined
}

/** One call on its way. Steps read it and leave on it what later steps and the record need. */
export interface Walk {
  /** Ours, always. A redeemed ticket gives the walk the id of the call it redeems. */
  callId: string
  /** By whatever name the tool was called, its input is the tool's own once it has been validated. */
  request: CallRequest
  /** What was wrong with the request itself. */
  readonly problems: readonly string[]
  /** As it was when the call was last decided on. */
  who: AgentView | undefined
  readonly sessionId: string
  readonly receivedAt: number
  readonly patienceUntil: number | undefined
  readonly parent: Walk | undefined
  readonly depth: number
  tool: RegisteredTool | undefined
  /** The other name it was called by. */
  alias: Alias | undefined
  /** Why it was decided as it was. */
  reasons: readonly Reason[]
  /** What the run will use, as far as the tool says. */
  touches: Touches
  /** What the guards found about that. */
  findings: readonly Finding[]
  /** When a person releases the result: the stricter of what the tool and the rules say. */
  release: ResultApproval
  /** What a person said to the tool's question. */
  answer: AnswerValue | undefined
  /** The input that ran instead of the request's, when a person edited it. */
  ranInput: { input: unknown } | undefined
  /** Whether a person took something out of the result. */
  redacted: boolean
  /** The input as the record shows it; made once. */
  maskedInput: Masked | undefined
  /** The result as the record shows it; made once. */
  maskedResult: Masked | undefined
  /** When the start was kept. */
  startedAt: number | undefined
  /** Whether the tool was given control. Between the start and this a call waits for its permit. */
  ran: boolean
  /** Whether the result is nothing but what was streamed. */
  streamed: boolean
  /** Whether the result is one of before. */
  cached: boolean
  /** The tool that did the work in place of one that failed. */
  fellBackTo: string | undefined
  /** The row in the store, for calls that must outlive this process. */
  row: CallRow | undefined
  /** What a running tool holds of its agent's share. */
  permit: Permit | undefined
  /** The clock of a running tool; stopped while all its running sub-calls wait for people. */
  clock: RunClock | undefined
}

export function beginWalk(given: CallRequest, ports: Ports, options: WalkOptions): Walk {
  const { request, problems } = readRequest(given)
  const { parent, row } = options
  const receivedAt = ports.now()
  return {
    callId: row?.id ?? newId(),
    request,
    problems,
    who: ports.organisation.view(request.agentId),
    sessionId:
      options.sessionId ?? request.sessionId ?? parent?.sessionId ?? defaultSession(request.agentId, receivedAt),
    receivedAt,
    patienceUntil: options.patienceMs === undefined ? undefined : receivedAt + options.patienceMs,
    parent,
    depth: parent === undefined ? 0 : parent.depth + 1,
    tool: undefined,
    alias: undefined,
    reasons: [],
    touches: nothing,
    findings: [],
    release: "never",
    answer: undefined,
    ranInput: undefined,
    redacted: false,
    maskedInput: undefined,
    maskedResult: undefined,
    startedAt: undefined,
    ran: hasRun(row),
    streamed: false,
    cached: false,
    fellBackTo: undefined,
    row,
    permit: undefined,
    clock: undefined,
  }
}

const nothing: Touches = { list: [], proved: true }

let today = { day: 0, text: "" }

/** Without a session of its own a call belongs to its agent's day. */
function defaultSession(agentId: string, at: number): string {
  const day = Math.floor(at / 86_400_000)
  if (day !== today.day) today = { day, text: new Date(at).toISOString().slice(0, 10) }
  return `${agentId}/${today.text}`
}

/** Whether a person may still hold back what this call, or one above it, comes to. */
export function mayBeHeld(walk: Walk): boolean {
  for (let each: Walk | undefined = walk; each !== undefined; each = each.parent) {
    if (each.release !== "never") return true
  }
  return false
}

/** Says to everyone, and to whoever made the call, that it waits for a person. */
export function tellWaiting(
  walk: Walk,
  waiting: { callId: string; toolName: string; agentId: string; until: number },
  ports: Ports,
): void {
  const { callId, toolName: tool, until } = waiting
  ports.emit({ type: "TOOL_CALL_WAITING", at: ports.now(), ...waiting })
  walk.request.caller?.onWaiting?.({ callId, tool, until })
}

/** Who asks for what, as approvers are told. */
export function whoAndWhat(walk: Walk, tool: RegisteredTool) {
  const { role, spawners } = agentOf(walk)
  return {
    role: role.name,
    roleMadeBy: role.madeBy === "agent" ? role.createdBy : undefined,
    spawners: spawners.map(({ agent }) => agent.id),
    description: tool.description,
    level: tool.permission.level,
  }
}

/** The agent of a call that got past `visible`. */
export function agentOf(walk: Walk): AgentView {
  if (walk.who === undefined) throw new Error("A step after `visible` met a call without an agent.")
  return walk.who
}

/** Thrown when another call with the same key, or the same waiting call, gives the answer. */
export class Joined {
  readonly result: ToolResult
  readonly joinedId: string

  constructor(result: ToolResult, joinedId: string) {
    this.result = result
    this.joinedId = joinedId
  }
}

/** Thrown when a door's patience is over and the call goes on waiting without it. */
export class Detached {
  readonly ticket: Ticket

  constructor(ticket: Ticket) {
    this.ticket = ticket
  }
}

/** Ends the call if its caller has given up. */
export function refuseAborted(walk: Walk): void {
  if (walk.request.signal?.aborted) throw aborted(walk)
}

export function aborted(walk: Walk): Ending {
  return new Ending(
    "aborted",
    walk.ran ? "The call was cancelled while it ran." : "The call was cancelled before it ran.",
  )
}

/** The ending of a call whose agent was ended while it waited. */
export function agentIsGone({ request }: Walk): Ending {
  return new Ending("aborted", `Agent ${request.agentId} was ended, and its calls with it.`)
}

export function revoked(tokenId: string): string {
  return `The token ${tokenId} this call came by was revoked or has expired, and its waiting calls ended with it.`
}

/** The ending of a call whose agent was ended, or whose token was revoked, while it waited. */
export function callerIsGone(walk: Walk, ports: Ports): Ending | undefined {
  const { agentId, tokenId } = walk.request
  if (ports.organisation.view(agentId) === undefined) return agentIsGone(walk)
  return tokenId === undefined || ports.tokenCounts(tokenId) ? undefined : new Ending("aborted", revoked(tokenId))
}

/** The ending of a call whose agent was ended or frozen after it was decided on. */
export function agentStopped(walk: Walk, ports: Ports): Ending | undefined {
  const { agentId } = walk.request
  const who = ports.organisation.view(agentId)
  if (who === undefined) return agentIsGone(walk)
  if (who.frozen === undefined) return undefined
  return new Ending("frozen", `Agent ${agentId} was frozen by ${who.frozen.by} before the tool ran.`)
}
