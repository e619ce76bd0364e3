import type { Alias, AliasSpec, Dialect } from "./dialects/dialect.ts"
import { type Schema } from "../core/schema.ts"
import { compileSchema } from "../schema/compile-schema.ts"
import { toolRefKey, type DialectNames } from "../core/dialect-text.ts"
import type { RegisteredTool } from "../core/tool.ts"

/** The aliases of tools, by dialect. */
export class Aliases {
  readonly #byName = new Map<string, Alias[]>()
  readonly #byTool = new Map<string, Alias>()
  readonly #spoken = new Map<string, Map<string, string | null>>()
  readonly #shown = new WeakMap<RegisteredTool, { alias: Alias; tool: RegisteredTool }>()

  /** Within a dialect a name stands for one tool, and a tool has one name. */
  add(specs: readonly AliasSpec[]): void {
    for (const spec of specs) {
      const alias = ready(spec)
      const { name, dialect, tool } = alias
      const others = this.#byName.get(name) ?? []
      if (others.some((other) => other.dialect === dialect)) throw new Error(`${name} is in dialect ${dialect} twice.`)
      this.#byName.set(name, [...others, alias])
      const key = `${dialect} ${tool}`
      if (this.#byTool.has(key)) continue
      this.#byTool.set(key, alias)
      const spoken = this.#spoken.get(dialect) ?? new Map<string, string | null>()
      this.#spoken.set(dialect, spoken.set(tool, name))
      for (const [parameter, other] of Object.entries(alias.names ?? {}))
        spoken.set(toolRefKey({ tool, parameter }), other)
    }
  }

  /** Removes a name from all dialects, so that a tool can have it. */
  remove(name: string): void {
    for (const alias of this.#byName.get(name) ?? []) {
      const key = `${alias.dialect} ${alias.tool}`
      if (this.#byTool.get(key) !== alias) continue
      this.#byTool.delete(key)
      this.#spoken.get(alias.dialect)?.delete(alias.tool)
    }
    this.#byName.delete(name)
  }

  /** A name that is in two dialects is looked up in the role's dialect first. */
  find(name: string, dialect: string | undefined): Alias | undefined {
    const aliases = this.#byName.get(name)
    return aliases?.find((alias) => alias.dialect === dialect) ?? aliases?.find(({ tool }) => tool !== name)
  }

  /** The alias of a tool in a dialect. */
  forTool(tool: string, dialect: Dialect): Alias | undefined {
    return this.#byTool.get(`${dialect} ${tool}`)
  }

  /** The names of tools and parameters in a dialect. Undefined when it has none of its own. */
  dialectNames(dialect: string): DialectNames | undefined {
    return this.#spoken.get(dialect)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** The tool under its alias, with that alias's parameters and results. Returns the same object each time. */
  apply(alias: Alias, tool: RegisteredTool): RegisteredTool {
    const known = this.#shown.get(tool)
    if (known?.alias === alias) return known.tool
    const { name, description, input, output } = alias
    const shown = { ...tool, name, description, input, output }
    this.#shown.set(tool, { alias, tool: shown })
    return shown
  }
}

/** Most aliases are never called, so their schemas are compiled on first use. */
function ready(spec: AliasSpec): Alias {
  let input: Schema | undefined
  let output: Schema | undefined
  return {
    ...(spec as unknown as Alias),
    get input() {
      return (input ??= compileSchema(spec.input(), "refuse"))
    },
    get output() {
      return spec.output === undefined ? undefined : (output ??= compileSchema(spec.output() as never, "output"))
    },
  }
}
