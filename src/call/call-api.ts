import type { Calls } from "./state/calls.ts"
import type { CallRequest } from "../core/call.ts"
import type { BatchOptions } from "./state/batch-options.ts"
import type { Ports } from "./state/ports.ts"
import { failedWith, isTicket, type Ticket, type ToolResult } from "../core/result.ts"
import { callTool } from "./call.ts"
import { BatchGate } from "./state/batch-gate.ts"
import { elsewhereApi } from "./elsewhere-api.ts"
import { callInOrder, dependencyIndexes, type NeedsOf } from "./batch-order.ts"
import { readRequest } from "./state/read-request.ts"
import { StartOrder, type OrderPlace } from "./state/start-order.ts"
import { submitComposite } from "./submit-composite.ts"

type CallMethods = Pick<Calls, "call" | "resume" | "callMany" | "endCalls" | "elsewhere">

/** The methods of the app that make calls. `beforeFirst` is called once, before the first call. */
export function callApi(ports: Ports, beforeFirst: () => void): CallMethods & { idle(): Promise<void> } {
  let inFlight = 0
  let isFirst = true
  let onIdle: () => void = () => {}
  const begin = () => {
    if (ports.closing.aborted) throw new Error("Quartermaster is closed. Create a new one to call tools.")
    if (isFirst) {
      isFirst = false
      beforeFirst()
    }
    inFlight++
  }
  const end = () => {
    if (--inFlight === 0) onIdle()
  }
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    begin()
    try {
      return await work()
    } finally {
      end()
    }
  }
  const call = async (request: CallRequest, order?: OrderPlace): Promise<ToolResult> => {
    begin()
    try {
      const ended = await callTool(request, ports, order && { order })
      return isTicket(ended) ? closedWhileWaiting(ended, request) : ended
    } finally {
      order?.leave()
      end()
    }
  }
  const submit = async (request: CallRequest, { waitMs }: { waitMs: number }): Promise<ToolResult | Ticket> => {
    const { agentId, tool, key } = namesOf(request)
    const found = ports.tools.resolve(tool, ports.organisation.view(agentId))
    if (found?.kind !== "composite" || key !== undefined || waitMs === Infinity)
      return counted(() => callTool(request, ports, { waitMs }))
    begin()
    const { first, ended } = await submitComposite(request, ports, callTool, waitMs)
    // The app is not idle before the call has ended, however early its caller got a ticket.
    void ended.finally(end).catch(() => {})
    return first
  }
  const resume: Calls["resume"] = async (callId, options) => {
    const stored = await import("./stored/resume.ts")
    const ended = await counted(() => stored.resume(callId, ports, callTool, options))
    if (ended === undefined) throw new Error(`There is no call '${callId}' that waits or ended within the last day.`)
    return ended
  }
  const needsOf: NeedsOf = ({ agentId, tool }) => {
    const found = ports.tools.resolve(tool, ports.organisation.view(agentId))
    return found && { name: found.name, needs: found.dependsOn ?? [] }
  }
  const orderOf = (requests: readonly CallRequest[]) =>
    dependencyIndexes(requests.length < 2 ? requests : requests.map(namesOf), needsOf)
  return {
    /** Resolves when no call is in progress. */
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise<void>((resolve) => (onIdle = resolve))),
    // At run time a typed request differs only in that it has the tool in place of its name, which `readRequest` reads.
    call: ((request: CallRequest, options?: { waitMs: number }) =>
      options === undefined ? call(request) : submit(request, options)) as Calls["call"],
    resume,
    elsewhere: elsewhereApi(ports, counted),
    async endCalls(unwanted) {
      const { endUnwanted } = await import("./stored/end-unwanted.ts")
      return endUnwanted(unwanted, ports, resume)
    },
    callMany: (async (requests: readonly CallRequest[], given?: BatchOptions) => {
      const { waitMs, detach, oneAnswer = false, onStart, onEnd, clock } = given ?? {}
      const gate = oneAnswer && requests.length > 1 ? new BatchGate() : undefined
      // A call that runs after others of its batch is not decided on before they have ended, so they do not wait for it.
      const after = orderOf(requests)
      const places = gate && after.map(({ length }) => (length > 0 ? undefined : gate.place()))
      const orders = startOrderOf(after)
      return callInOrder(after, async (position) => {
        onStart?.(position)
        const place = places?.[position] ?? gate?.place()
        const order = orders[position]
        const options = { waitMs, detach, batch: place, order, clock }
        const ended = await counted(() => callTool(requests[position]!, ports, options)).finally(() => order?.leave())
        onEnd?.(position, ended)
        return isTicket(ended) && given === undefined ? closedWhileWaiting(ended, requests[position]!) : ended
      })
    }) as Calls["callMany"],
  }
}

/** A call that runs after others of its batch is ordered by them alone. */
function startOrderOf(after: readonly (readonly number[])[]): readonly (OrderPlace | undefined)[] {
  if (after.length < 2) return []
  const order = new StartOrder()
  return after.map(({ length }) => (length > 0 ? undefined : order.place()))
}

/** The agent, tool and key of a request. JavaScript callers may send anything. */
function namesOf(request: CallRequest): Pick<CallRequest, "agentId" | "tool" | "key"> {
  return readRequest(request).request
}

/** The result of `call` when the app is closed while the call waits for a person. The call has not ended. */
function closedWhileWaiting({ callId }: Ticket, request: CallRequest): ToolResult {
  const sentence = `Quartermaster was closed while call ${callId} waits for a person. Go on with resume(callId).`
  const toolName = readRequest(request).request.tool
  return failedWith("aborted", sentence, {
    callId,
    toolName,
    version: "",
    startedAt: Date.now(),
    metadata: { ran: false, waiting: true },
  })
}
