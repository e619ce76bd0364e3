import { basename } from "node:path"
import type { PermissionSources } from "../core/permission.ts"
import { pathText } from "../schema/problems.ts"
import type { Path } from "./schema-path.ts"
import type { Config } from "./schema.ts"
import type { ReadYaml } from "../schema/yaml.ts"

/** The source of each key of `tools.permissions`, by tool and key. */
export type PermissionPlaces = Readonly<Record<string, PermissionSources>>

/** For example `quartermaster.yml:12 tools.permissions.sleep.allowedRoles`. */
export function placesOfPermissions(file: string, config: Config, yaml: ReadYaml): PermissionPlaces {
  return mapPermissions(config, (path) => `${basename(file)}:${yaml.placeOf(path, "key").line} ${pathText(path)}`)
}

/** The same for a layer without lines: the environment and options. */
export function namedPermissions(place: string, config: Config): PermissionPlaces {
  return mapPermissions(config, (path) => `${place} ${pathText(path)}`)
}

/** A later layer's place replaces an earlier one. What a trusted and an untrusted file both say has both places. */
export function mergePlaces(
  trusted: readonly PermissionPlaces[],
  untrusted: readonly PermissionPlaces[],
): PermissionPlaces {
  const [some, others] = [lastPlaces(trusted), lastPlaces(untrusted)]
  const tools = [...new Set([...some.keys(), ...others.keys()])]
  return Object.fromEntries(
    tools.map((tool) => {
      const [one, other] = [some.get(tool) ?? {}, others.get(tool) ?? {}]
      const keys = Object.keys({ ...one, ...other }) as (keyof PermissionSources)[]
      return [tool, Object.fromEntries(keys.map((key) => [key, [one[key], other[key]].filter(Boolean).join(" and ")]))]
    }),
  )
}

function lastPlaces(layers: readonly PermissionPlaces[]): Map<string, PermissionSources> {
  const last = new Map<string, PermissionSources>()
  for (const [tool, places] of layers.flatMap((layer) => Object.entries(layer))) {
    last.set(tool, { ...last.get(tool), ...places })
  }
  return last
}

function mapPermissions({ tools }: Config, placeOf: (path: Path) => string): PermissionPlaces {
  const entries = Object.entries(tools?.permissions ?? {}).map(([tool, permission]) => {
    const places = Object.keys(permission).map((key) => [key, placeOf(["tools", "permissions", tool, key])])
    return [tool, Object.fromEntries(places)] as const
  })
  return Object.fromEntries(entries)
}
