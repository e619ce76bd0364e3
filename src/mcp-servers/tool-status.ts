import { isObject } from "../lib/is-object.ts"
import type { McpPin, McpToolDefinition } from "../core/mcp.ts"
import { isPartName, ownWireName, toolName } from "./names.ts"
import { differences, pinHash, type PinnedTool, type ServerPins } from "./pins.ts"
import { escapeHiddenCharacters, hiddenCharacters, definitionSizeProblem } from "./scan-definition.ts"

/** One tool as the server offers it now. */
export interface OfferedTool {
  readonly definition: McpToolDefinition
  readonly hash: string
  /** Characters of its JSON. */
  readonly size: number
  readonly warnings: readonly string[]
  /** True if its texts have invisible characters. */
  readonly hasHiddenCharacters: boolean
  /** Why it can never be trusted. */
  readonly leftOut?: string
}

/** One tool of a server: what is trusted, what is offered now, and what follows from that. */
export interface ToolStatus {
  readonly upstreamName: string
  readonly state: McpPin["state"]
  readonly pin?: PinnedTool
  readonly offered?: OfferedTool
  /** Why it cannot be used until a person trusts it. */
  readonly quarantine?: string
  /** Why it is not registered at all. */
  readonly leftOut?: string
}

/** Inspects each offered tool. Of two tools with the same internal name the first is used. */
export function inspectTools(server: string, tools: readonly McpToolDefinition[]): Map<string, OfferedTool> {
  const offered = new Map<string, OfferedTool>()
  const names = new Set<string>()
  for (const definition of tools) {
    if (offered.has(definition.name)) continue
    const name = toolName(server, definition.name)
    offered.set(definition.name, inspectTool(definition, names.has(name)))
    names.add(name)
  }
  return offered
}

function inspectTool(definition: McpToolDefinition, isTaken: boolean): OfferedTool {
  const leftOut = isTaken ? "Another tool of this server has its name; it is left out." : definitionProblem(definition)
  if (leftOut !== undefined)
    return { definition, hash: "", size: 0, warnings: [leftOut], hasHiddenCharacters: false, leftOut }
  const size = JSON.stringify(definition).length
  const hidden = hiddenCharacters(definition)
  return { definition, hash: pinHash(definition), size, warnings: hidden, hasHiddenCharacters: hidden.length > 0 }
}

/** A server may send anything, even if it is not a definition. */
function definitionProblem(definition: McpToolDefinition): string | undefined {
  if (isPartName(definition.name)) return "Its name is reserved for another part of a server; it is left out."
  const { title, description, inputSchema, outputSchema, annotations } = definition as unknown as Record<
    string,
    unknown
  >
  const wrong =
    [title, description].some((text) => text !== undefined && typeof text !== "string") ||
    [outputSchema, annotations].some((part) => part !== undefined && !isObject(part)) ||
    !isObject(inputSchema) ||
    !["object", undefined].includes(inputSchema["type"] as string)
  if (wrong) return "Its definition is not valid: it needs an inputSchema of type object. It is left out."
  return definitionSizeProblem(definition)
}

/** The upstream name of a tool, from that name or its internal name. Throws if the tool cannot be trusted. */
export function findUpstreamName(server: string, statuses: readonly ToolStatus[], tool: string): string {
  const found = statuses.find(({ upstreamName }) => upstreamName === tool || toolName(server, upstreamName) === tool)
  if (found === undefined) {
    throw new Error(`The MCP server ${server} has no tool '${tool}'. See qm mcp pins list ${server}.`)
  }
  const leftOut = found.offered === undefined ? found.leftOut : found.offered.leftOut
  if (leftOut !== undefined) throw new Error(`'${tool}' of ${server} cannot be trusted: ${leftOut}`)
  return found.upstreamName
}

