import { chunkText } from "../api/chunk-text.ts"
import { useSyncExternalStore } from "react"
import type { CallResult, Explanation, Ticket } from "../../../src/http/api/tool-schemas.ts"
import { serverNow } from "../api/clock.ts"
import { get, post, problemOf } from "../api/http.ts"
import { goLive, queries } from "../api/live.ts"
import type { StreamEvent } from "../api/stream.ts"

export interface RunRequest {
  readonly tool: string
  readonly agentId: string
  readonly input: unknown
}

/** What became of the last Explain or Call. It lives beside the pages: a call goes on while its card is answered. */
export interface Run {
  readonly request: RunRequest
  readonly state: "explaining" | "explained" | "running" | "waiting" | "held" | "ended" | "failed"
  readonly startedAt: number
  readonly callId?: string | undefined
  readonly until?: number | undefined
  readonly explanation?: Explanation | undefined
  readonly result?: CallResult | undefined
  readonly output: string
  /** Whether it waited for a person, before it ran or after. */
  readonly asked: boolean
  readonly held: boolean
  readonly error?: unknown
}

/** One session for each time the page is opened: its calls are found in the stream by it. */
const sessionId = `play-${crypto.randomUUID().slice(0, 8)}`
/** How many seconds one request waits for a person before the next one. */
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
  set({ request, state, startedAt: serverNow(), output: "", asked: false, held: false })
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

/** A call that waits is followed again after the page was loaded anew: somebody must hear that it was approved. */
const storageKey = "qm-playground-call"

function readStored(): Pick<Run, "request" | "callId" | "startedAt"> | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(storageKey) ?? "null") ?? undefined
  } catch {
    return undefined
  }
}

/** What was called last, also by the page that was here before while its call waits. */
export const lastRequest = () => (run ?? readStored())?.request

function store() {
  if (run?.callId === undefined || run.state === "ended") return sessionStorage.removeItem(storageKey)
  const { request, callId, startedAt } = run
  sessionStorage.setItem(storageKey, JSON.stringify({ request, callId, startedAt }))
}

/** Goes on with the call of the page that was here before, once somebody is signed in. */
export async function goOn(): Promise<void> {
  const stored = readStored()
  if (run !== undefined || stored?.callId === undefined) return
  const mine = begin(stored.request, "running")
  change({ callId: stored.callId, startedAt: stored.startedAt, asked: true })
  listen(stored.request)
  void post<Explanation>("/v1/why", { ...stored.request, sessionId })
    .then((explanation) => mine === turn && change({ explanation }))
    .catch(() => undefined)
  known.add(stored.callId)
  try {
    await followToEnd(await get<CallResult | Ticket>(`/v1/calls/${stored.callId}`), mine)
  } catch {
    // Its result is gone; the audit log has its record.
    if (mine === turn) set(undefined)
    sessionStorage.removeItem(storageKey)
  }
}

/** A call is followed also when another one is shown by then: approved, it runs when somebody asks for it. */
async function followToEnd(first: CallResult | Ticket, mine: number): Promise<void> {
  let answer = first
  while (isTicket(answer)) {
    if (mine === turn) {
      adopt(answer.callId)
      take(answer)
      store()
    }
    answer = await follow(answer.callId)
  }
  if (mine !== turn) return
  adopt(answer.callId)
  change({ state: "ended", callId: answer.callId, result: answer })
  store()
  void queries.invalidateQueries({ queryKey: ["audit"] })
  void queries.invalidateQueries({ queryKey: ["tools", "all"] })
}

/** Calls the tool and follows the call to its end, however long people take. */
export async function call(request: RunRequest): Promise<void> {
  const mine = begin(request, "running")
  const isMine = () => mine === turn
  listen(request)
  try {
    const explanation = await post<Explanation>("/v1/why", { ...request, sessionId }).catch(() => undefined)
    if (!isMine()) return
    change({ explanation })
    const { tool, agentId, input } = request
    // With a key the call is stored before it runs, so the stream tells its id and its output can be shown at once.
    const body = { input, agentId, wait: 0, key: crypto.randomUUID(), sessionId }
    await followToEnd(await post<CallResult | Ticket>(`/v1/tools/${encodeURIComponent(tool)}/call`, body), mine)
  } catch (error) {
    if (isMine()) change({ state: "failed", error })
  }
}

const isTicket = (answer: CallResult | Ticket): answer is Ticket => !("status" in answer)

function take(ticket: Ticket) {
  const isHeld = ticket.state === "held"
  change({
    state: ticket.state === "ready" ? "running" : isHeld ? "held" : "waiting",
    until: ticket.until,
    asked: run?.asked === true || !isHeld,
    held: run?.held === true || isHeld,
  })
}

/** Asks again until it has ended. A lost connection is tried again. */
async function follow(callId: string): Promise<CallResult | Ticket> {
  for (;;) {
    try {
      return await get<CallResult | Ticket>(`/v1/calls/${callId}?wait=${waitSeconds}`)
    } catch (error) {
      if (problemOf(error).status !== 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 1500))
    }
  }
}

/** Hears of the call's id, its states and its output. Output may come before the id is known: it is kept by id. */
function listen({ agentId, tool }: RunRequest) {
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
    if (name !== "call" || data["sessionId"] !== sessionId || known.has(callId)) return
    if (run?.callId === undefined && data["agentId"] === agentId && data["tool"] === tool) adopt(callId)
  })
}

function adopt(callId: string) {
  known.add(callId)
  if (run?.callId !== callId) change({ callId, output: outputs.get(callId) ?? "" })
}
