import type { Layer, RegisteredTool, Tool } from "../core/tool.ts"
import { cycleError, findCycle, missingDependencies, sameNames } from "./dependencies.ts"
import type { ToolLayers } from "./tool-layers.ts"

/** Tracks tools that depend on others, and whether those are registered. */
export class DependencyTracker {
  readonly #layers: ToolLayers
  readonly #nameOf: (written: string) => string
  /** The names of tools with dependencies. */
  readonly #dependents = new Set<string>()

  constructor(layers: ToolLayers, nameOf: (written: string) => string) {
    this.#layers = layers
    this.#nameOf = nameOf
  }

  /** Throws when these tools would close a dependency cycle. */
  refuseCycles(tools: readonly Tool[], layer: Layer): void {
    if (!tools.some(isNeedy)) return
    const isReplaced = (known: RegisteredTool) =>
      known.layer === layer && tools.some(({ name, version }) => name === known.name && version === known.version)
    const known = [...this.#dependents]
      .flatMap((name) => this.#layers.versionsOf(name))
      .filter((one) => !isReplaced(one))
    const circle = findCycle(known, tools)
    if (circle !== undefined) throw cycleError(tools.find(({ name }) => circle.includes(name)) ?? tools[0]!, circle)
  }

  track(tool: Tool): void {
    if (isNeedy(tool)) this.#dependents.add(tool.name)
  }

  /** The dependencies that are not registered. Undefined for a tool without dependencies. */
  missingFor(tool: Tool): readonly string[] | undefined {
    if (!isNeedy(tool)) return undefined
    return missingDependencies(
      tool,
      (name, version) => this.#has(name, version) || this.#has(this.#nameOf(name), version),
    )
  }

  /** The tools whose missing dependencies differ from what is stored with them. */
  changedTools(): RegisteredTool[] {
    const dependents = [...this.#dependents].flatMap((name) => this.#layers.versionsOf(name))
    return dependents.filter((tool) => !sameNames(tool.missingDependencies, this.missingFor(tool)))
  }

  #has(name: string, version: string | undefined): boolean {
    return this.#layers.versionsOf(name).some((tool) => version === undefined || tool.version === version)
  }
}

function isNeedy({ dependsOn = [] }: Tool): boolean {
  return dependsOn.length > 0
}
