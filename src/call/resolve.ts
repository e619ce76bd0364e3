import { Ending } from "../model/ending.ts"
import { nearest } from "../model/nearest.ts"
import type { Ports } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { hiddenBecause } from "../policy/visible.ts"
import type { Walk } from "./walk.ts"

/** Which tool is meant: alias, version, pin and layer are settled here. A tool the agent may not see is never suggested. */
export function resolve(walk: Walk, ports: Ports): RegisteredTool {
  const name = walk.request.tool
  walk.alias = ports.tools.alias(name, walk.who)
  const at = name.indexOf("@")
  const meant = walk.alias === undefined ? name : walk.alias.tool + (at === -1 ? "" : name.slice(at))
  const tool = ports.tools.resolve(meant, walk.who)
  if (tool !== undefined) {
    walk.tool = tool
    return tool
  }
  throw new Ending("unknown_tool", `Tool "${name}" not found. ${whatNow(walk, ports)}`)
}

function whatNow(walk: Walk, ports: Ports): string {
  if (walk.who === undefined) return "List the tools to see what there is."
  const guess = nearest(walk.request.tool, visibleNames(walk, ports))
  return guess === undefined ? "List the tools to see what there is." : `Did you mean "${guess}"?`
}

/** As the agent is shown them. */
function* visibleNames(walk: Walk, ports: Ports): Iterable<string> {
  const spoken = ports.tools.spoken(walk.who?.role.dialect ?? "native")
  for (const name of ports.tools.names()) {
    const tool = ports.tools.resolve(name, walk.who)
    const hidden = tool && hiddenBecause(tool, walk.who, ports.tools, ports.settings.levelOrder, ports.policy)
    if (tool !== undefined && hidden === undefined) yield spoken?.[name] ?? name
  }
}
