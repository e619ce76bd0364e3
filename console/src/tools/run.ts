import { chunkText } from "../api/chunk-text.ts"
import { useSyncExternalStore } from "react"
import type { CallResult, Explanation, Ticket } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { serverNow } from "../api/clock.ts"
import { askAgain, isRefusal } from "../../../src/interfaces/client/again.ts"
import { get, post, problemOf } from "../api/http.ts"
import { goLive, queries } from "../api/live.ts"
import type { StreamEvent } from "../api/stream.ts"

export interface RunRequest {
  readonly tool: string
  readonly agentId: string
  readonly input: unknown
}

/** The last Explain or Call. It lives beside the pages: a call goes on while its card is answered. */
export interface Run {
  readonly request: RunRequest
  readonly state: "explaining" | "explained" | "running" | "waiting" | "held" | "ended" | "failed"
  readonly startedAt: number
  readonly callId?: string
  readonly until?: number
  readonly explanation?: Explanation
  readonly result?: CallResult
  readonly output: string
  /** True if it waited for a person, before it ran or after. */
  readonly asked: boolean
  readonly held: boolean
  /** The server cannot be reached, and is asked again. */
  readonly lost: boolean
  readonly error?: unknown
  /** True if a call that failed may have been made, and can be asked for again. */
  readonly mayTryAgain?: boolean
}

/** One session for each time the page is opened: its calls are found in the stream by it. */
const sessionId = `play-${randomText(4)}`
/** The number of seconds that one request waits for a person before the next one. */
const waitSeconds = 25
const mostOutput = 200_000

let run: Run | undefined
let turn = 0
let outputs = new Map<string, string>()
const listeners = new Set<() => void>()
const known = new Set<string>()
let stopListening: (() => void) | undefined

function set(next: Run | undefined) {
  run = next
  for (const listener of listeners) listener()
}
const change = (part: Partial<Run>) => run !== undefined && set({ ...run, ...part })

export const useRun = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => run,
  )

const begin = (request: RunRequest, state: Run["state"]): number => {
  set({ request, state, startedAt: serverNow(), output: "", asked: false, held: false, lost: false })
  return ++turn
}

/** Says what would happen, check by check. */
export async function explain(request: RunRequest): Promise<void> {
  const mine = begin(request, "explaining")
  try {
    const explanation = await post<Explanation>("/v1/why", { ...request, sessionId })
    if (mine === turn) change({ state: "explained", explanation })
  } catch (error) {
    if (mine === turn) change({ state: "failed", error })
  }
}

/**
 * A call that was sent and has not ended. Its key makes it one call, however often it is sent: when the connection is
 * lost, and after the page was loaded anew. Somebody must also hear that it was approved.
 */
interface Sent {
  readonly request: RunRequest
  readonly key: string
  readonly sessionId: string
  readonly startedAt: number
  readonly callId?: string
}

const storageKey = "qm-playground-call"
/** The call that could not be asked for any more. */
let lostKey: string | undefined

function readSent(): Sent | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? "null") ?? undefined
  } catch {
    return undefined
  }
}
const keepSent = (sent: Sent) => sessionStorage.setItem(storageKey, JSON.stringify(sent))
const forget = ({ key }: Sent) => readSent()?.key === key && sessionStorage.removeItem(storageKey)

/** Returns the last request, also that of the page that was here before while its call waits. */
export const lastRequest = () => (run ?? readSent())?.request

/** Goes on with the call of the page that was here before, once somebody is signed in. */
export async function goOn(): Promise<void> {
  if (run === undefined) await tryAgain()
}

/** Asks for the call that was sent last and has not ended, as far as this page knows. */
export async function tryAgain(): Promise<void> {
  const sent = readSent()
  if (sent !== undefined) await finish(sent, begin(sent.request, "running"))
}

/** Calls the tool and follows the call to its end, however long people take. */
export async function call(request: RunRequest): Promise<void> {
  const mine = begin(request, "running")
  // With a key the call is stored before it runs, so the stream tells its id and its output can be shown at once.
  const sent = { request, key: randomText(16), sessionId, startedAt: serverNow() }
  const before = readSent()
  const isLost = before !== undefined && before.key === lostKey
  // One that was lost is asked for again: it is not made a second time.
  await finish(isLost && JSON.stringify(before.request) === JSON.stringify(request) ? before : sent, mine)
}

