import { isObject } from "../lib/is-object.ts"
import { pathText } from "../schema/problems.ts"
import type { UnsetVariables } from "../core/unset-variables.ts"
import type { Flaw } from "./check-configuration.ts"
import type { Path } from "./schema-path.ts"

/** A variable that is not set, at a place where that matters only once the place is used. */
export interface UnsetVariable extends Flaw {
  names: readonly string[]
}

/** Under these keys a variable that is not set is a warning; everywhere else it is a problem. */
const optionalPlaces: readonly Path[] = [
  ["models"],
  ["databases"],
  ["telemetry"],
  ["mcpServers"],
  ["tools", "mcpServers"],
  ["tools", "webSearch"],
]

export function mayBeUnset(path: Path): boolean {
  return optionalPlaces.some((place) => place.every((step, index) => path[index] === step))
}

/** The value without what cannot be used: a server, model or database is left out completely, elsewhere only the key. */
export function withoutUnset(value: unknown, unset: readonly Pick<UnsetVariable, "path">[]): unknown {
  const left = new Set(unset.map(({ path }) => pathText(serverPath(path) ?? entryPath(path) ?? path)))
  const filter = (part: unknown, path: Path): unknown => {
    const isKept = (step: string | number) => !left.has(pathText([...path, step]))
    if (Array.isArray(part)) {
      return part.flatMap((item, index) => (isKept(index) ? [filter(item, [...path, index])] : []))
    }
    if (!isObject(part)) return part
    return Object.fromEntries(
      Object.entries(part).flatMap(([key, item]) => (isKept(key) ? [[key, filter(item, [...path, key])]] : [])),
    )
  }
  return filter(value, [])
}

/** Returns the servers, models and databases, and the web search, that cannot be used until variables are set. */
export function unusableParts(value: unknown, unset: readonly UnsetVariable[]): UnsetVariables {
  const servers = new Map<string, string[]>()
  const models: Record<string, string[]> = {}
  const databases: Record<string, string[]> = {}
  const webSearch: string[] = []
  for (const { path, names } of unset) {
    const server = serverPath(path)
    const [section, entry] = entryPath(path) ?? []
    const unusable = section === "models" ? models : databases
    if (entry !== undefined) unusable[entry] = [...(unusable[entry] ?? []), ...names]
    if (server !== undefined) {
      const name = serverName(value, server)
      servers.set(name, [...(servers.get(name) ?? []), ...names])
    } else if (path[1] === "webSearch") webSearch.push(...names)
  }
  return { servers: Object.fromEntries(servers), models, databases, webSearch }
}

/** Describes the effect until the variable is set. */
export function consequence(value: unknown, path: Path): string {
  const server = serverPath(path)
  if (server !== undefined) return `Until then the MCP server '${serverName(value, server)}' is not started.`
  const [section, entry] = entryPath(path) ?? []
  if (entry !== undefined)
    return `Until then the ${section === "models" ? "model" : "database"} '${entry}' cannot be used.`
  return path[1] === "webSearch" ? "Until then web_search fails." : `Until then '${pathText(path)}' has its default.`
}

/** The path of the server a place belongs to. */
function serverPath(path: Path): Path | undefined {
  const at = path[0] === "mcpServers" ? 2 : path[0] === "tools" && path[1] === "mcpServers" ? 3 : undefined
  return at === undefined || path.length < at ? undefined : path.slice(0, at)
}

/** The path of the model or database a place belongs to. */
function entryPath([section, entry, ...rest]: Path): readonly ["models" | "databases", string | number] | undefined {
  const isEntry = (section === "models" || section === "databases") && entry !== undefined && rest.length > 0
  return isEntry ? [section, entry] : undefined
}

/** The name of a server, which in a list is one of its keys. */
function serverName(value: unknown, path: Path): string {
  const step = path.at(-1)
  if (typeof step === "string") return step
  const found = path.reduce<unknown>((part, key) => (part as Record<string | number, unknown>)[key], value)
  return String((found as { name?: unknown }).name)
}
