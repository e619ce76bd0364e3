import type {
  ApprovalRequest,
  ApprovalUIAdapter,
  ExecutionDecision,
  Question,
  QuestionDecision,
  ResultDecision,
} from "../model/approval.ts"
import type { ToolPermissionLevel } from "../model/permission.ts"
import type { ToolResult } from "../model/result.ts"

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
  onQuestion?(question: Question & { request: ApprovalRequest }): GivenAnswer | Promise<GivenAnswer>
}

type GivenAnswer = string | readonly string[] | QuestionDecision | undefined

/**
 * An adapter out of plain functions. What has no function is answered with no; a question without one waits for an
 * answer from another door.
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
        const given = await callbacks.onQuestion?.({ ...question, request })
        if (given === undefined) return {}
        return isAnswer(given) ? { answer: given } : questionDecision(given, question)
      },
    }),
  }
}

function isAnswer(given: string | readonly string[] | QuestionDecision): given is string | readonly string[] {
  return typeof given === "string" || Array.isArray(given)
}

const decisionFields = ["answer", "rejectReason", "by"]

/** A form may have fields of any name, so that its fields alone could pass for a decision. */
function questionDecision(given: QuestionDecision, { form, url }: Question): QuestionDecision {
  const odd = Object.keys(given).find((name) => !decisionFields.includes(name))
  if (odd === undefined || (form === undefined && url === undefined)) return given
  throw new Error(`the callback gave '${odd}'; it gives the fields of a form as { answer: { … } }`)
}

function no(rejectReason: string): ResultDecision {
  return { approved: false, rejectReason }
}

function decision<T extends ResultDecision>(given: boolean | T): T | ResultDecision {
  return typeof given === "boolean" ? { approved: given } : given
}
