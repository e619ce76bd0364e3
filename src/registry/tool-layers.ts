import type { Layer, RegisteredTool, Tool } from "../core/tool.ts"
import { newestFirst } from "./versions.ts"

/** The tools of one layer by name, the newest version first. */
export type ToolsByName = ReadonlyMap<string, readonly RegisteredTool[]>

/** All tools by layer. The layer `system` always exists; others exist while they have tools. */
export class ToolLayers {
  readonly #system = new Map<string, readonly RegisteredTool[]>()
  readonly #layers = new Map<Layer, Map<string, readonly RegisteredTool[]>>([["system", this.#system]])

  get system(): ToolsByName {
    return this.#system
  }

  /** Reports whether there is no layer but the system's. */
  get hasOnlySystemLayer(): boolean {
    return this.#layers.size === 1
  }

  inLayer(layer: Layer): ToolsByName | undefined {
    return this.#layers.get(layer)
  }

  layers(): Iterable<ToolsByName> {
    return this.#layers.values()
  }

  /** Every tool of every layer and version. */
  all(): RegisteredTool[] {
    return [...this.#layers.values()].flatMap((layerTools) => [...layerTools.values()].flat())
  }

  /** Every version of a name, whatever the layer. */
  versionsOf(name: string): RegisteredTool[] {
    return [...this.#layers.values()].flatMap((layerTools) => layerTools.get(name) ?? [])
  }

  /** The tool of that name and version in a layer. */
  find({ name, version }: Pick<Tool, "name" | "version">, layer: Layer): RegisteredTool | undefined {
    return this.#layers
      .get(layer)
      ?.get(name)
      ?.find((known) => known.version === version)
  }

  /** Adds the tool, or replaces the one of the same name and version. */
  put(tool: RegisteredTool): void {
    let layerTools = this.#layers.get(tool.layer)
    if (layerTools === undefined) this.#layers.set(tool.layer, (layerTools = new Map()))
    const others = (layerTools.get(tool.name) ?? []).filter((known) => known.version !== tool.version)
    layerTools.set(tool.name, newestFirst([...others, tool]))
  }

  /** Replaces an existing tool by a changed copy. */
  update(tool: RegisteredTool): void {
    const layerTools = this.#layers.get(tool.layer)
    const versions = layerTools?.get(tool.name) ?? []
    layerTools?.set(
      tool.name,
      versions.map((known) => (known.version === tool.version ? tool : known)),
    )
  }

  /** Removes one version, or all, and returns what was removed. */
  remove(name: string, version: string | undefined, layer: Layer): RegisteredTool[] {
    const layerTools = this.#layers.get(layer)
    const versions = layerTools?.get(name) ?? []
    const removed = versions.filter((tool) => version === undefined || tool.version === version)
    if (layerTools === undefined || removed.length === 0) return []
    const left = versions.filter((tool) => !removed.includes(tool))
    if (left.length > 0) layerTools.set(name, left)
    else layerTools.delete(name)
    if (layerTools.size === 0 && layer !== "system") this.#layers.delete(layer)
    return removed
  }
}
