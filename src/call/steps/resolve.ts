import { Ending } from "../../core/ending.ts"
import { nearestName } from "../../lib/nearest-name.ts"
import { mcpName } from "../../core/mcp.ts"
import type { Ports } from "../state/ports.ts"
import type { Elsewhere } from "../../core/call.ts"
import { toolElsewhere } from "../../registry/client-tools.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { hiddenBecause } from "../../policy/decide/visible.ts"
import type { ActiveCall } from "../state/active-call.ts"
import { byBareMcpName } from "../state/bare-mcp-name.ts"
import { takeIntent } from "../state/intent.ts"
import { readJsonText } from "../state/json-text-input.ts"

/** Finds the tool that the name means: by alias, version, pin and layer, or by the name its MCP server gives it. It never suggests a tool the agent may not see. */
export function resolve(call: ActiveCall, ports: Ports): RegisteredTool {
  if (call.request.elsewhere !== undefined) return resolveElsewhere(call, call.request.elsewhere, ports)
  const name = call.request.tool
  call.alias = ports.tools.alias(name, call.who)
  const at = name.indexOf("@")
  const meant = call.alias === undefined ? name : call.alias.tool + (at === -1 ? "" : name.slice(at))
  const tool =
    ports.tools.resolve(meant, call.who) ??
    byBareMcpName(name, call.who, ports.tools, (found) => isVisible(found, call, ports))
  const schema = (call.alias ?? tool)?.input
  readJsonText(call, schema)
  takeIntent(call, schema, ports)
  if (tool !== undefined) {
    call.tool = tool
    return tool
  }
  throw new Ending("unknown_tool", `Tool "${name}" not found. ${suggestion(call, ports)}`)
}

/** A program that runs its tools itself names them in its own way. */
function resolveElsewhere(call: ActiveCall, elsewhere: Elsewhere, ports: Ports): RegisteredTool {
  const { tool, input, intent } = toolElsewhere(call.request, elsewhere, call.who, ports.tools)
  // A stored input is in the tool's own format already.
  if (call.row === undefined) call.request = { ...call.request, input, intent }
  takeIntent(call, undefined, ports)
  call.tool = tool
  return tool
}

function suggestion(call: ActiveCall, ports: Ports): string {
  if (call.who === undefined) return "List the tools to see what there is."
  const { tool } = call.request
  const [, server, part] = /^(?!mcp:)(.+?)__(.+)$/.exec(tool) ?? []
  const written = server === undefined || part === undefined ? tool : mcpName(server, part)
  const guess = nearestName(written, visibleNames(call, ports))
  if (guess === undefined) return "List the tools to see what there is."
  // A caller that writes a tool of a server as models do gets the answer in the same form.
  return `Did you mean "${written === tool ? guess : guess.replace(/^mcp:(.+?):/, "$1__")}"?`
}

/** The tools that the agent may see, by the names of its dialect. */
function* visibleNames(call: ActiveCall, ports: Ports): Iterable<string> {
  const dialectNames = ports.tools.dialectNames(call.who?.role.dialect ?? "native")
  for (const name of ports.tools.names()) {
    const tool = ports.tools.resolve(name, call.who)
    if (tool !== undefined && isVisible(tool, call, ports)) yield dialectNames?.get(name) ?? name
  }
}

function isVisible(tool: RegisteredTool, call: ActiveCall, ports: Ports): boolean {
  return hiddenBecause(tool, call.who, ports.tools, ports.settings.levelOrder, ports.policy) === undefined
}
