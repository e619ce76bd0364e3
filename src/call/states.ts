import type { CallRequest, CallRow, CallState, Card } from "../model/call.ts"
import { Ending } from "../model/ending.ts"
import { canonicalJson, sha256 } from "../model/plain.ts"
import type { Ports } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { Walk } from "./walk.ts"

/** How long a caller's key, and the result of a call that waited, is remembered. */
export const keyWindowMs = 24 * 60 * 60 * 1000

/** How long after the answer an approved ticket can be redeemed. */
export const redeemWindowMs = 10 * 60 * 1000

/** A request in its row: as it was given, and the session it belongs to. */
export interface StoredRequest {
  given: Omit<CallRequest, "input" | "signal">
  sessionId: string
}

export function storedRequest(row: CallRow): StoredRequest {
  return JSON.parse(row.request) as StoredRequest
}

/** What a row begins with beyond its request. */
export interface Beginning {
  /** The input as it was given, in canonical JSON. */
  raw: string
  state: CallState
  asks: readonly Reason[]
  card: Card
  at: number
  deadline: number | null
  preview: string | null
}

/** The row of a call that must outlive this process. */
export function newRow(walk: Walk, tool: RegisteredTool, input: unknown, given: Beginning, ports: Ports): CallRow {
  const { input: _input, signal: _signal, caller: _caller, ...request } = walk.request
  return {
    id: walk.callId,
    state: given.state,
    owner: ports.owner,
    epoch: 0,
    agentId: walk.request.agentId,
    sessionId: sessionOf(walk),
    key: walk.request.key ?? null,
    tool: tool.name,
    definitionHash: tool.definitionHash,
    input: given.raw,
    inputDigest: digestOf(walk, input, ports),
    request: JSON.stringify({ given: request, sessionId: walk.sessionId } satisfies StoredRequest),
    asks: given.asks,
    card: given.card,
    revision: 1,
    votes: [],
    wanted: false,
    workspace: ports.settings.workspace,
    preview: given.preview,
    deadline: given.deadline,
    answer: null,
    result: null,
    createdAt: given.at,
    updatedAt: given.at,
  }
}

/** Whether the tool has run: what is left is its result. */
export function hasRun(row: CallRow | undefined): boolean {
  return row?.state === "held" || row?.state === "released"
}

/** The session a call was made in. An agent's day is none: a retry after midnight is the same call. */
function sessionOf(walk: Walk): string {
  return walk.request.sessionId ?? (walk.parent === undefined ? "" : walk.sessionId)
}

/**
 * What makes two calls the same. A caller's key stands for itself; without one, calls are the same only in one session
 * and folder and for one task and person.
 */
export function digestOf(walk: Walk, input: unknown, ports: Ports): string {
  const { key, taskId, userId, allowedPaths, anySession } = walk.request
  const { workspace } = ports.settings
  const sessionId = anySession === true ? "" : sessionOf(walk)
  const about = { input, taskId, userId }
  return sha256(canonicalJson(key === undefined ? { ...about, sessionId, allowedPaths, workspace } : about))
}

/** One arrow of a stored call: a compare-and-set on state, owner and epoch. Losing it ends the walk. */
export async function advance(walk: Walk, ports: Ports, change: Partial<CallRow>): Promise<void> {
  if (!(await tryAdvance(walk, ports, change))) {
    throw new Ending("interrupted", "Another process ended this call or went on with it. Look at its record.")
  }
}

/** The same for whoever has something else to do when the arrow is lost. */
export async function tryAdvance(walk: Walk, ports: Ports, change: Partial<CallRow>): Promise<boolean> {
  const row = walk.row
  if (row === undefined) throw new Error("Only a stored call has arrows.")
  const { state, owner, epoch } = row
  const won = await ports.calls.swap(row.id, { state, owner, epoch }, change)
  if (won) walk.row = { ...row, ...change }
  return won
}

/** Makes this walk the owner of a row nobody walks any more. */
export async function claim(walk: Walk, row: CallRow, ports: Ports): Promise<boolean> {
  const { state, owner, epoch } = row
  const change = { owner: ports.owner, epoch: epoch + 1 }
  if (!(await ports.calls.swap(row.id, { state, owner, epoch }, change))) return false
  walk.callId = row.id
  walk.row = { ...row, ...change }
  return true
}
