import { Server, type LoggingLevel } from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import { sha256 } from "../../model/plain.ts"
import type { ListChange } from "./changes.ts"
import { toolList } from "./lists.ts"
import { promptsFor, resourcesFor, templatesFor } from "./offers.ts"
import { Subscriptions } from "./subscriptions.ts"

const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

/** The SDK's server with what one client of ours has: its level, its subscriptions, what it was told of its lists. */
export class ClientServer extends Server {
  level: LoggingLevel | undefined
  readonly subscriptions: Subscriptions
  readonly #app: App
  readonly #agentId: string
  readonly #listening = new Map<unknown, readonly string[]>()
  #told: Record<"tools" | "resources" | "prompts", string> | undefined
  #onClosed: (() => void) | undefined

  constructor(app: App, agentId: string, about: { version: string; instructions: string }) {
    super(
      { name: "quartermaster", title: "Quartermaster", version: about.version },
      { capabilities, instructions: about.instructions, inputRequired: { legacyShim: false } },
    )
    this.#app = app
    this.#agentId = agentId
    this.subscriptions = new Subscriptions(app, agentId)
  }

  /** From now on the client is told what changes for it, until its connection ends. */
  follow(listen: (listener: (change: ListChange) => void) => () => void): void {
    this.#told = this.#lists()
    const stop = listen((change) => this.#heard(change))
    this.#onClosed = () => {
      stop()
      void this.subscriptions.close()
    }
  }

  /** Hears of these resources for as long as that request to listen stands; with none, it does not stand any more. */
  async listens(id: unknown, uris: readonly string[]): Promise<void> {
    const before = new Set([...this.#listening.values()].flat())
    if (uris.length === 0) this.#listening.delete(id)
    else this.#listening.set(id, uris)
    const now = new Set([...this.#listening.values()].flat())
    const ended = [...before].filter((uri) => !now.has(uri)).map((uri) => this.subscriptions.remove(uri))
    const begun = uris.filter((uri) => !before.has(uri)).map((uri) => this.subscriptions.add(uri))
    await Promise.allSettled([...ended, ...begun])
  }

  protected override _onclose(): void {
    this.#onClosed?.()
    this.#onClosed = undefined
    super._onclose()
  }

  #heard(change: ListChange): void {
    if (this.transport === undefined) return
    if (change.what === "resource") {
      for (const uri of this.subscriptions.named(change.server, change.uri)) ignore(this.sendResourceUpdated({ uri }))
      return
    }
    const lists = this.#lists()
    if (this.#told?.[change.what] === lists[change.what]) return
    this.#told = { ...lists, ...this.#told, [change.what]: lists[change.what] }
    if (change.what === "tools") ignore(this.sendToolListChanged())
    if (change.what === "resources") ignore(this.sendResourceListChanged())
    if (change.what === "prompts") ignore(this.sendPromptListChanged())
  }

  #lists() {
    const app = this.#app
    const agentId = this.#agentId
    return {
      tools: toolList(app, agentId).json,
      // Only whether they differ is of interest, and there may be a thousand clients.
      resources: sha256(JSON.stringify([resourcesFor(app, agentId), templatesFor(app, agentId)])),
      prompts: sha256(JSON.stringify(promptsFor(app, agentId))),
    }
  }
}

/** A client that is gone hears nothing, and that is no news. */
function ignore(sent: Promise<void>): void {
  sent.catch(() => {})
}
