import type { EventOf, EventType, Listener, QuartermasterEvent } from "../core/events.ts"
import type { Logger } from "../core/logger.ts"

/** Calls the listeners of an event. An error in a listener is logged and affects nothing else. */
export class Emitter {
  readonly #listeners = new Map<EventType, Set<Listener>>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  on<T extends EventType>(type: T, listener: Listener<T>): () => void {
    const listeners = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, listeners)
    // A wrapper per call of `on`, so that a listener added twice is called twice and removed one at a time.
    const wrapped = (event: QuartermasterEvent) => listener(event as EventOf<T>)
    listeners.add(wrapped)
    return () => listeners.delete(wrapped)
  }

  readonly hasListeners = (type: EventType): boolean => (this.#listeners.get(type)?.size ?? 0) > 0

  /** Calls every listener that was there when it began and has not been removed since. */
  readonly emit = (event: QuartermasterEvent): void => {
    const listeners = this.#listeners.get(event.type)
    if (listeners === undefined) return
    const logError = (error: unknown) => this.#logger.error(`A listener to ${event.type} failed.`, error)
    for (const listener of new Set(listeners)) {
      if (!listeners.has(listener)) continue
      try {
        const result: unknown = listener(event)
        if (result instanceof Promise) result.catch(logError)
      } catch (error) {
        logError(error)
      }
    }
  }
}
