import type { CallRow, CallState, ApprovalCard } from "../../core/call.ts"
import { Ending } from "../../core/ending.ts"
import { canonicalJson, sha256 } from "../../lib/canonical-json.ts"
import type { Preview } from "../../core/preview.ts"
import type { Ports } from "../state/ports.ts"
import type { Reason } from "../../core/reason.ts"
import type { Ticket } from "../../core/result.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { ActiveCall } from "../state/active-call.ts"
import type { StartedElsewhere, StoredRequest } from "../../store/stored-request.ts"

/** Returns the time until which people may answer a call, unless a rule gives them less. */
export function answerDeadline(at: number, { request }: ActiveCall, ports: Ports): number {
  return Math.max(at + ports.settings.approvalDeadlineMs, request.resumableUntil ?? 0)
}

/** The first values of a row, besides its request. */
export interface NewRowFields {
  /** The input before defaults, in canonical JSON. */
  raw: string
  state: CallState
  asks: readonly Reason[]
  card: ApprovalCard
  at: number
  deadline: number | null
  preview: Preview | null
}

/** The row of a call that must survive the end of this process. */
export function newRow(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  fields: NewRowFields,
  ports: Ports,
): CallRow {
  return {
    id: call.callId,
    state: fields.state,
    owner: ports.owner,
    epoch: 0,
    agentId: call.request.agentId,
    sessionId: sessionOf(call),
    key: call.request.key ?? null,
    tool: tool.name,
    definitionHash: tool.definitionHash,
    input: fields.raw,
    inputDigest: callDigest(call, input, ports),
    request: requestText(call),
    asks: fields.asks,
    card: fields.card,
    revision: 1,
    votes: [],
    wanted: false,
    workspace: ports.settings.workspace,
    preview: fields.preview,
    deadline: fields.deadline,
    answer: null,
    result: null,
    createdAt: fields.at,
    updatedAt: fields.at,
  }
}

/** The request of a call as its row stores it. */
export function requestText({ request, sessionId }: ActiveCall, started?: StartedElsewhere): string {
  const { input: _input, signal: _signal, caller: _caller, ...given } = request
  return JSON.stringify({ given, sessionId, started } satisfies StoredRequest)
}

/** Returns the ticket a caller gets in place of a result while the call waits for a person. */
export function ticketOf(row: CallRow): Ticket {
  const state = row.state === "held" || row.state === "ready" ? row.state : "waiting"
  return { callId: row.id, state, until: row.deadline ?? Infinity }
}

/** The session that the caller named. The default session of a day does not count: a retry after midnight is the same call. */
export function sessionOf(call: ActiveCall): string {
  return call.request.sessionId ?? (call.parent === undefined ? "" : call.sessionId)
}

/**
 * Equal for two calls that are the same. With a key: same input, task and user. Without one, session, allowed paths and
 * workspace must be the same too.
 */
export function callDigest(call: ActiveCall, input: unknown, ports: Ports): string {
  const { key, taskId, userId, allowedPaths, anySession, elsewhere } = call.request
  const { workspace } = ports.settings
  const sessionId = anySession === true ? "" : sessionOf(call)
  // A call that its caller runs is another one than the same call that runs here.
  const always = { input, taskId, userId, elsewhere: elsewhere?.client }
  return sha256(canonicalJson(key === undefined ? { ...always, sessionId, allowedPaths, workspace } : always))
}

/** Changes the row by a compare-and-set on state, owner and epoch. Ends the call if another process changed it first. */
export async function advance(call: ActiveCall, ports: Ports, change: Partial<CallRow>): Promise<void> {
  if (!(await tryAdvance(call, ports, change))) {
    throw new Ending("interrupted", "Another process ended this call or continued it. Look it up in the audit log.")
  }
}

/** Changes the row as `advance` does, but returns false if another process changed it first. */
export async function tryAdvance(call: ActiveCall, ports: Ports, change: Partial<CallRow>): Promise<boolean> {
  const row = call.row
  if (row === undefined) throw new Error("Only a stored call has a state to change.")
  const { state, owner, epoch } = row
  const swapped = await ports.calls.swap(row.id, { state, owner, epoch }, change)
  if (swapped) call.row = { ...row, ...change }
  return swapped
}

/** Takes over the row of a call that no process has any more. */
export async function claim(call: ActiveCall, row: CallRow, ports: Ports): Promise<boolean> {
  const { state, owner, epoch } = row
  const change = { owner: ports.owner, epoch: epoch + 1 }
  if (!(await ports.calls.swap(row.id, { state, owner, epoch }, change))) return false
  call.callId = row.id
  call.row = { ...row, ...change }
  return true
}
