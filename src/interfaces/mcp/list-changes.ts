import type { Quartermaster } from "../../app/quartermaster.ts"

/** A list or a resource that has changed. */
export type ListChange =
  | { readonly what: "tools" | "resources" | "prompts" }
  | { readonly what: "resource"; readonly server: string; readonly uri: string }

const pollMs = 250

/** Notifies listeners when the lists of agents change, in any process. It polls only while there are listeners. */
export class ListChangeWatcher {
  readonly #app: Quartermaster
  readonly #listeners = new Set<(change: ListChange) => void>()
  #version = ""
  #stop: (() => void) | undefined

  constructor(app: Quartermaster) {
    this.#app = app
  }

  listen(listener: (change: ListChange) => void): () => void {
    const wrapped = (change: ListChange) => listener(change)
    this.#listeners.add(wrapped)
    this.#stop ??= this.#start()
    return () => {
      this.#listeners.delete(wrapped)
      if (this.#listeners.size === 0) this.close()
    }
  }

  close(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  #start(): () => void {
    this.#version = this.#app.toolListVersion()
    const timer = setInterval(() => this.#poll(), pollMs)
    timer.unref()
    const unlisten = this.#app.mcp.onChange((change) => {
      if (change.what === "resource") this.#notify(change)
      else if (change.what === "resources" || change.what === "prompts") this.#notify({ what: change.what })
      else this.#poll()
    })
    return () => {
      clearInterval(timer)
      unlisten()
    }
  }

  /** Announces all three lists: the resources and prompts of an agent depend on the tools it sees. */
  #poll(): void {
    const version = this.#app.toolListVersion()
    if (version === this.#version) return
    this.#version = version
    for (const what of ["tools", "resources", "prompts"] as const) this.#notify({ what })
  }

  #notify(change: ListChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch {
        // A listener that fails must not keep the others from being notified.
      }
    }
  }
}
