import type { ServerContext } from "@modelcontextprotocol/server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { Ticket, ToolResult } from "../../core/result.ts"
import type { ClientQuestion, OpenCall } from "./open-call.ts"
import type { ClientNotifier } from "./notify-client.ts"

/** The end of one request's wait for a call. */
export type WaitEnd =
  | { readonly ended: ToolResult | Ticket }
  /** The client must answer these and send the request again. */
  | { readonly questions: readonly ClientQuestion[] }
  /** The call waits for somebody else, longer than this client can wait. */
  | { readonly waits: Ticket }

export interface WaitOptions {
  readonly app: Quartermaster
  readonly context: ServerContext
  readonly era: "legacy" | "modern"
  readonly notifier: ClientNotifier
  /** True when the client waits as long as a person takes. */
  readonly canWait: boolean
  readonly waitMs: number
  readonly progressMs: number
}

/** Questions that come within this time are sent together. */
const gatherMs = 25
/** A form that was not filled in correctly is shown this many times. */
const maxAttempts = 5
const maxTimerMs = 2 ** 31 - 1

/** Waits for a call within one request. When the client cancels and no other request waits, the call is cancelled. */
export async function waitForCall(open: OpenCall, options: WaitOptions): Promise<WaitEnd> {
  const { context, era, notifier } = options
  const timers: NodeJS.Timeout[] = []
  let end!: (ended: WaitEnd) => void
  let failed!: (error: unknown) => void
  const ended = new Promise<WaitEnd>((resolve, reject) => {
    end = resolve
    failed = reject
  })
  open.ended.then((ended) => end({ ended }), failed)

  const ask = () => {
    if (era === "legacy") return sendQuestions(open, context)
    const gather = setTimeout(() => {
      if (open.questions.size > 0) end({ questions: [...open.questions.values()] })
    }, gatherMs)
    timers.push(gather)
  }
  const stopWatching = open.watch({
    onOutput: notifier.output,
    onWaiting: () =>
      void (
        open.questions.size === 0 && afterGathering(() => open.questions.size === 0 && reportWaiting(open, notifier))
      ),
    onAsked: ask,
  })
  if (open.questions.size > 0) ask()
  else if (open.waiting !== undefined) reportWaiting(open, notifier)
  if (notifier.hasProgress) timers.push(setInterval(() => void remind(open, options), options.progressMs))
  let stopFollowing: () => void = () => {}
  if (!options.canWait) timers.push(setTimeout(follow, options.waitMs + gatherMs))
  const onAbort = () => {
    if (stopWatching()) open.cancel()
  }
  const { signal } = context.mcpReq
  if (signal.aborted) onAbort()
  else signal.addEventListener("abort", onAbort, { once: true })
  try {
    return await ended
  } finally {
    signal.removeEventListener("abort", onAbort)
    stopWatching()
    stopFollowing()
    for (const timer of timers) clearTimeout(timer)
  }

  /** Ends with a ticket as soon as a sub-call waits. A call that waits itself has ended with one by now. */
  function follow(): void {
    const look = async () => {
      const waits = open.questions.size === 0 ? await pendingTicket(open, options.app) : undefined
      if (waits !== undefined) end({ waits })
    }
    stopFollowing = options.app.changes.listen(() => void look())
    void look()
  }

  /** A question to the client follows right after `onWaiting`; if none comes, somebody else must answer. */
  function afterGathering(then: () => void): void {
    timers.push(setTimeout(then, gatherMs))
  }
}

/**
 * Waits for a call within a one-shot request. Undefined when the client must be asked, or when the call waits for
 * somebody else and there is room to park it.
 */
export function waitForCallOnce(
  open: OpenCall,
  onGone: (then: () => void) => void,
  hasRoom: () => boolean,
): Promise<ToolResult | Ticket | undefined> {
  return new Promise((resolve, reject) => {
    const end = (outcome: ToolResult | Ticket | undefined) => {
      isOver = true
      stopWatching()
      resolve(outcome)
    }
    let isOver = false
    const stopWatching = open.watch({
      onOutput: () => {},
      onAsked: () => end(undefined),
      // A call that waits itself has ended with a ticket by then.
      onWaiting: () => setTimeout(() => void (!isOver && hasRoom() && end(undefined)), gatherMs),
    })
    onGone(() => void (isOver || open.cancel()))
    open.ended.then(end, reject)
  })
}

/** Sends the questions over a connection that takes requests at any time. */
function sendQuestions(open: OpenCall, context: ServerContext): void {
  for (const question of open.questions.values()) {
    if (question.isSent) continue
    question.isSent = true
    void sendQuestion(open, question, context)
  }
}

async function sendQuestion(open: OpenCall, question: ClientQuestion, context: ServerContext): Promise<void> {
  const { key, method, params, signal, about } = question
  const left = (about?.until ?? Infinity) - Date.now()
  const timeout = Math.max(1, Math.min(left, maxTimerMs))
  try {
    const request = { method, ...(params === undefined ? {} : { params: withElicitationId(params) }) }
    for (let attempt = 1; ; attempt++) {
      const sentAt = performance.now()
      const response: unknown = await context.mcpReq.send(request, { signal, timeout })
      if (question.answer(response, performance.now() - sentAt)) return
      if (attempt === maxAttempts) throw new Error("The form was not filled in correctly.")
    }
  } catch (error) {
    // If the client has disconnected, the call ends as cancelled and not with this error.
    await new Promise((resolve) => setImmediate(resolve))
    if (!context.mcpReq.signal.aborted) question.fail(error instanceof Error ? error : new Error(String(error)))
  } finally {
    open.questions.delete(key)
  }
}

/** Clients of 2025 need an id for a URL elicitation. */
function withElicitationId(params: Record<string, unknown>): Record<string, unknown> {
  return params["mode"] === "url" ? { ...params, elicitationId: crypto.randomUUID() } : params
}

function reportWaiting({ waiting }: OpenCall, notifier: ClientNotifier): void {
  if (waiting === undefined) return
  notifier.report(`${waiting.tool} waits for a person. To answer: qm approvals show ${waiting.callId}`)
}

async function remind(open: OpenCall, { app, notifier }: WaitOptions): Promise<void> {
  if ((await pendingTicket(open, app)) !== undefined) reportWaiting(open, notifier)
}

/** A ticket for what the call waits for, if it is still in the approval queue. */
async function pendingTicket({ waiting }: OpenCall, app: Quartermaster): Promise<Ticket | undefined> {
  const item = waiting && (await app.approvals.show(waiting.callId).catch(() => undefined))
  return item && { callId: item.callId, state: item.kind === "result" ? "held" : "waiting", until: item.until }
}
