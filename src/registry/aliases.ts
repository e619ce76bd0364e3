import type { Alias, AliasSpec, Dialect } from "../model/dialect.ts"
import type { Names } from "../model/renamed.ts"
import { compileSchema, type Schema } from "../model/schema.ts"
import type { RegisteredTool } from "../model/tool.ts"

/** The other names of tools, by dialect. */
export class AliasBook {
  readonly #byName = new Map<string, Alias[]>()
  readonly #byTool = new Map<string, Alias>()
  readonly #spoken = new Map<string, Names>()
  readonly #shown = new WeakMap<RegisteredTool, { alias: Alias; tool: RegisteredTool }>()

  /** A name means one tool within a dialect, and a tool has one name in it. */
  add(specs: readonly AliasSpec[]): void {
    for (const spec of specs) {
      const alias = ready(spec)
      const { name, dialect, tool } = alias
      const others = this.#byName.get(name) ?? []
      if (others.some((other) => other.dialect === dialect)) throw new Error(`${name} is in dialect ${dialect} twice.`)
      this.#byName.set(name, [...others, alias])
      const key = `${dialect} ${tool}`
      if (!this.#byTool.has(key)) this.#byTool.set(key, alias)
      // A name that could be a word of a sentence is taken for one.
      const said = /_/.test(tool) ? { [tool]: name } : {}
      this.#spoken.set(dialect, { ...said, ...alias.saidOfIt, ...this.#spoken.get(dialect) })
    }
  }

  /** A name in two dialects follows the role. */
  named(name: string, dialect: string | undefined): Alias | undefined {
    const aliases = this.#byName.get(name)
    return aliases?.find((alias) => alias.dialect === dialect) ?? aliases?.find(({ tool }) => tool !== name)
  }

  /** What a tool is called in a dialect. */
  of(tool: string, dialect: Dialect): Alias | undefined {
    return this.#byTool.get(`${dialect} ${tool}`)
  }

  /** What sentences call the tools in a dialect; undefined where it has no words of its own. */
  spoken(dialect: string): Names | undefined {
    return this.#spoken.get(dialect)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** A tool by its other name, with that name's parameters and results; the same object each time. */
  shown(alias: Alias, tool: RegisteredTool): RegisteredTool {
    const known = this.#shown.get(tool)
    if (known?.alias === alias) return known.tool
    const { name, description, input, output } = alias
    const shown = { ...tool, name, description, input, output }
    this.#shown.set(tool, { alias, tool: shown })
    return shown
  }
}

/** Most of them are never called by, so their schemas are made when they are. */
function ready(spec: AliasSpec): Alias {
  let input: Schema | undefined
  let output: Schema | undefined
  return {
    ...(spec as unknown as Alias),
    get input() {
      return (input ??= compileSchema(spec.input, true))
    },
    get output() {
      return spec.output === undefined ? undefined : (output ??= compileSchema(spec.output as never, false))
    },
  }
}
