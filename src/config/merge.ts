import { isObject } from "../lib/is-object.ts"
import type { Config } from "./schema.ts"

/** Merges layers; later ones win. Sections merge key by key, lists and single values are replaced. */
export function mergeConfigs(layers: readonly Config[]): Config {
  return layers.reduce<Config>((below, above) => merge(below, above) as Config, {})
}

function merge(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above
  const both = Object.entries(above).map(([key, value]) => [
    key,
    Object.hasOwn(below, key) ? merge(below[key], value) : value,
  ])
  // Object.fromEntries defines keys instead of assigning them, so __proto__ is an ordinary key.
  return Object.fromEntries([...Object.entries(below), ...both])
}
