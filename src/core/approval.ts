import type { ToolPermissionLevel } from "./permission.ts"
import type { Sentence, ReasonParams, StoredReason } from "./reason.ts"
import type { Preview } from "./preview.ts"
import type { CommandPart } from "./guard.ts"
import type { ToolResult } from "./result.ts"
import type { Approvers, Grant, GrantScope } from "./rule.ts"
import type { Touch } from "./touches.ts"
import type { JsonSchema } from "./schema.ts"

/** Something that waits for a person, as an approver sees it. */
export interface PendingItem {
  callId: string
  /** A call that waits for approval, a result that waits for release, or a question of `ask_user`. */
  kind: "call" | "result" | "question"
  agentId: string
  role: string
  /** The agent that created the role, where no person did. */
  roleMadeBy?: string
  /** The ids of the agents above it, nearest first. */
  ancestors: readonly string[]
  tool: string
  description: string
  level: ToolPermissionLevel
  /** The agent's reason for the call, masked and on one line. Nobody has verified it. */
  intent?: string
  /** Undefined when it has been erased. */
  input: unknown
  /** For a held result. */
  result?: ToolResult
  question?: Question
  /** The effect of the call, in a few words: `Delete notes.md`. */
  title: Sentence
  /** One line for lists: the command, the paths, the address or the question. */
  summary: string
  risk: Risk
  reasons: readonly StoredReason[]
  /** `proved` is true when the list is certain to be complete. */
  touches: { readonly list: readonly CardTouch[]; readonly proved: boolean }
  /** The parts of its commands, as the guard read them. */
  commandParts?: readonly CommandPart[]
  /** The tool's preview as text, and the same as data. */
  preview?: string
  previewData?: Preview
  /** Grows when the input is edited or the reasons change. An answer counts for one revision only. */
  revision: number
  /** The person who edited the input. */
  editedBy?: string
  /** Why approval is asked for again, and the same in parts that can be translated. */
  note?: string
  again?: readonly Sentence[]
  /** The approvals so far, where more than one is needed. */
  votes: readonly Vote[]
  approvers: readonly Approvers[]
  /** The scopes an approver may choose for remembering, each with a sentence that explains it and the values in it. */
  remember: readonly { scope: GrantScope; words: string; params?: ReasonParams }[]
  /** The rule that the user of this machine may add with the approval, where a yes cannot be remembered. */
  rule?: OfferedRule
  taskId?: string
  userId?: string
  sessionId: string
  createdAt: number
  /** The time the wait expires. */
  until: number
}

/** The risk of what waits. It decides how carefully interfaces have it answered, and nothing else. */
export interface Risk {
  band: "high" | "medium" | "low"
  /** It deletes, or cannot be undone. */
  destructive: boolean
  /** The reasons for the band, in one or two words each. */
  tags: readonly Sentence[]
}

/** A file, command, host or database that a call will use, as an approver sees it. */
export interface CardTouch {
  kind: Touch["kind"] | "delete"
  what: string
  /** For a host: whether a call had reached it when this one began to wait. */
  reachedBefore?: boolean
  /** For what is written or deleted: how many files there are now and their bytes, where that was counted. */
  files?: number
  bytes?: number
}

/** An allow rule for calls like this one, without its end. */
export interface OfferedRule {
  allow: string
  agent: string
  touching: readonly string[]
  /** Its meaning, in words. */
  words: string
}

export interface Vote extends Giver {
  at: number
  note?: string
}

/** A person who gave something that ends when they are removed: a vote, a grant, the mode edits. */
export interface Giver {
  by: string
  /**
   * Since when the person was one of the organisation when they gave it; an empty text for a configured person, null
   * for somebody outside it. Somebody added later under the same name is another person.
   */
  since?: string | null
}

/** Reports whether who gave it is still the person they were then. What was stored without `since` counts. */
export function isStillThere({ by, since }: Giver, personSince: (id: string) => string | undefined): boolean {
  return since === undefined || since === (personSince(by) ?? null)
}

