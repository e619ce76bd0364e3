import type { Reason } from "./record.ts"
import type { ToolResult } from "./result.ts"

/** What a door hands to the walk. */
export interface CallRequest {
  agentId: string
  tool: string
  input: unknown
  /** Chosen by the caller, within agent and session: the same key, tool and input is the same call for 24 hours. */
  key?: string | undefined
  taskId?: string | undefined
  userId?: string | undefined
  sessionId?: string | undefined
  parentCallId?: string | undefined
  timeoutMs?: number | undefined
  /** Narrows the fence for this call, never widens it. */
  allowedPaths?: readonly string[] | undefined
  /** Cancels the call. */
  signal?: AbortSignal | undefined
}

/** received → decided → waiting → ready → started → held → released → ended; most calls skip the middle. */
export const callStates = ["received", "decided", "waiting", "ready", "started", "held", "released", "ended"] as const
export type CallState = (typeof callStates)[number]

/** A call that must outlive its process: it waits, is held, or has a caller's key. */
export interface CallRow {
  id: string
  state: CallState
  /** The process that walks it, and how often it was claimed. */
  owner: string
  epoch: number
  agentId: string
  sessionId: string
  key: string | null
  tool: string
  definitionHash: string
  /** Canonical JSON of the raw input; erased at the ending, or after the key window. */
  input: string | null
  inputDigest: string
  /** The request without input and signal, as JSON. */
  request: string
  /** What an approver must agree to. */
  asks: readonly Reason[]
  preview: string | null
  deadline: number | null
  answer: Answer | null
  /** The held or keyed result. */
  result: ToolResult | null
  createdAt: number
  updatedAt: number
}

/** What a person said to a waiting call or a held result. */
export interface Answer {
  approved: boolean
  by: string
  at: number
  rejectReason?: string | undefined
  /** The person asked to be remembered; kept with the answer. */
  persistDecision?: boolean | undefined
}
