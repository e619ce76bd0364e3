import {
  specTypeSchemas,
  type Client,
  type ServerCapabilities,
  type StandardSchemaV1,
} from "@modelcontextprotocol/client"
import type { McpToolDefinition } from "../core/mcp.ts"
import type { Offer, OfferedCapabilities, RawResult } from "./connection-types.ts"
import { clientLimits } from "./limits.ts"
import { headerFlaw } from "./parameter-headers.ts"
import { findHiddenCharacters } from "./scan-definition.ts"

/** A schema that accepts any object unchanged: results are checked where they are used. */
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

/** Fetches all pages of all lists of a server. Throws if the tools fail; any other list that fails is empty. */
export async function fetchOffer(
  client: Client,
  options: { timeout: number; stdio: boolean; warn(sentence: string): void },
): Promise<Offer> {
  const capabilities = capabilitiesOf(client.getServerCapabilities())
  const list = <T>(method: string, key: string, kind: Kind, wanted: boolean, limit: number) =>
    wanted ? everyPage<T>(client, { method, key, kind, limit, ...options }) : Promise.resolve([])
  const orEmpty = <T>(listed: Promise<T[]>): Promise<T[]> =>
    listed.catch((error: Error) => {
      options.warn(error.message)
      return []
    })
  const { tools, listItems } = clientLimits
  const [offered, resources, templates, prompts] = await Promise.all([
    list<McpToolDefinition>("tools/list", "tools", "Tool", capabilities.tools, tools),
    orEmpty(
      list<Offer["resources"][number]>("resources/list", "resources", "Resource", capabilities.resources, listItems),
    ),
    orEmpty(
      list<Offer["templates"][number]>(
        "resources/templates/list",
        "resourceTemplates",
        "ResourceTemplate",
        capabilities.resources,
        listItems,
      ),
    ),
    orEmpty(list<Offer["prompts"][number]>("prompts/list", "prompts", "Prompt", capabilities.prompts, listItems)),
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
  query: { method: string; key: string; kind: Kind; limit: number; timeout: number; warn(sentence: string): void },
): Promise<T[]> {
  const { method, key, kind, limit, timeout, warn } = query
  const items: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < clientLimits.pages; page++) {
    const params = cursor === undefined ? {} : { params: { cursor } }
    const result: RawResult = await client.request({ method, ...params }, anyObject, { timeout })
    const found = result[key]
    if (!Array.isArray(found)) throw new Error(`answered ${method} without a list of ${key}`)
    for (const item of found) {
      const problem = itemProblem(item, kind)
      const accepted = problem === undefined ? item : kind === "Tool" ? bareTool(item) : undefined
      if (accepted !== undefined) items.push(accepted as T)
      if (problem !== undefined)
        warn(`lists something in ${key} that ${problem}; ${accepted === undefined ? "it" : "that"} is left out`)
    }
    if (items.length > limit) throw new Error(`offers more than ${limit} ${key}, which is the limit`)
    const next = result["nextCursor"]
    if (typeof next !== "string" || next === cursor) return items
    cursor = next
  }
  throw new Error(`answered ${method} with more than ${clientLimits.pages} pages`)
}

/** Over HTTP, the protocol of 2026 excludes tools with invalid header parameters. */
function withoutBadHeaders(
  client: Client,
  tools: McpToolDefinition[],
  options: { stdio: boolean; warn(sentence: string): void },
): McpToolDefinition[] {
  if (options.stdio || client.getProtocolEra() !== "modern") return tools
  return tools.filter((tool) => {
    const problem = headerFlaw(tool)
    if (problem !== undefined) options.warn(`offers the tool ${tool.name}, which ${problem}; it is left out`)
    return problem === undefined
  })
}

type Kind = "Tool" | "Resource" | "ResourceTemplate" | "Prompt"

/** Clients refuse a whole list because of one invalid item, so invalid items are left out. */
function itemProblem(item: unknown, kind: Kind): string | undefined {
  const { issues } = specTypeSchemas[kind]["~standard"].validate(item) as {
    issues?: readonly { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] }[]
  }
  const [issue] = issues ?? []
  if (issue !== undefined) {
    const path = (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".")
    return `is not valid (${path === "" ? "" : `${path}: `}${issue.message})`
  }
  // Tools with hidden characters are quarantined instead: a person may still trust them.
  return kind !== "Tool" && findHiddenCharacters(item).length > 0 ? "has hidden characters" : undefined
}

/** The essential fields of a tool whose other fields are invalid. Its schemas are checked later. */
function bareTool(item: unknown): unknown {
  if (typeof item !== "object" || item === null) return undefined
  const { name, description, inputSchema, outputSchema, annotations } = item as Record<string, unknown>
  if (typeof name !== "string") return undefined
  const hints = Object.entries(typeof annotations === "object" ? (annotations ?? {}) : {})
  const booleans = Object.fromEntries(hints.filter(([, value]) => typeof value === "boolean"))
  const definition = {
    name,
    description,
    inputSchema,
    outputSchema,
    annotations: hints.length === 0 ? undefined : booleans,
  }
  return Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined))
}

function capabilitiesOf(capabilities: ServerCapabilities | undefined): OfferedCapabilities {
  return {
    tools: capabilities?.tools !== undefined,
    resources: capabilities?.resources !== undefined,
    subscribe: capabilities?.resources?.subscribe === true,
    prompts: capabilities?.prompts !== undefined,
    completions: capabilities?.completions !== undefined,
    logging: capabilities?.logging !== undefined,
  }
}