/** A question of `ask_user` or of an MCP server. */
export interface Question {
  question: string
  options?: readonly string[]
  multiple?: boolean
  /** For a form: the JSON Schema of the object to fill in. Its fields are texts, numbers, booleans and choices. */
  form?: JsonSchema
  /** For something to do elsewhere: the address to open. The answer is an empty object when the person agrees. */
  url?: string
}

/** A text, several of the options, or the fields of a form. */
export type AnswerValue = string | readonly string[] | Readonly<Record<string, unknown>>

/** For which later calls an answer is remembered. */
export interface Remember {
  remember?: GrantScope
  /** For the scope `minutes`: 1 to 480; 30 when left out. */
  minutes?: number
}

/** A person's answer to a pending item. */
export type Answer =
  /** `note` is said to the model together with the result. */
  | ({ kind: "approve"; note?: string } & Remember)
  /** Replaces the input. The call is checked with it and put up for approval again. */
  | { kind: "edit"; input: unknown }
  | ({ kind: "reject"; reason?: string } & Remember)
  /**
   * Releases the result: as it is, without the values at the JSON pointers in `redact`, or with `replace` in its place.
   */
  | { kind: "release"; redact?: readonly string[]; replace?: unknown }
  | { kind: "withhold"; reason?: string }
  | { kind: "answer"; value: AnswerValue }

/**
 * The result of an answer. `done` is false while more approvals are needed. When the answer was not accepted, the
 * sentence says why and what to do.
 */
export type AnswerResult =
  | {
      ok: true
      done: boolean
      sentence: string
      code: AnswerCode
      params?: ReasonParams
      /** The grant that the answer made. */
      grant?: Grant
    }
  | { ok: false; sentence: string }

/**
 * The next step, for programs. `answer_call_again`: the process that made the call is gone, so the same call must be
 * made again. `answer_fetch`: the caller has a ticket and must come back with it. `answer_agent`: its agent goes on by
 * itself where agents run.
 */
export type AnswerCode =
  | "answer_counted"
  | "answer_edited"
  | "answer_edited_later"
  | "answer_settled"
  | "answer_call_again"
  | "answer_fetch"
  | "answer_agent"

/** A request for approval, as an adapter shows it. */
export interface ApprovalRequest extends PendingItem {
  /** Aborted when someone else answered or the wait expired: close the dialog. */
  signal: AbortSignal
}

export interface ExecutionDecision {
  approved: boolean
  /** The same as `remember: "tool-session"`. */
  persistDecision?: boolean
  remember?: GrantScope
  /** For `remember: "minutes"`: 1 to 480; 30 when left out. */
  minutes?: number
  /** A new input in place of an approval. The call is checked with it and put up for approval again. */
  edit?: { input: unknown }
  /** Said to the model together with the result of an approved call. */
  note?: string
  rejectReason?: string
  /** The person who answered, where the adapter knows. */
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

/**
 * Asks a person for approval. A rejected promise counts as a rejection. `callbackAdapter`, `terminalAdapter` and
 * `textAdapter` make one.
 */
export interface ApprovalUIAdapter {
  /** The person who answers, where neither the decision nor the host names one. */
  readonly by?: string
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
  /** Asks a question of `ask_user`. Without it, questions wait in the approval queue. */
  showQuestion?(question: Question, request: ApprovalRequest): Promise<QuestionDecision>
}

/** Asks a person and resolves with the answer. Rejects with a sentence when there is no one to ask. */
export type Ask = (question: Question & { signal: AbortSignal }) => Promise<AnswerValue>

/** The numbers of items that wait for people, by kind. */
export type WaitingCounts = Record<PendingItem["kind"], number>

export function totalWaiting({ call, result, question }: WaitingCounts): number {
  return call + result + question
}
