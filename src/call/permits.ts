import type { Permit, Permits } from "../model/ports.ts"
import { Ending } from "../model/ending.ts"
import { onAbort } from "./abort.ts"

type Request = Parameters<Permits["acquire"]>[0]

interface Waiter {
  request: Request
  go(permit: Permit): void
}

/** What one agent has running: the permits taken, and the exclusive call everyone else waits for. */
interface Gate {
  taken: number
  /** Running calls that hold no permit but must be over before an exclusive one begins. */
  free: Set<string>
  exclusive: string | undefined
  queue: Waiter[]
}

/** Permits per agent, first come, first served. An exclusive call runs alone, except for the calls above and below it. */
export class AgentPermits implements Permits {
  readonly #gates = new Map<string, Gate>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  acquire(request: Request): Permit | Promise<Permit> {
    const gate = this.#gateOf(request.agentId)
    if (gate.queue.length === 0 && this.#fits(gate, request)) return this.#enter(gate, request)
    if (passes(gate, request) && this.#fits(gate, request)) return this.#enter(gate, request)
    return this.#wait(gate, request)
  }

  #wait(gate: Gate, request: Request): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        gate.queue.splice(gate.queue.indexOf(waiter), 1)
        reject(new Ending("aborted", "The call was cancelled while it waited for its turn."))
        this.#next(gate, request.agentId)
      }
      const waiter: Waiter = {
        request,
        go(permit) {
          request.signal?.removeEventListener("abort", cancel)
          resolve(permit)
        },
      }
      gate.queue.push(waiter)
      if (request.signal?.aborted) return cancel()
      if (request.signal !== undefined) onAbort(request.signal, cancel)
    })
  }

  #enter(gate: Gate, request: Request): Permit {
    if (request.free) gate.free.add(request.callId)
    else gate.taken++
    if (request.exclusive) gate.exclusive ??= request.callId
    let released = false
    return {
      release: () => {
        if (released) return
        released = true
        if (request.free) gate.free.delete(request.callId)
        else gate.taken--
        if (gate.exclusive === request.callId) gate.exclusive = undefined
        this.#next(gate, request.agentId)
      },
    }
  }

  #next(gate: Gate, agentId: string): void {
    for (;;) {
      const index = gate.queue.findIndex((waiter, place) => (place === 0 || passes(gate, waiter.request)) && this.#fits(gate, waiter.request))
      const waiter = gate.queue[index]
      if (waiter === undefined) break
      gate.queue.splice(index, 1)
      waiter.go(this.#enter(gate, waiter.request))
    }
    if (gate.taken + gate.free.size + gate.queue.length === 0) this.#gates.delete(agentId)
  }

  #fits(gate: Gate, request: Request): boolean {
    if (!request.free && gate.taken >= this.#most) return false
    if (gate.exclusive !== undefined) return request.ancestors.includes(gate.exclusive)
    if (!request.exclusive) return true
    return gate.taken === 0 && [...gate.free].every((callId) => request.ancestors.includes(callId))
  }

  #gateOf(agentId: string): Gate {
    let gate = this.#gates.get(agentId)
    if (gate === undefined) this.#gates.set(agentId, (gate = { taken: 0, free: new Set(), exclusive: undefined, queue: [] }))
    return gate
  }
}

/** A sub-call may overtake the queue: those who wait in it may be waiting for its ancestors. */
function passes(gate: Gate, request: Request): boolean {
  return request.ancestors.length > 0 && (gate.exclusive === undefined || request.ancestors.includes(gate.exclusive))
}
