import type { RegisteredTool, Tool } from "../model/tool.ts"

/** The names a tool needs, without the versions it may name. */
export function needsOf({ dependsOn = [] }: Pick<Tool, "dependsOn">): string[] {
  return dependsOn.map((written) => written.split("@", 1)[0]!)
}

/**
 * The names of a circle of needs that new tools would close, the first again at the end; undefined when there is none.
 * All versions and layers of a name count as one, so that whichever of them an agent is given, its needs have an end.
 */
export function circleIn(known: Iterable<Tool>, added: readonly Tool[]): string[] | undefined {
  const needs = new Map<string, Set<string>>()
  for (const tools of [known, added]) {
    for (const tool of tools) {
      if (tool.dependsOn === undefined || tool.dependsOn.length === 0) continue
      const names = needs.get(tool.name) ?? new Set()
      for (const name of needsOf(tool)) names.add(name)
      needs.set(tool.name, names)
    }
  }
  const harmless = new Set<string>()
  for (const { name } of added) {
    const circle = follow(name, [], needs, harmless)
    if (circle !== undefined) return circle
  }
  return undefined
}

/** What a tool needs and nobody has registered, whatever the layer. */
export function lacking({ dependsOn = [] }: Tool, has: (name: string, version: string | undefined) => boolean) {
  return dependsOn.filter((written) => {
    const [name = written, version] = written.split("@", 2)
    return !has(name, version)
  })
}

export function sameNames(some: readonly string[] = [], others: readonly string[] = []): boolean {
  return some.length === others.length && some.every((name, index) => name === others[index])
}

export function circleError(tool: Pick<RegisteredTool, "name">, circle: readonly string[]): Error {
  return new Error(
    `Tool '${tool.name}' cannot be registered: its needs go in a circle, ${circle.join(" → ")}. Take one of them out of dependsOn.`,
  )
}

function follow(
  name: string,
  path: readonly string[],
  needs: ReadonlyMap<string, ReadonlySet<string>>,
  harmless: Set<string>,
): string[] | undefined {
  if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
  if (harmless.has(name)) return undefined
  for (const next of needs.get(name) ?? []) {
    const circle = follow(next, [...path, name], needs, harmless)
    if (circle !== undefined) return circle
  }
  harmless.add(name)
  return undefined
}
