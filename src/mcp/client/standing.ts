import type { McpPin, McpToolDefinition } from "../../model/mcp.ts"
import { isPartName, ownWireName, toolName } from "./names.ts"
import { differences, pinHash, type PinnedTool, type ServerPins } from "./pins.ts"
import { escaped, hiddenCharacters, tooLarge } from "./scan.ts"

/** One tool as the server offers it now. */
export interface SeenTool {
  readonly definition: McpToolDefinition
  readonly hash: string
  /** Characters of its JSON text. */
  readonly size: number
  readonly warnings: readonly string[]
  /** Whether its texts have characters nobody sees. */
  readonly hides: boolean
  /** Why it cannot be agreed to at all. */
  readonly leftOut?: string | undefined
}

/** Where one tool of a server stands between what was agreed to and what is offered. */
export interface Standing {
  readonly upstream: string
  readonly state: McpPin["state"]
  readonly pin?: PinnedTool | undefined
  readonly seen?: SeenTool | undefined
  /** Why nobody may use it until a person agrees. */
  readonly quarantine?: string | undefined
  /** Why it is not among the tools at all. */
  readonly leftOut?: string | undefined
}

/** What a server offers, each tool looked at on its own. Of two with one name in the house the first counts. */
export function lookAt(server: string, tools: readonly McpToolDefinition[]): Map<string, SeenTool> {
  const seen = new Map<string, SeenTool>()
  const names = new Set<string>()
  for (const definition of tools) {
    if (seen.has(definition.name)) continue
    const name = toolName(server, definition.name)
    seen.set(definition.name, look(definition, names.has(name)))
    names.add(name)
  }
  return seen
}

function look(definition: McpToolDefinition, isTaken: boolean): SeenTool {
  const leftOut = isTaken ? "Another tool of this server has its name; it is left out." : unfit(definition)
  if (leftOut !== undefined) return { definition, hash: "", size: 0, warnings: [leftOut], hides: false, leftOut }
  const size = JSON.stringify(definition).length
  const hidden = hiddenCharacters(definition)
  return { definition, hash: pinHash(definition), size, warnings: hidden, hides: hidden.length > 0 }
}

/** A server may say anything, also what is no definition. */
function unfit(definition: McpToolDefinition): string | undefined {
  if (isPartName(definition.name)) return "Its name is one by which other parts of a server are called; it is left out."
  const { title, description, inputSchema, outputSchema, annotations } = definition as unknown as Record<
    string,
    unknown
  >
  const wrong =
    [title, description].some((text) => text !== undefined && typeof text !== "string") ||
    [outputSchema, annotations].some((part) => part !== undefined && !isObject(part)) ||
    !isObject(inputSchema) ||
    !["object", undefined].includes(inputSchema["type"] as string)
  if (wrong) return "Its definition is none of the protocol: it needs an inputSchema of type object. It is left out."
  return tooLarge(definition)
}

/** The upstream name of the tool that is meant by that or by its name in the house. Throws a sentence for one that cannot be agreed to. */
export function meantBy(server: string, all: readonly Standing[], tool: string): string {
  const found = all.find(({ upstream }) => upstream === tool || toolName(server, upstream) === tool)
  if (found === undefined) {
    throw new Error(`The MCP server ${server} has no tool '${tool}'. See qm mcp pins list ${server}.`)
  }
  const leftOut = found.seen === undefined ? found.leftOut : found.seen.leftOut
  if (leftOut !== undefined) throw new Error(`'${tool}' of ${server} cannot be agreed to: ${leftOut}`)
  return found.upstream
}

/** The sentence for a tool that would take the name of one that is there already, where a server keeps its own names. */
export function shadowOf(
  all: readonly Standing[],
  wires: { fromWire(wire: string): string | undefined },
  ours: { has(name: string): boolean },
): string | undefined {
  for (const { upstream, leftOut } of all) {
    const wire = leftOut === undefined ? ownWireName(upstream) : undefined
    const taken = wire === undefined ? undefined : wires.fromWire(wire)
    if (taken === undefined || ours.has(taken)) continue
    return `It offers '${upstream}', which is the name of ${taken} outside. With prefix: false no name may be there already; leave prefix out, or rename the tool there.`
  }
  return undefined
}

/** What the operator should know of, in one line; undefined when all is as it was agreed to. */
export function noticeOf(all: readonly Standing[]): string | undefined {
  const held = all.filter(({ quarantine }) => quarantine !== undefined)
  const out = all.filter(({ leftOut, state }) => leftOut !== undefined && state !== "gone")
  const parts = [
    ...(held.length === 0 ? [] : [`${namesOf(held)} cannot be used before a person agrees`]),
    ...(out.length === 0 ? [] : [`${namesOf(out)} left out because their definitions cannot be used`]),
  ]
  return parts.length === 0 ? undefined : `${parts.join("; ")}.`
}

function namesOf(some: readonly Standing[]): string {
  const shown = some.slice(0, 10).map(({ upstream }) => `'${escaped(upstream)}'`)
  return some.length > shown.length ? `${shown.join(", ")} and ${some.length - shown.length} more` : shown.join(", ")
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Without an offer, because the server is not connected yet, what is pinned stands as it is. */
export function standings(
  server: string,
  seen: ReadonlyMap<string, SeenTool> | undefined,
  pins: ServerPins | undefined,
): Standing[] {
  const names = new Set([...(pins?.tools.keys() ?? []), ...(seen?.keys() ?? [])])
  return [...names].sort().map((upstream) => {
    const pin = pins?.tools.get(upstream)
    const now = seen?.get(upstream)
    if (seen !== undefined && now === undefined) return { upstream, state: "gone", pin, leftOut: "It is gone." }
    const state = pin === undefined ? "new" : now === undefined || now.hash === pin.hash ? "pinned" : "changed"
    const leftOut = now?.leftOut ?? (state === "pinned" ? pin?.leftOut : undefined)
    const quarantine = state === "pinned" || leftOut !== undefined ? undefined : sentence(server, pin, now!, pins)
    return { upstream, state, pin, seen: now, leftOut, quarantine }
  })
}

/** How a tool and its pin are told. */
export function pinOf(server: string, { upstream, state, pin, seen }: Standing): McpPin {
  const differs = seen !== undefined && seen.leftOut === undefined && seen.hash !== pin?.hash
  return {
    server,
    tool: upstream,
    state,
    hash: pin?.hash,
    definition: pin?.definition,
    ...(differs ? { seenHash: seen.hash, seen: seen.definition } : {}),
    warnings: [...new Set([...(pin?.warnings ?? []), ...(seen?.warnings ?? [])])],
    by: pin?.by,
    at: pin?.at,
  }
}

function sentence(server: string, pin: PinnedTool | undefined, seen: SeenTool, pins: ServerPins | undefined): string {
  const tool = `'${escaped(seen.definition.name)}'`
  const what =
    pin !== undefined
      ? `${tool} of the MCP server ${server} has another ${differences(pin.definition, seen.definition).join(", ")} than was agreed to`
      : seen.hides
        ? `${tool} of the MCP server ${server} has hidden characters in its texts`
        : pins === undefined
          ? `Nobody has agreed to ${tool} of the MCP server ${server} yet`
          : `${tool} appeared at the MCP server ${server} after its tools were agreed to`
  return `${what}. It cannot be used until a person has looked at it: qm mcp pins diff ${server}, then qm mcp pins trust ${server}.`
}
