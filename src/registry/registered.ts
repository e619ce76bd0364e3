import { fillPermission, type Permission, type ToolPermission } from "../model/permission.ts"
import { canonicalJson, sha256 } from "../model/plain.ts"
import type { RegisteredTool, Tool } from "../model/tool.ts"

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
export function overridden(
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
