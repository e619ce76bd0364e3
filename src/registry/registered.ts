import {
  fillPermission,
  strictest,
  type LevelOrder,
  type Permission,
  type ToolPermission,
} from "../model/permission.ts"
import { canonicalJson, sha256 } from "../model/plain.ts"
import type { Layer, RegisteredTool, Tool, ToolType } from "../model/tool.ts"

/** What the configuration says about single tools, by name. */
export interface ToolSettings {
  levelOrder?: LevelOrder
  /** It stands above what their authors said. */
  permissions?: Readonly<Record<string, ToolPermission>>
  /** What a file nobody has trusted yet says: it counts only where it tightens. */
  tightening?: Readonly<Record<string, ToolPermission>>
  /** The only tools that are switched on; undefined means all. */
  enabled?: readonly string[] | undefined
}

/** A tool as the configuration holds it, at its place. `lacks` is what it needs and nobody has registered. */
export function registeredTool(
  tool: Tool,
  { layer, type }: { layer: Layer; type: ToolType },
  lacks: readonly string[] | undefined,
  { permissions, tightening, enabled, levelOrder }: ToolSettings,
): RegisteredTool {
  const trusted = overridden(tool.permission, tool, permissions)
  return asRegistered(tool, {
    id: `${layer}:${tool.name}@${tool.version}`,
    type,
    layer,
    enabled: isOn(tool, lacks, enabled),
    ...(lacks && { lacks }),
    permission: strictest(trusted, overridden(trusted, tool, tightening), levelOrder),
  })
}

/** The same tool once it lacks something else. */
export function withLacks(
  tool: RegisteredTool,
  lacks: readonly string[] | undefined,
  { enabled }: ToolSettings,
): RegisteredTool {
  const { permission } = tool
  return asRegistered(tool, {
    ...placeOf(tool),
    permission,
    enabled: isOn(tool, lacks, enabled),
    ...(lacks && { lacks }),
  })
}

/** By the configuration, and by everything a tool needs being there. */
function isOn({ name }: Tool, lacks: readonly string[] = [], enabled: readonly string[] | undefined): boolean {
  return (enabled === undefined || enabled.includes(name)) && lacks.length === 0
}

/** Where a tool stands, and what it is held to there. */
type Place = Pick<RegisteredTool, "id" | "type" | "layer" | "enabled" | "lacks" | "permission" | "together">

/** The tool at its place. What an approver agrees to is known by its hash, made when it is first asked for. */
export function asRegistered(tool: Tool, place: Place): RegisteredTool {
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

/** What a table says about a tool stands above what it had; what is given as undefined says nothing. */
function overridden(
  has: Permission,
  { name, effect }: Tool,
  table: Readonly<Record<string, ToolPermission>> = {},
): Permission {
  const given = Object.hasOwn(table, name) ? Object.entries(table[name] ?? {}) : []
  const said = given.filter(([, value]) => value !== undefined)
  return said.length === 0 ? has : fillPermission({ ...has, ...Object.fromEntries(said) }, effect)
}

export function placeOf({ id, type, layer }: RegisteredTool): Pick<RegisteredTool, "id" | "type" | "layer"> {
  return { id, type, layer }
}
