import {
  specTypeSchemas,
  type Client,
  type ServerCapabilities,
  type StandardSchemaV1,
} from "@modelcontextprotocol/client"
import type { McpToolDefinition } from "../../model/mcp.ts"
import type { Offer, OfferedCapabilities, RawResult } from "./exchange.ts"
import { clientLimits } from "./limits.ts"
import { headerFlaw } from "./parameter-headers.ts"
import { hiddenIn } from "./scan.ts"

/** Takes any object as it is: what a server says is judged where it is used, and nothing of it is lost. */
export const anyObject: StandardSchemaV1<unknown, RawResult> = {
  "~standard": {
    version: 1,
    vendor: "quartermaster",
    validate: (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? { value: value as RawResult }
        : { issues: [{ message: "is not an object" }] },
  },
}

/** Asks for every page of every list the server has. Tools must come; a list of something else that fails is empty. */
export async function askForOffer(
  client: Client,
  options: { timeout: number; stdio: boolean; warn(sentence: string): void },
): Promise<Offer> {
  const capabilities = capabilitiesOf(client.getServerCapabilities())
  const list = <T>(method: string, key: string, kind: Kind, wanted: boolean, limit: number) =>
    wanted ? everyPage<T>(client, { method, key, kind, limit, ...options }) : Promise.resolve([])
  const orNone = <T>(asked: Promise<T[]>): Promise<T[]> =>
    asked.catch((error: Error) => {
      options.warn(error.message)
      return []
    })
  const { tools, listed } = clientLimits
  const [offered, resources, templates, prompts] = await Promise.all([
    list<McpToolDefinition>("tools/list", "tools", "Tool", capabilities.tools, tools),
    orNone(list<Offer["resources"][number]>("resources/list", "resources", "Resource", capabilities.resources, listed)),
    orNone(
      list<Offer["templates"][number]>(
        "resources/templates/list",
        "resourceTemplates",
        "ResourceTemplate",
        capabilities.resources,
        listed,
      ),
    ),
    orNone(list<Offer["prompts"][number]>("prompts/list", "prompts", "Prompt", capabilities.prompts, listed)),
  ])
  return {
    tools: withoutBadHeaders(client, offered, options),
    resources,
    templates,
    prompts,
    instructions: client.getInstructions(),
    capabilities,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? "",
    serverInfo: client.getServerVersion(),
  }
}

async function everyPage<T>(
  client: Client,
  asked: { method: string; key: string; kind: Kind; limit: number; timeout: number; warn(sentence: string): void },
): Promise<T[]> {
  const { method, key, kind, limit, timeout, warn } = asked
  const items: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < clientLimits.pages; page++) {
    const params = cursor === undefined ? {} : { params: { cursor } }
    const result: RawResult = await client.request({ method, ...params }, anyObject, { timeout })
    const found = result[key]
    if (!Array.isArray(found)) throw new Error(`answered ${method} without a list of ${key}`)
    for (const item of found) {
      const flaw = flawOf(item, kind)
      const kept = flaw === undefined ? item : kind === "Tool" ? bareTool(item) : undefined
      if (kept !== undefined) items.push(kept as T)
      if (flaw !== undefined)
        warn(`lists something in ${key} that ${flaw}; ${kept === undefined ? "it" : "that"} is left out`)
    }
    if (items.length > limit) throw new Error(`offers more than ${limit} ${key}, which is the most that is taken`)
    const next = result["nextCursor"]
    if (typeof next !== "string" || next === cursor) return items
    cursor = next
  }
  throw new Error(`answered ${method} with more than ${clientLimits.pages} pages`)
}

/** The protocol of 2026 leaves out tools over HTTP whose header parameters are wrong. */
function withoutBadHeaders(
  client: Client,
  tools: McpToolDefinition[],
  options: { stdio: boolean; warn(sentence: string): void },
): McpToolDefinition[] {
  if (options.stdio || client.getProtocolEra() !== "modern") return tools
  return tools.filter((tool) => {
    const flaw = headerFlaw(tool)
    if (flaw !== undefined) options.warn(`offers the tool ${tool.name}, which ${flaw}; it is left out`)
    return flaw === undefined
  })
}

type Kind = "Tool" | "Resource" | "ResourceTemplate" | "Prompt"

/** Clients refuse a whole list for one item that is not as the protocol says, so such an item goes no further. */
function flawOf(item: unknown, kind: Kind): string | undefined {
  const { issues } = specTypeSchemas[kind]["~standard"].validate(item) as {
    issues?: readonly { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] }[]
  }
  const [issue] = issues ?? []
  if (issue !== undefined) {
    const path = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".")
    return `is not as the protocol says (${path === "" ? "" : `${path}: `}${issue.message})`
  }
  // What is hidden in tools is shown to a person, who may agree to it.
  return kind !== "Tool" && hiddenIn(item).length > 0 ? "has hidden characters" : undefined
}

/** What is left of a tool whose ornaments are wrong. What it says of its schemas is judged where tools are. */
function bareTool(item: unknown): unknown {
  if (typeof item !== "object" || item === null) return undefined
  const { name, description, inputSchema, outputSchema, annotations } = item as Record<string, unknown>
  if (typeof name !== "string") return undefined
  const hints = Object.entries(typeof annotations === "object" ? (annotations ?? {}) : {})
  const plain = Object.fromEntries(hints.filter(([, value]) => typeof value === "boolean"))
  const given = { name, description, inputSchema, outputSchema, annotations: hints.length === 0 ? undefined : plain }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function capabilitiesOf(given: ServerCapabilities | undefined): OfferedCapabilities {
  return {
    tools: given?.tools !== undefined,
    resources: given?.resources !== undefined,
    subscribe: given?.resources?.subscribe === true,
    prompts: given?.prompts !== undefined,
    completions: given?.completions !== undefined,
    logging: given?.logging !== undefined,
  }
}
