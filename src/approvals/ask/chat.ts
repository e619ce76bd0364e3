import type { ApprovalRequest, ApprovalUIAdapter, PendingItem, Answer } from "../../core/approval.ts"
import { cardLines } from "./card.ts"
import { oneLine } from "./card-rows.ts"
import { closeReasonText } from "./dialog-signal.ts"
import { newReplyCode } from "./reply-code.ts"
import { allowedReplies, interpretReply, readReply } from "./reply.ts"

/** A conversation that people write in, as plain text. A channel that renders Markdown shows a message as code. */
export interface Chat {
  post(message: string): Promise<void> | void
  /** The messages that people write, as an iterable or a function that returns the next. Everyone who can write here can answer. */
  replies: AsyncIterable<string> | (() => Promise<string>)
  /** The person who writes there, if that is known. */
  by?: string
}

interface OpenCard {
  item: PendingItem
  settle(answer: Answer | undefined, by?: string): void
}

/**
 * Asks in a chat: each card has a new random code, and replies name the code. Several cards can wait at once. If the chat
 * ends, the open cards are rejected.
 */
export function textAdapter(chat: Chat): ApprovalUIAdapter {
  const { by } = chat
  const open = new Map<string, OpenCard>()
  const usedCodes = new Set<string>()
  const next = nextOf(chat.replies)
  let isReading = false

  return {
    by: "chat",
    async showToolExecutionApproval(tool, description, input, level, request) {
      const { answer, by } = await ask({ ...request, kind: "call", tool, description, input, level })
      if (answer?.kind === "approve")
        return {
          approved: true,
          by,
          ...(answer.remember && { remember: answer.remember }),
          ...(answer.minutes && { minutes: answer.minutes }),
        }
      if (answer?.kind === "edit") return { approved: false, edit: { input: answer.input }, by }
      return { approved: false, rejectReason: reasonOf(answer), by }
    },
    async showToolResultApproval(tool, input, result, request) {
      const { answer, by } = await ask({ ...request, kind: "result", tool, input, result })
      if (answer?.kind !== "release") return { approved: false, rejectReason: reasonOf(answer), by }
      const { redact, replace } = answer
      return {
        approved: true,
        by,
        ...(redact && { redact }),
        ...(replace !== undefined && { replace: { value: replace } }),
      }
    },
    async showQuestion(question, request) {
      const { answer, by } = await ask({ ...request, kind: "question", question })
      return answer?.kind === "answer" ? { answer: answer.value, by } : { rejectReason: reasonOf(answer), by }
    },
  }

  async function ask({
    signal,
    ...item
  }: ApprovalRequest): Promise<{ answer: Answer | undefined; by: string | undefined }> {
    if (signal.aborted) return { answer: undefined, by }
    const code = newReplyCode(
      [JSON.stringify(item), cardText(item, "", true)],
      (taken) => usedCodes.has(taken) || open.has(taken),
    )
    remember(code)
    const close = () => {
      open.get(code)?.settle(undefined)
      postNotice(`${code}: ${closeReasonText(signal)}`)
    }
    signal.addEventListener("abort", close)
    try {
      return await new Promise((resolve, reject) => {
        open.set(code, { item, settle: (answer, who = by) => resolve({ answer, by: who }) })
        Promise.resolve(cardText(item, code)).then(chat.post.bind(chat)).catch(reject)
        void read()
      })
    } finally {
      signal.removeEventListener("abort", close)
      open.delete(code)
    }
  }

  /** Reads replies as long as a card waits. A reply that comes later is not read. */
  async function read(): Promise<void> {
    if (isReading) return
    isReading = true
    try {
      while (open.size > 0) onReply(await next())
    } catch {
      const reason = "The chat has ended, so nobody can answer there."
      for (const { settle } of open.values()) settle({ kind: "reject", reason }, "nobody")
    } finally {
      isReading = false
    }
  }

  function onReply(text: string): void {
    const reply = readReply(text)
    const card = reply && open.get(reply.code)
    if (reply === undefined || card === undefined) return
    const meaning = interpretReply(reply, card.item)
    if (meaning === undefined) return
    if (meaning === "show") postNotice(cardText(card.item, reply.code, true))
    else if ("sentence" in meaning) postNotice(`${reply.code}: ${oneLine(meaning.sentence)}`)
    else {
      // Immediately, so that the next reply does not answer the same card.
      open.delete(reply.code)
      card.settle(meaning)
    }
  }

  /** Posts an information. If that fails, the card still waits. */
  function postNotice(message: string): void {
    Promise.resolve(message)
      .then(chat.post.bind(chat))
      .catch(() => {})
  }

  function remember(code: string): void {
    usedCodes.add(code)
    if (usedCodes.size > 10_000) usedCodes.delete(usedCodes.values().next().value!)
  }
}

function cardText(item: PendingItem, code: string, whole = false): string {
  const how = "To answer, reply with one of these lines, spelled like this. Anything else answers nothing."
  return [...cardLines(item, { whole }), "", how, ...allowedReplies(item, code).map((line) => `  ${line}`)].join("\n")
}

function reasonOf(answer: Answer | undefined): string {
  if (answer === undefined) return "The dialog was closed."
  return ("reason" in answer ? answer.reason : undefined) ?? "Operation cancelled by user"
}

/** Returns the next reply; rejects if there will be none. */
function nextOf(replies: Chat["replies"]): () => Promise<string> {
  if (typeof replies === "function") return replies
  const iterator = replies[Symbol.asyncIterator]()
  return async () => {
    const { done, value } = await iterator.next()
    if (done === true) throw new Error("The replies have ended.")
    return value
  }
}
