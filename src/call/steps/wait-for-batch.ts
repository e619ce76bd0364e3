import { resolve } from "node:path"
import { hasRun } from "../../core/call.ts"
import type { Ports } from "../state/ports.ts"
import { Detached, outerClock, waitUntil, type ActiveCall } from "../state/active-call.ts"
import type { Execution } from "../stored/card.ts"
import type { BatchFiles, BatchPlace } from "../state/batch-gate.ts"
import { onAbort } from "../../lib/on-abort.ts"
import { abortedEnding, throwIfAborted } from "../state/stopped-endings.ts"
import { answerDeadline, ticketOf, tryAdvance } from "../stored/rows.ts"
import { recheckBeforeRun } from "./recheck-before-run.ts"

/**
 * Lets a call that only reads pass. Any other waits until every question of its batch is answered, and until no call runs
 * that it must not run beside.
 */
export async function waitForBatch(
  call: ActiveCall,
  place: BatchPlace,
  { tool, input }: Execution,
  ports: Ports,
): Promise<void> {
  const readsOnly = tool.effect === "none" || tool.effect === "read"
  const mayGoOn = readsOnly || hasRun(call.row)
  // If it was answered last, the others go on now, and those after it must not start before it.
  if (!mayGoOn) call.order?.comeBack()
  place.settle()
  if (mayGoOn) return
  const wasOpen = place.state() === "open"
  if (!wasOpen) await untilOpen(call, place, ports)
  const turn = call.order?.starting.turn()
  if (turn !== undefined) await turn
  const hasWaited = await place.begin(filesOf(call, ports), () => call.order?.leave())
  if (!wasOpen || turn !== undefined || hasWaited) await recheckBeforeRun(call, tool, input, ports)
}

async function untilOpen(call: ActiveCall, place: BatchPlace, ports: Ports): Promise<void> {
  call.order?.leave()
  // All that are held back take their places again before the first of them goes on.
  const stop = place.onChange(() => {
    if (place.state() === "open") call.order?.comeBack()
  })
  try {
    while (place.state() !== "open") {
      throwIfAborted(call)
      // Only people may take longer than the caller waits.
      const isForPeople = place.state() === "closed"
      const until = isForPeople ? waitUntil(call) : Infinity
      if (place.state() === "never" || ports.closing.aborted || ports.now() >= until) await leave(call, place, ports)
      if (isForPeople) outerClock(call)?.countWaiting(1)
      await nextChange(call, place, until, ports)
      if (isForPeople) outerClock(call)?.countWaiting(-1)
    }
  } finally {
    stop()
  }
}

function filesOf({ row, touches }: ActiveCall, { settings: { workspace } }: Ports): BatchFiles {
  const bound = row?.answer?.approved === true ? Object.keys(row.card.files) : []
  const written = touches.list.filter(({ kind }) => kind === "write").map(({ what }) => what)
  const absolute = (paths: readonly string[]) => new Set(paths.map((path) => resolve(workspace, path)))
  const isKnown = touches.proved && touches.unknown !== true
  return { bound: absolute(bound), writes: isKnown ? absolute(written) : "any" }
}

/**
 * Gives a stored call back to the store, for whoever resumes it. One that nobody was asked about waits as long as people may
 * take for the others of its batch. A call that is not stored ends.
 */
async function leave(call: ActiveCall, place: BatchPlace, ports: Ports): Promise<never> {
  place.detach()
  if (call.row === undefined) throw abortedEnding(call)
  const { state, deadline } = call.row
  const until = state === "decided" ? answerDeadline(await ports.calls.clock(), call, ports) : deadline
  if (!(await tryAdvance(call, ports, { owner: "", wanted: true, deadline: until }))) throw abortedEnding(call)
  throw new Detached(ticketOf(call.row))
}

function nextChange(call: ActiveCall, place: BatchPlace, until: number, ports: Ports): Promise<void> {
  return new Promise((proceed) => {
    const { signal } = call.request
    const wait = until - ports.now()
    const timer = wait < 2 ** 31 ? setTimeout(done, Math.max(1, wait)) : undefined
    const stop = place.onChange(done)
    for (const each of [signal, ports.closing]) if (each !== undefined) onAbort(each, done)
    function done() {
      clearTimeout(timer)
      stop()
      for (const each of [signal, ports.closing]) each?.removeEventListener("abort", done)
      proceed()
    }
  })
}
