import type { AnswerValue, PendingItem, Question, Answer } from "../../model/approval.ts"
import type { JsonSchema } from "../../model/schema.ts"
import { checkAnswer } from "../../call/approvals/answer-value.ts"
import { approvalText, escapeInvisibleCharacters } from "./approval-text.ts"

/** The parameters of an `elicitation/create`. */
export type Elicitation =
  | { mode: "form"; message: string; requestedSchema: JsonSchema }
  | { mode: "url"; message: string; url: string }

/**
 * The form in which a client asks its person about a pending item. The form of a question is passed on unchanged. Its
 * text is preceded by who asks, so that an agent or a server cannot ask in our name.
 */
export function elicitationFor(item: PendingItem): Elicitation {
  if (item.kind === "question" && item.question !== undefined) {
    const { message, ...elicitation } = elicitationOf(item.question)
    return { ...elicitation, message: escapeInvisibleCharacters(`${whoAsks(item)}\n${message}`) } as Elicitation
  }
  return { mode: "form", message: approvalText(item), requestedSchema: callForm(item) }
}

/**
 * Reads the answer from a client's response. Anything but a clear yes is a no. Undefined when the form was not filled in
 * correctly, so that it can be shown again.
 */
export function answerFromForm(item: PendingItem, response: unknown): Answer | undefined {
  const { action, content } = readResponse(response)
  const refusal = action === "decline" ? "The person declined." : "The dialog was closed without an answer."
  if (item.kind === "question" && item.question !== undefined) {
    if (action !== "accept") return { kind: "reject", reason: refusal }
    const value = answerIn(item.question, content)
    return "wrong" in checkAnswer(item.question, value) ? undefined : { kind: "answer", value }
  }
  const { decision, reason, remember } = content
  const rejectReason =
    action !== "accept" ? refusal : typeof reason === "string" && reason.trim() !== "" ? reason : undefined
  if (action !== "accept" || decision !== "approve") {
    return {
      kind: "reject",
      reason: rejectReason ?? (decision === undefined ? "The form came back without a decision." : undefined),
    }
  }
  const scope = item.remember.find(({ scope: offered }) => offered === remember)?.scope
  return { kind: "approve", ...(scope === undefined ? {} : { remember: scope }) }
}

const reason = {
  type: "string",
  title: "Reason",
  description: "If you reject: what the agent is told.",
  maxLength: 2000,
} as const

function callForm({ remember }: PendingItem): JsonSchema {
  const rememberField = {
    type: "string",
    title: "Remember",
    description: "Whether this approval applies to later calls too.",
    enum: ["no", ...remember.map(({ scope }) => scope)],
    enumNames: ["Only this once", ...remember.map(({ words }) => words)],
    default: "no",
  }
  return {
    type: "object",
    properties: {
      decision: { type: "string", title: "Decision", enum: ["approve", "reject"], enumNames: ["Approve", "Reject"] },
      reason,
      ...(remember.length === 0 ? {} : { remember: rememberField }),
    },
    required: ["decision"],
  }
}

function elicitationOf({ question, options, multiple, form, url }: Question): Elicitation {
  if (url !== undefined) return { mode: "url", message: question, url }
  if (form !== undefined) return { mode: "form", message: question, requestedSchema: form }
  const one = { type: "string", title: "Answer", ...(options === undefined ? {} : { enum: [...options] }) }
  const many = { type: "array", title: "Answers", items: { type: "string", enum: [...(options ?? [])] } }
  const answer = multiple === true && options !== undefined ? many : one
  return {
    mode: "form",
    message: question,
    requestedSchema: { type: "object", properties: { answer }, required: ["answer"] },
  }
}

function whoAsks({ tool, agentId }: PendingItem): string {
  const [, server] = /^mcp:([^:]+):/.exec(tool) ?? []
  return server === undefined
    ? `Agent ${agentId} asks:`
    : `The MCP server ${server} asks, in a call of agent ${agentId}:`
}

function answerIn({ form, url }: Question, content: Record<string, unknown>): AnswerValue {
  if (url !== undefined) return {}
  return form === undefined ? (content["answer"] as AnswerValue) : content
}

function readResponse(response: unknown): { action: string; content: Record<string, unknown> } {
  const { action, content } = isObject(response) ? response : {}
  return { action: typeof action === "string" ? action : "cancel", content: isObject(content) ? content : {} }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
