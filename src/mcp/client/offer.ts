import type { Client, ServerCapabilities, StandardSchemaV1 } from "@modelcontextprotocol/client"
import type { McpToolDefinition } from "../../model/mcp.ts"
import type { Offer, OfferedCapabilities, RawResult } from "./exchange.ts"
import { clientLimits } from "./limits.ts"
import { headerFlaw } from "./parameter-headers.ts"

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
  const list = <T>(method: string, key: string, named: string, wanted: boolean, limit: number) =>
    wanted ? everyPage<T>(client, { method, key, named, limit, ...options }) : Promise.resolve([])
  const orNone = <T>(asked: Promise<T[]>): Promise<T[]> =>
    asked.catch((error: Error) => {
      options.warn(error.message)
      return []
    })
  const { tools, listed } = clientLimits
  const [offered, resources, templates, prompts] = await Promise.all([
    list<McpToolDefinition>("tools/list", "tools", "name", capabilities.tools, tools),
    orNone(list<Offer["resources"][number]>("resources/list", "resources", "uri", capabilities.resources, listed)),
    orNone(
      list<Offer["templates"][number]>(
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
        capabilities.resources,
        listed,
      ),
    ),
    orNone(list<Offer["prompts"][number]>("prompts/list", "prompts", "name", capabilities.prompts, listed)),
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
  asked: { method: string; key: string; named: string; limit: number; timeout: number; warn(sentence: string): void },
): Promise<T[]> {
  const { method, key, named, limit, timeout, warn } = asked
  const items: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < clientLimits.pages; page++) {
    const params = cursor === undefined ? {} : { params: { cursor } }
    const result: RawResult = await client.request({ method, ...params }, anyObject, { timeout })
    const found = result[key]
    if (!Array.isArray(found)) throw new Error(`answered ${method} without a list of ${key}`)
    for (const item of found) {
      if (isNamed(item, named)) items.push(item as T)
      else warn(`lists something in ${key} that has no ${named}; it is left out`)
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

function isNamed(item: unknown, named: string): boolean {
  return typeof item === "object" && item !== null && typeof (item as Record<string, unknown>)[named] === "string"
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
