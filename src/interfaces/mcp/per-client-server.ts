import { Server, type LoggingLevel } from "@modelcontextprotocol/server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { sha256 } from "../../lib/canonical-json.ts"
import type { ListChange } from "./list-changes.ts"
import { toolList } from "./tool-list.ts"
import { promptsFor, resourcesFor, templatesFor } from "./upstream-items.ts"
import { ClientSubscriptions } from "./client-subscriptions.ts"

const capabilities = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
}

/** The SDK's server with the state of one client: log level, subscriptions and the lists it knows. */
export class PerClientServer extends Server {
  logLevel: LoggingLevel | undefined
  readonly subscriptions: ClientSubscriptions
  readonly #app: Quartermaster
  readonly #agentId: string
  readonly #listening = new Map<unknown, readonly string[]>()
  #announced: Record<"tools" | "resources" | "prompts", string> | undefined
  #onClosed: (() => void) | undefined

  constructor(app: Quartermaster, agentId: string, info: { version: string; instructions: string }) {
    super(
      { name: "quartermaster", title: "Quartermaster", version: info.version },
      { capabilities, instructions: info.instructions, inputRequired: { legacyShim: false } },
    )
    this.#app = app
    this.#agentId = agentId
    this.subscriptions = new ClientSubscriptions(app, agentId)
  }

  /** Notifies the client of changes to its lists and resources until its connection ends. */
  announceChanges(listen: (listener: (change: ListChange) => void) => () => void): void {
    this.#announced = this.#lists()
    const stop = listen((change) => this.#onChange(change))
    this.#onClosed = () => {
      stop()
      void this.subscriptions.close()
    }
  }

  /** Sets the resources of one listen request; an empty list ends it. */
  async setListenedResources(id: unknown, uris: readonly string[]): Promise<void> {
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

  #onChange(change: ListChange): void {
    if (this.transport === undefined) return
    if (change.what === "resource") {
      for (const uri of this.subscriptions.urisOf(change.server, change.uri)) ignore(this.sendResourceUpdated({ uri }))
      return
    }
    const lists = this.#lists()
    if (this.#announced?.[change.what] === lists[change.what]) return
    this.#announced = { ...lists, ...this.#announced, [change.what]: lists[change.what] }
    if (change.what === "tools") ignore(this.sendToolListChanged())
    if (change.what === "resources") ignore(this.sendResourceListChanged())
    if (change.what === "prompts") ignore(this.sendPromptListChanged())
  }

  #lists() {
    const app = this.#app
    const agentId = this.#agentId
    return {
      tools: toolList(app, agentId).json,
      // Only hashes are stored, because there may be a thousand clients.
      resources: sha256(JSON.stringify([resourcesFor(app, agentId), templatesFor(app, agentId)])),
      prompts: sha256(JSON.stringify(promptsFor(app, agentId))),
    }
  }
}

/** Sending to a client that has disconnected is not an error. */
function ignore(sent: Promise<void>): void {
  sent.catch(() => {})
}
