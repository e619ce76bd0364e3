import { isObject } from "../../lib/is-object.ts"
import type { AnswerValue, PendingItem, Question, Answer } from "../../core/approval.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { headingOf } from "../../approvals/card/view.ts"
import { NobodyAsked } from "../../approvals/nobody-asked.ts"
import { spanWords } from "../../lib/span-words.ts"
import { checkAnswer } from "../../approvals/queue/answer-value.ts"
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
    return { ...elicitation, message: escapeInvisibleCharacters(`${headingOf(item)}\n${message}`) } as Elicitation
  }
  return { mode: "form", message: approvalText(item), requestedSchema: callForm }
}

/** A client's response to a form. */
export type FormAnswer =
  | { readonly answer: Answer }
  /** No person has answered. The item goes on waiting for somebody else. */
  | { readonly nobody: NobodyAsked }

/**
 * Reads the answer from a client's response. Anything but a clear yes is a no. A person reads a form for at least
 * `fastestMs`; a sooner answer came from a program, such as a hook or a headless client. Undefined when the form was not filled in
 * correctly, so that it can be shown again.
 */
export function answerFromForm(
  item: PendingItem,
  response: unknown,
  { tookMs, fastestMs }: { tookMs: number; fastestMs: number },
): FormAnswer | undefined {
  const { action, content } = readResponse(response)
  if (action === "cancel" || tookMs < fastestMs) {
    return { nobody: new NobodyAsked(`The client asked nobody: its form came back with ${action} ${after(tookMs)}.`) }
  }
  if (item.kind === "question" && item.question !== undefined) {
    if (action !== "accept") return { answer: { kind: "reject", reason: declined } }
    const value = answerIn(item.question, content)
    return "wrong" in checkAnswer(item.question, value) ? undefined : { answer: { kind: "answer", value } }
  }
  if (action === "accept" && content["decision"] === "once") return { answer: { kind: "approve" } }
  const isUndecided = content["decision"] === undefined
  const reason = action !== "accept" ? declined : isUndecided ? "The form came back without a decision." : undefined
  return { answer: { kind: "reject", reason } }
}

const declined = "The person declined."

function after(ms: number): string {
  return ms < 10_000 ? `after ${Math.max(0, Math.round(ms))} ms` : `after ${spanWords(ms)}`
}

/** One required choice. A program can fill in a form too, so that nothing is remembered from here. */
const callForm: JsonSchema = {
  type: "object",
  properties: {
    decision: { type: "string", title: "Decision", enum: ["once", "reject"], enumNames: ["Approve once", "Reject"] },
  },
  required: ["decision"],
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

function answerIn({ form, url }: Question, content: Record<string, unknown>): AnswerValue {
  if (url !== undefined) return {}
  return form === undefined ? (content["answer"] as AnswerValue) : content
}

function readResponse(response: unknown): { action: string; content: Record<string, unknown> } {
  const { action, content } = isObject(response) ? response : {}
  return {
    action: typeof action === "string" && actions.has(action) ? action : "cancel",
    content: isObject(content) ? content : {},
  }
}

const actions: ReadonlySet<string> = new Set(["accept", "decline", "cancel"])
