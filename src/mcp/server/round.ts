import type { ServerContext } from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import type { Ticket, ToolResult } from "../../model/result.ts"
import type { Asked, OpenCall } from "./open-call.ts"
import type { Teller } from "./tell.ts"

/** What one request of a client gets to hear of a call. */
export type RoundEnd =
  | { readonly ended: ToolResult | Ticket }
  /** The client is to answer these and come back. */
  | { readonly asked: readonly Asked[] }
  /** It waits for somebody else, longer than this client can be kept waiting. */
  | { readonly waits: Ticket }

export interface Round {
  readonly app: App
  readonly context: ServerContext
  readonly era: "legacy" | "modern"
  readonly tell: Teller
  readonly waitMs: number
  readonly progressMs: number
}

/** Several things that are asked at once come within this; a person does not notice it. */
const gatherMs = 25
const lookMs = 1000
/** How often a form is put up again that was not filled in as it asks. */
const mostTimes = 5
const longestTimer = 2 ** 31 - 1

/** Stays with a call for as long as one request lasts. When the client gives up, and nobody else waits, the call ends. */
export async function attend(open: OpenCall, round: Round): Promise<RoundEnd> {
  const { context, era, tell } = round
  const timers: NodeJS.Timeout[] = []
  let isOver = false
  let end!: (ended: RoundEnd) => void
  let failed!: (error: unknown) => void
  const over = new Promise<RoundEnd>((resolve, reject) => {
    end = resolve
    failed = reject
  })
  open.ended.then((ended) => end({ ended }), failed)

  const ask = () => {
    if (era === "legacy") return askNow(open, context)
    const gather = setTimeout(() => {
      if (open.asked.size > 0) end({ asked: [...open.asked.values()] })
    }, gatherMs)
    timers.push(gather)
  }
  const leave = open.watch({
    onOutput: tell.output,
    onWaiting: () => void (open.asked.size === 0 && soon(() => open.asked.size === 0 && sayWaiting(open, tell))),
    onAsked: ask,
  })
  if (open.asked.size > 0) ask()
  else if (open.waiting !== undefined) sayWaiting(open, tell)
  if (tell.hasProgress) timers.push(setInterval(() => void remind(open, round), round.progressMs))
  else timers.push(setTimeout(() => void look(), round.waitMs + gatherMs))
  const givenUp = () => {
    if (leave()) open.cancel()
  }
  const { signal } = context.mcpReq
  if (signal.aborted) givenUp()
  else signal.addEventListener("abort", givenUp, { once: true })
  try {
    return await over
  } finally {
    signal.removeEventListener("abort", givenUp)
    leave()
    isOver = true
    for (const timer of timers) clearTimeout(timer)
  }

  /** A call that can be left by itself has given a ticket by now; one whose parts wait cannot. */
  async function look(): Promise<void> {
    const waits = open.asked.size === 0 ? await stillWaits(open, round.app) : undefined
    if (isOver) return
    if (waits === undefined) timers.push(setTimeout(() => void look(), lookMs))
    else end({ waits })
  }

  /** The dialog is put up right after the wait is announced; only where none is, somebody else must answer. */
  function soon(then: () => void): void {
    timers.push(setTimeout(then, gatherMs))
  }
}

/** Sends what is asked over a connection that takes requests at any time. */
function askNow(open: OpenCall, context: ServerContext): void {
  for (const asked of open.asked.values()) {
    if (asked.isUnderWay) continue
    asked.isUnderWay = true
    void sendAsked(open, asked, context)
  }
}

async function sendAsked(open: OpenCall, asked: Asked, context: ServerContext): Promise<void> {
  const { key, method, params, signal, about } = asked
  const left = (about?.until ?? Infinity) - Date.now()
  const timeout = Math.max(1, Math.min(left, longestTimer))
  try {
    const request = { method, ...(params === undefined ? {} : { params: sent(params) }) }
    for (let times = 1; !asked.answer(await context.mcpReq.send(request, { signal, timeout })); times++) {
      if (times === mostTimes) throw new Error("The form was not filled in as it asks.")
    }
  } catch (error) {
    // A client that is gone has cancelled the call, and that is how it ends.
    await new Promise((resolve) => setImmediate(resolve))
    if (!context.mcpReq.signal.aborted) asked.fail(error instanceof Error ? error : new Error(String(error)))
  } finally {
    open.asked.delete(key)
  }
}

/** Clients of 2025 follow up an address by an id. */
function sent(params: Record<string, unknown>): Record<string, unknown> {
  return params["mode"] === "url" ? { ...params, elicitationId: crypto.randomUUID() } : params
}

function sayWaiting({ waiting }: OpenCall, tell: Teller): void {
  if (waiting === undefined) return
  tell.say(`${waiting.tool} waits for a person. To answer: qm approvals show ${waiting.callId}`)
}

async function remind(open: OpenCall, { app, tell }: Round): Promise<void> {
  if ((await stillWaits(open, app)) !== undefined) sayWaiting(open, tell)
}

/** What the call waits for, as the desk knows it. */
async function stillWaits({ waiting }: OpenCall, app: App): Promise<Ticket | undefined> {
  const item = waiting && (await app.desk.show(waiting.callId).catch(() => undefined))
  return item && { callId: item.callId, state: item.kind === "result" ? "held" : "waiting", until: item.until }
}