/** Explains a call, sends it unless it has an id, and follows it to its end. */
async function finish(sent: Sent, mine: number): Promise<void> {
  const isMine = () => mine === turn
  const { request, callId } = sent
  change({ callId, startedAt: sent.startedAt, asked: callId !== undefined })
  if (callId !== undefined) known.add(callId)
  listen(sent)
  const explanation = await post<Explanation>("/v1/why", { ...request, sessionId: sent.sessionId }).catch(
    () => undefined,
  )
  if (!isMine() && callId === undefined) return
  if (isMine()) {
    change({ explanation })
    keepSent(sent)
  }
  try {
    await followToEnd(callId === undefined ? await send(sent, mine) : await follow(callId, 0, mine), sent, mine)
    forget(sent)
  } catch (error) {
    const { status } = problemOf(error)
    const isMade = callId !== undefined || (isMine() && readSent()?.callId !== undefined)
    // A result that is gone is not asked for again: the audit log has its record. A call that was refused was not made.
    const isGone = isMade && status === 404
    if (isGone || (!isMade && isRefusal(error) && status !== 401)) forget(sent)
    else lostKey = sent.key
    if (!isMine()) return
    if (isGone) set(undefined)
    else change({ state: "failed", error, lost: false, mayTryAgain: readSent()?.key === sent.key })
  }
}

const send = ({ request: { tool, agentId, input }, key, sessionId: session }: Sent, mine: number) =>
  again(
    () =>
      post<CallResult | Ticket>(`/v1/tools/${encodeURIComponent(tool)}/call`, {
        input,
        agentId,
        wait: 0,
        key,
        sessionId: session,
      }),
    mine,
  )

const follow = (callId: string, wait: number, mine: number) =>
  again(() => get<CallResult | Ticket>(`/v1/calls/${encodeURIComponent(callId)}?wait=${wait}`), mine)

/** Asks until the server has answered, and says meanwhile that it tries again. */
function again<T>(ask: () => Promise<T>, mine: number): Promise<T> {
  const tell = (lost: boolean) => mine === turn && run?.lost !== lost && change({ lost })
  return askAgain(async () => {
    try {
      const answer = await ask()
      tell(false)
      return answer
    } catch (error) {
      tell(!isRefusal(error))
      throw error
    }
  }, undefined)
}

/** A call is followed also when another one is shown by then: approved, it runs when somebody asks for it. */
async function followToEnd(first: CallResult | Ticket, sent: Sent, mine: number): Promise<void> {
  let answer = first
  while (isTicket(answer)) {
    if (mine === turn) {
      adopt(answer.callId)
      take(answer)
      keepSent({ ...sent, callId: answer.callId })
    }
    answer = await follow(answer.callId, waitSeconds, mine)
  }
  if (mine !== turn) return
  adopt(answer.callId)
  change({ state: "ended", callId: answer.callId, result: answer })
  void queries.invalidateQueries({ queryKey: ["audit"] })
  void queries.invalidateQueries({ queryKey: ["tools", "all"] })
}

const isTicket = (answer: CallResult | Ticket): answer is Ticket => !("status" in answer)

function take(ticket: Ticket) {
  const isHeld = ticket.state === "held"
  // A call whose wait has no end (JSON has no Infinity) was never asked about: it runs.
  const runs = !Number.isFinite(ticket.until)
  change({
    state: runs || ticket.state === "ready" ? "running" : isHeld ? "held" : "waiting",
    until: runs ? undefined : ticket.until,
    asked: run?.asked === true || !(isHeld || runs),
    held: run?.held === true || isHeld,
  })
}

/** Hears of the call's id, its states and its output. Output may come before the id is known: it is kept by id. */
function listen({ request: { agentId, tool }, sessionId: session }: Sent) {
  stopListening?.()
  outputs = new Map()
  stopListening = goLive().onEvent(({ name, data }: StreamEvent) => {
    const callId = String(data["callId"])
    if (name === "output") {
      outputs.set(callId, `${outputs.get(callId) ?? ""}${chunkText(data["chunk"])}`.slice(-mostOutput))
      if (callId === run?.callId) change({ output: outputs.get(callId) ?? "" })
    }
    // While one request follows the call, the stream says that a person has answered and it runs.
    if (name === "call" && callId === run?.callId && data["state"] === "started") change({ state: "running" })
    if (name !== "call" || data["sessionId"] !== session || known.has(callId)) return
    if (run?.callId === undefined && data["agentId"] === agentId && data["tool"] === tool) adopt(callId)
  })
}

function adopt(callId: string) {
  known.add(callId)
  if (run?.callId !== callId) change({ callId, output: outputs.get(callId) ?? "" })
}

/** Random bytes as text. `crypto.randomUUID` is missing where the page comes over plain HTTP from another machine. */
function randomText(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")
}
