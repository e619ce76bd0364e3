import type { EventOf, EventType, Listener, QuartermasterEvent } from "./model/events.ts"
import type { Logger } from "./model/logger.ts"

/** Hands events to whoever listens. A listener that throws harms nobody. */
export class Emitter {
  readonly #listeners = new Map<EventType, Set<Listener>>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  on<T extends EventType>(type: T, listener: Listener<T>): () => void {
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners)
    const own = (event: QuartermasterEvent) => listener(event as EventOf<T>)
    listeners.add(own)
    return () => listeners.delete(own)
  }

  readonly hears = (type: EventType): boolean => (this.#listeners.get(type)?.size ?? 0) > 0

  /** Tells those who listen now and still do when their turn comes. */
  readonly emit = (event: QuartermasterEvent): void => {
    const listeners = this.#listeners.get(event.type)
    if (listeners === undefined) return
    const complain = (error: unknown) => this.#logger.error(`A listener to ${event.type} failed.`, error)
    for (const listener of new Set(listeners)) {
      if (!listeners.has(listener)) continue
      try {
        const done: unknown = listener(event)
        if (done instanceof Promise) done.catch(complain)
      } catch (error) {
        complain(error)
      }
    }
  }
}
