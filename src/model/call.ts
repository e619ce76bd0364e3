import type { AnswerValue, ApprovalUIAdapter, Question, Vote } from "./approval.ts"
import type { ToolPermissionLevel } from "./permission.ts"
import type { Reason } from "./record.ts"
import type { ToolResult } from "./result.ts"
import type { Approvers, GrantScope, Touches } from "./rule.ts"

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
  /** The trace this call is a part of, for the record. */
  traceId?: string | undefined
  /** True where the same call of the agent from another session joins this one while it waits: its sessions are short. */
  anySession?: boolean | undefined
  /** The token it came by, so that revoking it ends the call while it waits. */
  tokenId?: string | undefined
  timeoutMs?: number | undefined
  /** Narrows the fence for this call, never widens it. */
  allowedPaths?: readonly string[] | undefined
  /** Cancels the call. */
  signal?: AbortSignal | undefined
  /** Who is at the other end of the door, where it can be asked; sub-calls have the same. */
  caller?: Caller | undefined
}

/** The other end of a door that can be asked while a call is on its way. */
export interface Caller {
  /** How the person at the other end is asked. Only a door that knows who that is gives it, and it says who in `by`. */
  approvals?: Partial<ApprovalUIAdapter> | undefined
  /**
   * Sends the caller's program a request of the protocol it speaks; only for what is no person's decision. `key` is what
   * whoever asks calls it.
   */
  ask?(method: string, params: unknown, signal: AbortSignal, key?: string): Promise<unknown>
  /** What another server may be told that can be asked within this call; all that is configured when left out. */
  able?: { readonly elicitation: boolean; readonly sampling: boolean; readonly roots: boolean } | undefined
  /** Told each piece of output while a tool runs, of sub-calls too; never what a person may still hold back. */
  onOutput?(chunk: unknown): void
  /** Told when this call, or one that it made, begins to wait for a person. */
  onWaiting?(waiting: { callId: string; tool: string; until: number }): void
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
  card: Card
  /** Grows when the input is edited or the reasons change; an answer is for one revision. */
  revision: number
  votes: readonly Vote[]
  /** Whether a ticket was handed out, so that somebody may still come for it. */
  wanted: boolean
  /** The folder its process worked in. */
  workspace: string
  preview: string | null
  deadline: number | null
  answer: Answer | null
  /** The held or keyed result. */
  result: ToolResult | null
  createdAt: number
  updatedAt: number
}

/** What the people who answer are shown, and what their answer is bound to. */
export interface Card {
  role: string
  /** The agent that made the role, where no person did. */
  roleMadeBy?: string | undefined
  spawners: readonly string[]
  description: string
  level: ToolPermissionLevel
  /** SHA-256 of the canonical input that is shown. */
  inputDigest: string
  touches: Touches
  /** Digests of the files the call names, by path. */
  files: Readonly<Record<string, string>>
  question?: Question | undefined
  approvers: readonly Approvers[]
  remember: readonly GrantScope[]
  editedBy?: string | undefined
  note?: string | undefined
}

/** What of an ended call's row is kept no more: its input, and all that may say what the input said. */
export function erased({ card }: Pick<CallRow, "card">) {
  const touches = { list: [], proved: card.touches.proved }
  return { input: null, preview: null, asks: [], card: { ...card, touches, files: {} } }
}

/** What people said to a waiting call or a held result, once it is settled. */
export interface Answer {
  approved: boolean
  by: string
  at: number
  rejectReason?: string | undefined
  /** For an edit: the walk goes on with this input and comes back to the desk. */
  edit?: { input: unknown } | undefined
  /** For a result: what leaves instead of it. */
  redact?: readonly string[] | undefined
  replace?: { value: unknown } | undefined
  /** For a question. */
  value?: AnswerValue | undefined
}
