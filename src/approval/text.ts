import type { ApprovalRequest, ApprovalUIAdapter, DeskItem, Saying } from "../model/approval.ts"
import { cardLines } from "./card.ts"
import { oneLine } from "./card-rows.ts"
import { closingWords } from "./closing.ts"
import { freshCode } from "./code.ts"
import { repliesTo, meaningOf, readReply } from "./reply.ts"

/** A conversation that people write in, as plain text. A channel that renders Markdown shows a message as code. */
export interface Chat {
  post(message: string): Promise<void> | void
  /** What people write, and only people: whoever writes here can answer. One after the other, or the next one. */
  replies: AsyncIterable<string> | (() => Promise<string>)
  /** Who writes there, where that is known. */
  by?: string
}

interface Open {
  item: DeskItem
  settle(saying: Saying | undefined, by?: string): void
}

/**
 * Asks in a chat: a card with a code that is new for every card and known to nobody before, and replies that name it.
 * Several cards can wait at once. When nobody can reply any more, the answer is no.
 */
export function textAdapter(chat: Chat): ApprovalUIAdapter {
  const by = chat.by ?? "chat"
  const open = new Map<string, Open>()
  const usedCodes = new Set<string>()
  const next = nextOf(chat.replies)
  let isReading = false

  return {
    async showToolExecutionApproval(tool, description, input, level, request) {
      const { saying, by } = await ask({ ...request, kind: "call", tool, description, input, level })
      if (saying?.say === "approve")
        return { approved: true, by, ...(saying.remember && { remember: saying.remember }) }
      if (saying?.say === "edit") return { approved: false, edit: { input: saying.input }, by }
      return { approved: false, rejectReason: reasonOf(saying), by }
    },
    async showToolResultApproval(tool, input, result, request) {
      const { saying, by } = await ask({ ...request, kind: "result", tool, input, result })
      if (saying?.say !== "release") return { approved: false, rejectReason: reasonOf(saying), by }
      const { redact, replace } = saying
      return {
        approved: true,
        by,
        ...(redact && { redact }),
        ...(replace !== undefined && { replace: { value: replace } }),
      }
    },
    async showQuestion(question, request) {
      const { saying, by } = await ask({ ...request, kind: "question", question })
      return saying?.say === "answer" ? { answer: saying.value, by } : { rejectReason: reasonOf(saying), by }
    },
  }

  async function ask({ signal, ...item }: ApprovalRequest): Promise<{ saying: Saying | undefined; by: string }> {
    if (signal.aborted) return { saying: undefined, by }
    const code = freshCode(
      [JSON.stringify(item), cardText(item, "", true)],
      (one) => usedCodes.has(one) || open.has(one),
    )
    remember(code)
    const close = () => {
      open.get(code)?.settle(undefined)
      tell(`${code}: ${closingWords(signal)}`)
    }
    signal.addEventListener("abort", close)
    try {
      return await new Promise((resolve, reject) => {
        open.set(code, { item, settle: (saying, who = by) => resolve({ saying, by: who }) })
        Promise.resolve(cardText(item, code)).then(chat.post.bind(chat)).catch(reject)
        void read()
      })
    } finally {
      signal.removeEventListener("abort", close)
      open.delete(code)
    }
  }

  /** Reads as long as a card waits. A reply that comes when none does is left alone. */
  async function read(): Promise<void> {
    if (isReading) return
    isReading = true
    try {
      while (open.size > 0) hear(await next())
    } catch {
      const reason = "The chat has ended, so nobody can answer there."
      for (const { settle } of open.values()) settle({ say: "reject", reason }, "nobody")
    } finally {
      isReading = false
    }
  }

  function hear(text: string): void {
    const reply = readReply(text)
    const card = reply && open.get(reply.code)
    if (reply === undefined || card === undefined) return
    const meaning = meaningOf(reply, card.item)
    if (meaning === undefined) return
    if (meaning === "show") tell(cardText(card.item, reply.code, true))
    else if ("sentence" in meaning) tell(`${reply.code}: ${oneLine(meaning.sentence)}`)
    else {
      // At once, so that the next reply finds the card closed.
      open.delete(reply.code)
      card.settle(meaning)
    }
  }

  /** What is only for information: a chat that cannot take it does not answer a card. */
  function tell(message: string): void {
    Promise.resolve(message)
      .then(chat.post.bind(chat))
      .catch(() => {})
  }

  function remember(code: string): void {
    usedCodes.add(code)
    if (usedCodes.size > 10_000) usedCodes.delete(usedCodes.values().next().value!)
  }
}

function cardText(item: DeskItem, code: string, whole = false): string {
  const how = "To answer, reply with one of these lines, spelled like this. Anything else answers nothing."
  return [...cardLines(item, { whole }), "", how, ...repliesTo(item, code).map((line) => `  ${line}`)].join("\n")
}

function reasonOf(saying: Saying | undefined): string {
  if (saying === undefined) return "The dialog was closed."
  return ("reason" in saying ? saying.reason : undefined) ?? "Operation cancelled by user"
}

/** Gives the next reply; rejects when there will be none. */
function nextOf(replies: Chat["replies"]): () => Promise<string> {
  if (typeof replies === "function") return replies
  const iterator = replies[Symbol.asyncIterator]()
  return async () => {
    const { done, value } = await iterator.next()
    if (done === true) throw new Error("The replies have ended.")
    return value
  }
}
