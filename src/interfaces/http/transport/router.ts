interface Route {
  readonly method: string
  readonly path: string
}

/** A route with the parameters in the path, or the methods that the path has instead. */
type Found<Each> =
  | { readonly route: Each; readonly params: Record<string, string> }
  | { readonly route?: undefined; readonly allow: string }

/**
 * Finds the route of a method and path; undefined for an unknown path. Routes are tried in their order, so that fixed
 * paths come before those with parameters. HEAD takes the route of GET.
 */
export function router<Each extends Route>(routes: readonly Each[]) {
  const byLength = new Map<number, { route: Each; method: string; parts: Part[] }[]>()
  for (const route of routes) {
    const parts = route.path.split("/").map(partOf)
    const one = { route, method: route.method.toUpperCase(), parts }
    byLength.set(parts.length, [...(byLength.get(parts.length) ?? []), one])
  }
  return (asked: string, path: string): Found<Each> | undefined => {
    const split = path.split("/")
    const given = path.includes("%") ? split.map(decode) : split
    const allow = new Set<string>()
    for (const { route, method, parts } of byLength.get(given.length) ?? []) {
      if (!isMatch(parts, given)) continue
      if (method === (asked === "HEAD" ? "GET" : asked)) return { route, params: paramsIn(parts, given) }
      allow.add(method === "GET" ? "GET, HEAD" : method)
    }
    return allow.size === 0 ? undefined : { allow: [...allow].join(", ") }
  }
}

/** A part of a path: the name of a parameter, or its text. */
interface Part {
  readonly param: string | undefined
  readonly text: string | undefined
}

function partOf(text: string): Part {
  const param = /^\{(\w+)\}$/.exec(text)?.[1]
  return { param, text: param === undefined ? text : undefined }
}

function isMatch(parts: readonly Part[], given: readonly string[]): boolean {
  for (let index = 1; index < parts.length; index++) {
    const { text } = parts[index]!
    if (text === undefined ? given[index] === "" : text !== given[index]) return false
  }
  return given[0] === ""
}

function paramsIn(parts: readonly Part[], given: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {}
  for (const [index, { param }] of parts.entries()) if (param !== undefined) params[param] = given[index]!
  return params
}

/** Decodes a part; one with an invalid escape stays as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
