import type { ToolPermissionLevel } from "./permission.ts"
import type { Reason } from "./record.ts"
import type { ToolResult } from "./result.ts"
import type { Approvers, GrantScope, Touches } from "./rule.ts"
import type { JsonSchema } from "./schema.ts"

/** What stands at the desk, as an approver sees it. */
export interface DeskItem {
  callId: string
  /** A call that wants to run, a result that wants to leave, or a question of ask_user. */
  kind: "call" | "result" | "question"
  agentId: string
  role: string
  /** The agent that made the role, where no person did. */
  roleMadeBy?: string | undefined
  /** The ids of the agents above it, nearest first. */
  spawners: readonly string[]
  tool: string
  description: string
  level: ToolPermissionLevel
  /** Undefined when it was erased. */
  input: unknown
  /** For a result. */
  result?: ToolResult | undefined
  question?: Question | undefined
  reasons: readonly Reason[]
  touches: Touches
  preview?: string | undefined
  /** Grows when somebody edits the input or something else changed; an answer is for one revision. */
  revision: number
  /** Who edited this revision, and why it came back, where either is so. */
  editedBy?: string | undefined
  note?: string | undefined
  votes: readonly Vote[]
  approvers: readonly Approvers[]
  /** What may be remembered with a yes, each with what that means in words. */
  remember: readonly { scope: GrantScope; words: string }[]
  taskId?: string | undefined
  userId?: string | undefined
  sessionId: string
  createdAt: number
  /** When the wait ends by itself. */
  until: number
}

export interface Vote {
  by: string
  at: number
}

/** A question of ask_user, or of an MCP server. */
export interface Question {
  question: string
  options?: readonly string[] | undefined
  multiple?: boolean | undefined
  /** For a form: the JSON Schema of the object that is asked for. Its fields are plain: text, number, yes or no, choices. */
  form?: JsonSchema | undefined
  /** For something to be done elsewhere: the address to open. The answer is an empty object once it is agreed to. */
  url?: string | undefined
}

/** A text, several of the options, or the fields of a form. */
export type AnswerValue = string | readonly string[] | Readonly<Record<string, unknown>>

/** What a person says to what stands at the desk. */
export type Saying =
  | { say: "approve"; remember?: GrantScope | undefined }
  /** A new revision with this input; it is checked, decided and shown again. */
  | { say: "edit"; input: unknown }
  | { say: "reject"; reason?: string | undefined; remember?: GrantScope | undefined }
  /** Without more, the result leaves as it is; `redact` names JSON pointers, `replace` puts another value in its place. */
  | { say: "release"; redact?: readonly string[] | undefined; replace?: unknown }
  | { say: "withhold"; reason?: string | undefined }
  | { say: "answer"; value: AnswerValue }

/** What became of a saying. When it did not count, the sentence says why and what to do. */
export type Heard = { ok: true; done: boolean; sentence: string } | { ok: false; sentence: string }

/** What an adapter is given to show, and when to stop showing it. */
export interface ApprovalRequest extends DeskItem {
  /** Aborted when somebody else answered or the wait is over: close the dialog. */
  signal: AbortSignal
}

export interface ExecutionDecision {
  approved: boolean
  /** S1's "remember": the same as `remember: "tool-session"`. */
  persistDecision?: boolean
  remember?: GrantScope
  /** A new input instead of a yes: it is checked, decided and shown again. */
  edit?: { input: unknown }
  rejectReason?: string
  /** Who answered, where the adapter knows. */
  by?: string
}

export interface ResultDecision {
  approved: boolean
  redact?: readonly string[]
  replace?: { value: unknown }
  rejectReason?: string
  by?: string
}

export interface QuestionDecision {
  /** Undefined when the question was closed without an answer. */
  answer?: AnswerValue
  rejectReason?: string
  by?: string
}

/** How a person is asked (S1). A rejected promise or a closed dialog is a no. */
export interface ApprovalUIAdapter {
  showToolExecutionApproval(
    toolName: string,
    toolDescription: string,
    args: unknown,
    permissionLevel: ToolPermissionLevel,
    request: ApprovalRequest,
  ): Promise<ExecutionDecision>
  showToolResultApproval(
    toolName: string,
    args: unknown,
    result: ToolResult,
    request: ApprovalRequest,
  ): Promise<ResultDecision>
  /** Puts a question of ask_user. Without it, questions wait for an answer from another door. */
  showQuestion?(question: Question, request: ApprovalRequest): Promise<QuestionDecision>
}

/** Asks a person and resolves with the answer; rejects with a sentence when nobody can be asked. */
export type Ask = (question: Question & { signal: AbortSignal }) => Promise<AnswerValue>
