import {
  fillPermission,
  strictestPermission,
  type LevelOrder,
  type Permission,
  type PermissionSources,
  type ToolPermission,
} from "../core/permission.ts"
import { canonicalJson, sha256 } from "../lib/canonical-json.ts"
import type { Layer, RegisteredTool, Tool, ToolType } from "../core/tool.ts"

/** The configuration of single tools, by name. */
export interface ToolSettings {
  levelOrder?: LevelOrder
  /** Override the permissions in the tools' definitions. */
  permissions?: Readonly<Record<string, ToolPermission>>
  /** From a configuration file that is not trusted yet: used only where it is stricter. */
  tightening?: Readonly<Record<string, ToolPermission>>
  /** The sources of the fields of both tables, by tool. */
  permissionSources?: Readonly<Record<string, PermissionSources>>
  /** The only tools that are enabled. Undefined means all. */
  enabled?: readonly string[]
}

/** The tool with its place in the registry and the settings of the configuration. */
export function registeredTool(
  tool: Tool,
  { layer, type }: { layer: Layer; type: ToolType },
  missing: readonly string[] | undefined,
  settings: ToolSettings,
): RegisteredTool {
  const { permissions, tightening, enabled, levelOrder } = settings
  const sources = sourcesOf(tool.name, settings)
  const trusted = overridden(tool.permission, tool, permissions)
  return withRegistration(tool, {
    id: `${layer}:${tool.name}@${tool.version}`,
    type,
    layer,
    enabled: isEnabled(tool, missing, enabled),
    ...(missing && { missingDependencies: missing }),
    permission: strictestPermission(trusted, overridden(trusted, tool, tightening), levelOrder),
    ...(sources && { permissionSources: sources }),
  })
}

/** A configuration without files, as a library host gives it, is named by its keys. */
function sourcesOf(name: string, { permissions, tightening, permissionSources }: ToolSettings) {
  const tables = [permissions, tightening].flatMap((table = {}) => (Object.hasOwn(table, name) ? [table[name]!] : []))
  const set = tables.flatMap((table) => Object.entries(table).filter(([, value]) => value !== undefined))
  if (set.length === 0) return undefined
  const known = permissionSources !== undefined && Object.hasOwn(permissionSources, name) ? permissionSources[name] : {}
  return { ...Object.fromEntries(set.map(([key]) => [key, `tools.permissions.${name}.${key}`])), ...known }
}

/** The same tool when its missing dependencies have changed. */
export function withMissingDependencies(
  tool: RegisteredTool,
  missing: readonly string[] | undefined,
  { enabled }: ToolSettings,
): RegisteredTool {
  const { permission } = tool
  return withRegistration(tool, {
    ...registrationOf(tool),
    permission,
    enabled: isEnabled(tool, missing, enabled),
    ...(missing && { missingDependencies: missing }),
  })
}

/** Reports whether the configuration enables it and all its dependencies are registered. */
function isEnabled(tool: Tool, missing: readonly string[] = [], enabled: readonly string[] | undefined): boolean {
  const isNamed = enabled === undefined || enabled.includes(tool.name) || tool.exposedAs === "loop"
  return isNamed && missing.length === 0
}

/** The registry's additions to a tool. */
type Place = Pick<
  RegisteredTool,
  "id" | "type" | "layer" | "enabled" | "missingDependencies" | "permission" | "permissionSources" | "sameNameTools"
>

/** Adds a registration to a tool. The definition hash is computed on first use. */
export function withRegistration(tool: Tool, place: Place): RegisteredTool {
  let known: { description: string; hash: string } | undefined
  return {
    ...tool,
    ...place,
    get description() {
      return tool.description
    },
    get definitionHash() {
      const { name, version, effect, definition: description = tool.description } = tool
      if (known?.description !== description) {
        const { id, permission } = place
        const facts = {
          id,
          name,
          version,
          description,
          effect,
          input: tool.input.json,
          output: tool.output?.json,
          permission,
        }
        known = { description, hash: sha256(canonicalJson(facts)) }
      }
      return known.hash
    },
  }
}

/** Applies a table's settings for a tool. Undefined values change nothing. */
function overridden(
  before: Permission,
  { name, effect }: Tool,
  table: Readonly<Record<string, ToolPermission>> = {},
): Permission {
  const entries = Object.hasOwn(table, name) ? Object.entries(table[name] ?? {}) : []
  const changes = entries.filter(([, value]) => value !== undefined)
  return changes.length === 0 ? before : fillPermission({ ...before, ...Object.fromEntries(changes) }, effect)
}

export function registrationOf({ id, type, layer }: RegisteredTool): Pick<RegisteredTool, "id" | "type" | "layer"> {
  return { id, type, layer }
}
