import type { Config } from "./schema.ts"

/** The later layer wins: sections merge key by key, lists and single values replace. */
export function mergeConfigs(layers: readonly Config[]): Config {
  return layers.reduce<Config>((below, above) => merge(below, above) as Config, {})
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function merge(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above
  const both = Object.entries(above).map(([key, value]) => [
    key,
    Object.hasOwn(below, key) ? merge(below[key], value) : value,
  ])
  // fromEntries defines keys instead of assigning them, so that a key named __proto__ is only a key.
  return Object.fromEntries([...Object.entries(below), ...both])
}
