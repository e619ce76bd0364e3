import type {
  ApprovalRequest,
  ApprovalUIAdapter,
  ExecutionDecision,
  Question,
  QuestionDecision,
  ResultDecision,
} from "../../core/approval.ts"
import type { ToolPermissionLevel } from "../../core/permission.ts"
import type { ToolResult } from "../../core/result.ts"

export interface ApprovalCallbacks {
  onExecution?(question: {
    tool: string
    description: string
    args: unknown
    level: ToolPermissionLevel
    request: ApprovalRequest
  }): boolean | ExecutionDecision | Promise<boolean | ExecutionDecision>
  onResult?(question: {
    tool: string
    args: unknown
    result: ToolResult
    request: ApprovalRequest
  }): boolean | ResultDecision | Promise<boolean | ResultDecision>
  /** Answers a question: with a text, some of the options, or `{ answer }` with the fields of a form. Undefined closes it. */
  onQuestion?(question: Question & { request: ApprovalRequest }): CallbackAnswer | Promise<CallbackAnswer>
}

type CallbackAnswer = string | readonly string[] | QuestionDecision | undefined

/**
 * An adapter from plain functions. Calls and results without a function are rejected; questions without one wait for an
 * answer from elsewhere.
 */
export function callbackAdapter(callbacks: ApprovalCallbacks): ApprovalUIAdapter {
  return {
    async showToolExecutionApproval(tool, description, args, level, request) {
      if (callbacks.onExecution === undefined) return no("No execution approval callback set")
      return decision(await callbacks.onExecution({ tool, description, args, level, request }))
    },
    async showToolResultApproval(tool, args, result, request) {
      if (callbacks.onResult === undefined) return no("No result approval callback set")
      return decision(await callbacks.onResult({ tool, args, result, request }))
    },
    ...(callbacks.onQuestion !== undefined && {
      async showQuestion(question, request) {
        const answer = await callbacks.onQuestion?.({ ...question, request })
        if (answer === undefined) return {}
        return isAnswer(answer) ? { answer } : questionDecision(answer, question)
      },
    }),
  }
}

function isAnswer(value: string | readonly string[] | QuestionDecision): value is string | readonly string[] {
  return typeof value === "string" || Array.isArray(value)
}

const decisionFields = ["answer", "rejectReason", "by"]

/** Refuses the bare fields of a form, because they could be mistaken for a decision. */
function questionDecision(decision: QuestionDecision, { form, url }: Question): QuestionDecision {
  const unknown = Object.keys(decision).find((name) => !decisionFields.includes(name))
  if (unknown === undefined || (form === undefined && url === undefined)) return decision
  throw new Error(`the callback gave '${unknown}'; it gives the fields of a form as { answer: { … } }`)
}

function no(rejectReason: string): ResultDecision {
  return { approved: false, rejectReason }
}

function decision<T extends ResultDecision>(answer: boolean | T): T | ResultDecision {
  return typeof answer === "boolean" ? { approved: answer } : answer
}