/** For a server without prefix: a sentence about the first tool whose wire name is already taken. */
export function nameCollision(
  statuses: readonly ToolStatus[],
  wireNames: { fromWire(wire: string): string | undefined },
  registered: { has(name: string): boolean },
): string | undefined {
  for (const { upstreamName, leftOut } of statuses) {
    const wire = leftOut === undefined ? ownWireName(upstreamName) : undefined
    const taken = wire === undefined ? undefined : wireNames.fromWire(wire)
    if (taken === undefined || registered.has(taken)) continue
    return `It offers '${upstreamName}', which is already the wire name of ${taken}. With prefix: false all names must be free; leave prefix out, or rename the tool on the server.`
  }
  return undefined
}

/** One line about tools that are quarantined or left out; undefined when there are none. */
export function operatorNotice(statuses: readonly ToolStatus[]): string | undefined {
  const quarantined = statuses.filter(({ quarantine }) => quarantine !== undefined)
  const leftOutTools = statuses.filter(({ leftOut, state }) => leftOut !== undefined && state !== "gone")
  const parts = [
    ...(quarantined.length === 0 ? [] : [`${namesOf(quarantined)} cannot be used before a person trusts them`]),
    ...(leftOutTools.length === 0
      ? []
      : [`${namesOf(leftOutTools)} left out because their definitions cannot be used`]),
  ]
  return parts.length === 0 ? undefined : `${parts.join("; ")}.`
}

function namesOf(statuses: readonly ToolStatus[]): string {
  const shown = statuses.slice(0, 10).map(({ upstreamName }) => `'${escapeHiddenCharacters(upstreamName)}'`)
  return statuses.length > shown.length
    ? `${shown.join(", ")} and ${statuses.length - shown.length} more`
    : shown.join(", ")
}

/** Compares what is offered with the pins. Before the first offer all pinned tools count as unchanged. */
export function toolStatuses(
  server: string,
  offered: ReadonlyMap<string, OfferedTool> | undefined,
  pins: ServerPins | undefined,
): ToolStatus[] {
  const names = new Set([...(pins?.tools.keys() ?? []), ...(offered?.keys() ?? [])])
  return [...names].sort().map((upstreamName) => {
    const pin = pins?.tools.get(upstreamName)
    const current = offered?.get(upstreamName)
    if (offered !== undefined && current === undefined)
      return { upstreamName, state: "gone", pin, leftOut: "It is gone." }
    const state = pin === undefined ? "new" : current === undefined || current.hash === pin.hash ? "pinned" : "changed"
    const leftOut = current?.leftOut ?? (state === "pinned" ? pin?.leftOut : undefined)
    const quarantine =
      state === "pinned" || leftOut !== undefined ? undefined : quarantineSentence(server, pin, current!, pins)
    return { upstreamName, state, pin, offered: current, leftOut, quarantine }
  })
}

/** The public form of a tool's pin. */
export function toMcpPin(server: string, { upstreamName, state, pin, offered }: ToolStatus): McpPin {
  const differs = offered !== undefined && offered.leftOut === undefined && offered.hash !== pin?.hash
  return {
    server,
    tool: upstreamName,
    state,
    hash: pin?.hash,
    definition: pin?.definition,
    ...(differs ? { seenHash: offered.hash, seen: offered.definition } : {}),
    warnings: [...new Set([...(pin?.warnings ?? []), ...(offered?.warnings ?? [])])],
    by: pin?.by,
    at: pin?.at,
  }
}

function quarantineSentence(
  server: string,
  pin: PinnedTool | undefined,
  offered: OfferedTool,
  pins: ServerPins | undefined,
): string {
  const tool = `'${escapeHiddenCharacters(offered.definition.name)}'`
  const what =
    pin !== undefined
      ? `${tool} of the MCP server ${server} has another ${differences(pin.definition, offered.definition).join(", ")} than the one that is trusted`
      : offered.hasHiddenCharacters
        ? `${tool} of the MCP server ${server} has hidden characters in its texts`
        : pins === undefined
          ? `No person has trusted ${tool} of the MCP server ${server} yet`
          : `${tool} appeared at the MCP server ${server} after its tools were trusted`
  return `${what}. It cannot be used until a person has looked at it: qm mcp pins diff ${server}, then qm mcp pins trust ${server}.`
}
