import type { Permit, Permits } from "../model/ports.ts"
import { Ending } from "../model/ending.ts"
import { onAbort } from "./abort.ts"

type Request = Parameters<Permits["acquire"]>[0]

interface Waiter {
  request: Request
  go(permit: Permit): void
  cancel(): void
}

/** What one agent has running, and who waits for a turn. */
interface Gate {
  taken: number
  running: Map<string, Request>
  queue: Waiter[]
}

/**
 * Permits per agent, first come, first served. An exclusive call runs alone, except for the calls above and below it
 * and those that stand still because a call below them waits for its turn.
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
    if (mayPass(gate, request, length) && this.#fits(gate, request)) return this.#enter(gate, request)
    return this.#wait(gate, request)
  }

  /** Sends everyone away who still waits. */
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
      if (request.ancestors.length > 0) this.#next(gate, request.agentId) // The calls above it stand still now.
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
      // Who goes on does not queue again: it could wait for ever behind calls that wait for it.
      stand: (change) => {
        const stood = waits > 0
        waits += change
        if (released || stood === waits > 0) return
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
        ({ request }, place) => mayPass(gate, request, place) && this.#fits(gate, request),
      )
      const waiter = gate.queue[index]
      if (waiter === undefined) break
      gate.queue.splice(index, 1)
      waiter.go(this.#enter(gate, waiter.request))
    }
    if (gate.running.size + gate.queue.length === 0) this.#gates.delete(agentId)
  }

  #fits(gate: Gate, request: Request): boolean {
    if (!request.free && gate.taken >= this.#most) return false
    for (const other of gate.running.values()) {
      if (!other.exclusive && !request.exclusive) continue
      if (request.ancestors.includes(other.callId)) continue
      if (other.exclusive || !standsStill(gate, other)) return false
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
 * Whether a call may go before those at earlier places. A sub-call may: they may be waiting for its ancestors. One that
 * takes no permit may too, but not before an exclusive one.
 */
function mayPass(gate: Gate, request: Request, place: number): boolean {
  if (place === 0 || request.ancestors.length > 0) return true
  return request.free && !request.exclusive && !gate.queue.slice(0, place).some((waiter) => waiter.request.exclusive)
}

/** Two calls whose exclusive sub-calls wait for each other would wait for ever if both counted as running. */
function standsStill(gate: Gate, call: Request): boolean {
  return gate.queue.some(({ request }) => request.ancestors.includes(call.callId))
}
