import type { Layer, RegisteredTool, Tool } from "../model/tool.ts"
import { circleError, circleIn, lacking, sameNames } from "./dependencies.ts"
import type { Shelves } from "./shelves.ts"

/** The tools that need others, and whether those are there. */
export class Needs {
  readonly #shelves: Shelves
  readonly #nameOf: (written: string) => string
  /** The names of tools that need others. */
  readonly #needy = new Set<string>()

  constructor(shelves: Shelves, nameOf: (written: string) => string) {
    this.#shelves = shelves
    this.#nameOf = nameOf
  }

  /** Throws when the needs of these and of what is there would go in a circle. */
  refuseCircles(tools: readonly Tool[], layer: Layer): void {
    if (!tools.some(isNeedy)) return
    const isReplaced = (known: RegisteredTool) =>
      known.layer === layer && tools.some(({ name, version }) => name === known.name && version === known.version)
    const known = [...this.#needy].flatMap((name) => this.#shelves.named(name)).filter((one) => !isReplaced(one))
    const circle = circleIn(known, tools)
    if (circle !== undefined) throw circleError(tools.find(({ name }) => circle.includes(name)) ?? tools[0]!, circle)
  }

  remember(tool: Tool): void {
    if (isNeedy(tool)) this.#needy.add(tool.name)
  }

  /** What a tool needs and nobody has registered; undefined for one that needs nothing. */
  lackOf(tool: Tool): readonly string[] | undefined {
    if (!isNeedy(tool)) return undefined
    return lacking(tool, (name, version) => this.#has(name, version) || this.#has(this.#nameOf(name), version))
  }

  /** The tools whose last need has come, and those whose need has gone, since they were put where they are. */
  changed(): RegisteredTool[] {
    const needy = [...this.#needy].flatMap((name) => this.#shelves.named(name))
    return needy.filter((tool) => !sameNames(tool.lacks, this.lackOf(tool)))
  }

  #has(name: string, version: string | undefined): boolean {
    return this.#shelves.named(name).some((tool) => version === undefined || tool.version === version)
  }
}

function isNeedy({ dependsOn = [] }: Tool): boolean {
  return dependsOn.length > 0
}
