import type { AnswerValue, DeskItem, Question, Saying } from "../../model/approval.ts"
import type { JsonSchema } from "../../model/schema.ts"
import { answerTo } from "../../call/answer-value.ts"
import { cardText, shown } from "./card.ts"

/** An `elicitation/create` as it is sent. */
export type Elicitation =
  | { mode: "form"; message: string; requestedSchema: JsonSchema }
  | { mode: "url"; message: string; url: string }

/**
 * How a person is asked at their client about what stands at the desk. The form of a question is passed on unchanged;
 * before its words stands whose they are, so that nobody asks in our name.
 */
export function elicitationFor(item: DeskItem): Elicitation {
  if (item.kind === "question" && item.question !== undefined) {
    const { message, ...asked } = elicitationOf(item.question)
    return { ...asked, message: shown(`${whoAsks(item)}\n${message}`) } as Elicitation
  }
  return { mode: "form", message: cardText(item), requestedSchema: callForm(item) }
}

/**
 * What a client's answer says. Whatever is not a plain yes is a no; undefined where a form was not filled in as it asks,
 * so that it can be asked again.
 */
export function sayingFor(item: DeskItem, response: unknown): Saying | undefined {
  const { action, content } = readResponse(response)
  const no = action === "decline" ? "The person declined." : "The dialog was closed without an answer."
  if (item.kind === "question" && item.question !== undefined) {
    if (action !== "accept") return { say: "reject", reason: no }
    const value = answerIn(item.question, content)
    return "wrong" in answerTo(item.question, value) ? undefined : { say: "answer", value }
  }
  const { decision, reason, remember } = content
  const why = action !== "accept" ? no : typeof reason === "string" && reason.trim() !== "" ? reason : undefined
  if (action !== "accept" || decision !== "approve") {
    return {
      say: "reject",
      reason: why ?? (decision === undefined ? "The form came back without a decision." : undefined),
    }
  }
  const scope = item.remember.find(({ scope: offered }) => offered === remember)?.scope
  return { say: "approve", ...(scope === undefined ? {} : { remember: scope }) }
}

const reason = {
  type: "string",
  title: "Reason",
  description: "For a no: what the agent is told.",
  maxLength: 2000,
} as const

function callForm({ remember }: DeskItem): JsonSchema {
  const remembering = {
    type: "string",
    title: "Remember",
    description: "Whether this yes counts for later calls too.",
    enum: ["no", ...remember.map(({ scope }) => scope)],
    enumNames: ["Only this once", ...remember.map(({ words }) => words)],
    default: "no",
  }
  return {
    type: "object",
    properties: {
      decision: { type: "string", title: "Decision", enum: ["approve", "reject"], enumNames: ["Approve", "Reject"] },
      reason,
      ...(remember.length === 0 ? {} : { remember: remembering }),
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

function whoAsks({ tool, agentId }: DeskItem): string {
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
