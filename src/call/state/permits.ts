import type { Permit, Permits } from "./ports.ts"
import { Ending } from "../../core/ending.ts"
import { onAbort } from "../../lib/on-abort.ts"

type Request = Parameters<Permits["acquire"]>[0]

interface Waiter {
  request: Request
  go(permit: Permit): void
  cancel(): void
}

const mostGates = 1000

/** The calls of one agent that run, and those that wait for a permit. */
interface Gate {
  taken: number
  running: Map<string, Request>
  queue: Waiter[]
}

/**
 * Permits per agent, first come, first served. An exclusive call runs alone, except for the calls above and below it
 * and calls that are blocked because a call below them waits for a permit.
 */
export class AgentPermits implements Permits {
  readonly #gates = new Map<string, Gate>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  acquire(request: Request): Permit | Promise<Permit> {
    const gate = this.#gateOf(request.agentId)
    const { length } = gate.queue
    if (mayOvertake(gate, request, length) && this.#fits(gate, request)) return this.#enter(gate, request)
    return this.#wait(gate, request)
  }

  /** Cancels all calls that wait. */
  cancelWaiting(): void {
    const waiting = Array.from(this.#gates.values(), ({ queue }) => queue).flat()
    for (const waiter of waiting) waiter.cancel()
  }

  #wait(gate: Gate, request: Request): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        request.signal?.removeEventListener("abort", cancel)
        gate.queue.splice(gate.queue.indexOf(waiter), 1)
        reject(new Ending("aborted", "The call was cancelled while it waited for its turn."))
        this.#next(gate, request.agentId)
      }
      const waiter: Waiter = {
        request,
        cancel,
        go(permit) {
          request.signal?.removeEventListener("abort", cancel)
          resolve(permit)
        },
      }
      gate.queue.push(waiter)
      if (request.signal?.aborted) return cancel()
      if (request.signal !== undefined) onAbort(request.signal, cancel)
      if (request.parentCallIds.length > 0) this.#next(gate, request.agentId) // The calls above it are blocked now.
    })
  }

  #enter(gate: Gate, request: Request): Permit {
    gate.running.set(request.callId, request)
    if (!request.free) gate.taken++
    let released = false
    let waits = 0
    const free = () => {
      if (!request.free) gate.taken--
      this.#next(gate, request.agentId)
    }
    return {
      // A call that continues does not queue again: it could wait for ever behind calls that wait for it.
      changeWaiting: (change) => {
        const wasWaiting = waits > 0
        waits += change
        if (released || wasWaiting === waits > 0) return
        if (waits > 0) free()
        else if (!request.free) gate.taken++
      },
      release: () => {
        if (released) return
        released = true
        gate.running.delete(request.callId)
        if (waits > 0) this.#next(gate, request.agentId)
        else free()
      },
    }
  }

  #next(gate: Gate, agentId: string): void {
    for (;;) {
      const index = gate.queue.findIndex(
        ({ request }, place) => mayOvertake(gate, request, place) && this.#fits(gate, request),
      )
      const waiter = gate.queue[index]
      if (waiter === undefined) break
      gate.queue.splice(index, 1)
      waiter.go(this.#enter(gate, waiter.request))
    }
    // Gates are reused; only when there are many, an empty one is deleted.
    if (this.#gates.size > mostGates && gate.running.size + gate.queue.length === 0) this.#gates.delete(agentId)
  }

  #fits(gate: Gate, request: Request): boolean {
    if (!request.free && gate.taken >= this.#most) return false
    for (const other of gate.running.values()) {
      if (!other.exclusive && !request.exclusive) continue
      if (request.parentCallIds.includes(other.callId)) continue
      if (other.exclusive || !isBlocked(gate, other)) return false
    }
    return true
  }

  #gateOf(agentId: string): Gate {
    let gate = this.#gates.get(agentId)
    if (gate === undefined) this.#gates.set(agentId, (gate = { taken: 0, running: new Map(), queue: [] }))
    return gate
  }
}

/**
 * Reports whether a call may overtake those before it in the queue. A sub-call may, because they may wait for its
 * ancestors. A call that takes no permit may too, but not overtake an exclusive one.
 */
function mayOvertake(gate: Gate, request: Request, place: number): boolean {
  if (place === 0 || request.parentCallIds.length > 0) return true
  return request.free && !request.exclusive && !gate.queue.slice(0, place).some((waiter) => waiter.request.exclusive)
}

/**
 * Reports whether a call below this one waits. If such calls counted as running, two with exclusive sub-calls would
 * wait for ever.
 */
function isBlocked(gate: Gate, call: Request): boolean {
  return gate.queue.some(({ request }) => request.parentCallIds.includes(call.callId))
}
