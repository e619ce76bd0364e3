import type { App } from "../../model/app.ts"

/** What has changed for somebody. */
export type ListChange =
  | { readonly what: "tools" | "resources" | "prompts" }
  | { readonly what: "resource"; readonly server: string; readonly uri: string }

const lookMs = 250

/** Notices what changes the lists of agents, in whichever process, and tells whoever listens. Looks only while somebody does. */
export class Changes {
  readonly #app: App
  readonly #listeners = new Set<(change: ListChange) => void>()
  #version = ""
  #stop: (() => void) | undefined

  constructor(app: App) {
    this.#app = app
  }

  listen(listener: (change: ListChange) => void): () => void {
    const own = (change: ListChange) => listener(change)
    this.#listeners.add(own)
    this.#stop ??= this.#start()
    return () => {
      this.#listeners.delete(own)
      if (this.#listeners.size === 0) this.close()
    }
  }

  close(): void {
    this.#stop?.()
    this.#stop = undefined
  }

  #start(): () => void {
    this.#version = this.#app.listVersion()
    const timer = setInterval(() => this.#look(), lookMs)
    timer.unref()
    const unlisten = this.#app.mcp.onChange((change) => {
      if (change.what === "resource") this.#tell(change)
      else if (change.what === "resources" || change.what === "prompts") this.#tell({ what: change.what })
      else this.#look()
    })
    return () => {
      clearInterval(timer)
      unlisten()
    }
  }

  /** Whoever may use a tool of a server may see its resources and prompts, so they change with everything that decides. */
  #look(): void {
    const version = this.#app.listVersion()
    if (version === this.#version) return
    this.#version = version
    for (const what of ["tools", "resources", "prompts"] as const) this.#tell({ what })
  }

  #tell(change: ListChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch {
        // A client that cannot be told asks again by itself; the others must hear it all the same.
      }
    }
  }
}
