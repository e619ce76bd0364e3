import type { Layer, RegisteredTool, Tool } from "../model/tool.ts"
import { newestFirst } from "./versions.ts"

/** The tools of one layer by name, the newest version first. */
export type Shelf = ReadonlyMap<string, readonly RegisteredTool[]>

/** Where tools stand. The system's layer is always there; another one while it holds something. */
export class Shelves {
  readonly #system = new Map<string, readonly RegisteredTool[]>()
  readonly #layers = new Map<Layer, Map<string, readonly RegisteredTool[]>>([["system", this.#system]])

  get system(): Shelf {
    return this.#system
  }

  /** Whether there is no layer but the system's. */
  get isFlat(): boolean {
    return this.#layers.size === 1
  }

  of(layer: Layer): Shelf | undefined {
    return this.#layers.get(layer)
  }

  each(): Iterable<Shelf> {
    return this.#layers.values()
  }

  /** Every tool of every layer and version. */
  all(): RegisteredTool[] {
    return [...this.#layers.values()].flatMap((shelf) => [...shelf.values()].flat())
  }

  /** Every version of a name, whatever the layer. */
  named(name: string): RegisteredTool[] {
    return [...this.#layers.values()].flatMap((shelf) => shelf.get(name) ?? [])
  }

  /** The tool of that name and version in a layer. */
  twin({ name, version }: Pick<Tool, "name" | "version">, layer: Layer): RegisteredTool | undefined {
    return this.#layers
      .get(layer)
      ?.get(name)
      ?.find((known) => known.version === version)
  }

  /** In the place of its twin, if it has one. */
  put(tool: RegisteredTool): void {
    let shelf = this.#layers.get(tool.layer)
    if (shelf === undefined) this.#layers.set(tool.layer, (shelf = new Map()))
    const others = (shelf.get(tool.name) ?? []).filter((known) => known.version !== tool.version)
    shelf.set(tool.name, newestFirst([...others, tool]))
  }

  /** The same tool as it now is, where it was. */
  renew(tool: RegisteredTool): void {
    const shelf = this.#layers.get(tool.layer)
    const versions = shelf?.get(tool.name) ?? []
    shelf?.set(
      tool.name,
      versions.map((known) => (known.version === tool.version ? tool : known)),
    )
  }

  /** Takes away one version, or all, and returns what was there. */
  take(name: string, version: string | undefined, layer: Layer): RegisteredTool[] {
    const shelf = this.#layers.get(layer)
    const versions = shelf?.get(name) ?? []
    const gone = versions.filter((tool) => version === undefined || tool.version === version)
    if (shelf === undefined || gone.length === 0) return []
    const left = versions.filter((tool) => !gone.includes(tool))
    if (left.length > 0) shelf.set(name, left)
    else shelf.delete(name)
    if (shelf.size === 0 && layer !== "system") this.#layers.delete(layer)
    return gone
  }
}
