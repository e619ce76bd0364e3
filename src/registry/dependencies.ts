import type { RegisteredTool, Tool } from "../core/tool.ts"

/** The names of the tools it depends on, without versions. */
export function dependencyNames({ dependsOn = [] }: Pick<Tool, "dependsOn">): string[] {
  return dependsOn.map((written) => written.split("@", 1)[0]!)
}

/**
 * The names of a dependency cycle that new tools would close, with the first name again at the end. Undefined when there is
 * none. All versions and layers of a name count as one, so that there is no cycle whichever of them an agent gets.
 */
export function findCycle(known: Iterable<Tool>, added: readonly Tool[]): string[] | undefined {
  const dependencies = new Map<string, Set<string>>()
  for (const tools of [known, added]) {
    for (const tool of tools) {
      if (tool.dependsOn === undefined || tool.dependsOn.length === 0) continue
      const names = dependencies.get(tool.name) ?? new Set()
      for (const name of dependencyNames(tool)) names.add(name)
      dependencies.set(tool.name, names)
    }
  }
  const harmless = new Set<string>()
  for (const { name } of added) {
    const cycle = follow(name, [], dependencies, harmless)
    if (cycle !== undefined) return cycle
  }
  return undefined
}

/** The dependencies that are registered in no layer. */
export function missingDependencies(
  { dependsOn = [] }: Tool,
  has: (name: string, version: string | undefined) => boolean,
) {
  return dependsOn.filter((written) => {
    const [name = written, version] = written.split("@", 2)
    return !has(name, version)
  })
}

export function sameNames(some: readonly string[] = [], others: readonly string[] = []): boolean {
  return some.length === others.length && some.every((name, index) => name === others[index])
}

export function cycleError(tool: Pick<RegisteredTool, "name">, cycle: readonly string[]): Error {
  return new Error(
    `Tool '${tool.name}' cannot be registered: its dependencies form a cycle, ${cycle.join(" → ")}. Take one of them out of dependsOn.`,
  )
}

function follow(
  name: string,
  path: readonly string[],
  dependencies: ReadonlyMap<string, ReadonlySet<string>>,
  harmless: Set<string>,
): string[] | undefined {
  if (path.includes(name)) return [...path.slice(path.indexOf(name)), name]
  if (harmless.has(name)) return undefined
  for (const next of dependencies.get(name) ?? []) {
    const cycle = follow(next, [...path, name], dependencies, harmless)
    if (cycle !== undefined) return cycle
  }
  harmless.add(name)
  return undefined
}
