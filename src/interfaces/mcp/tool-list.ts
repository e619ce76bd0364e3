import type { Tool as McpTool } from "@modelcontextprotocol/server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { JsonSchema } from "../../core/schema.ts"
import type { AnnouncedTool } from "./call-result.ts"

/** The tools of one agent as clients see them. */
export interface ToolList {
  readonly tools: readonly McpTool[]
  /** The JSON text of `tools`. */
  readonly json: string
  /** True when an output schema is not of type object; for clients before 2026 the SDK rewrites such a list. */
  readonly hasOpenRoots: boolean
  /** The input schemas that want arguments as headers too, by wire name. */
  readonly headerSchemas: ReadonlyMap<string, JsonSchema>
  /** The announced definitions, by the tool's internal name. */
  announced(tool: string): AnnouncedTool | undefined
}

interface CachedList extends ToolList {
  version: string
}

const lists = new WeakMap<Quartermaster, Map<string, CachedList>>()
const maxLists = 1000

/** The tools of an agent, sorted by wire name. Cached until the version of the lists changes. */
export function toolList(app: Quartermaster, agentId: string): ToolList {
  let byAgent = lists.get(app)
  if (byAgent === undefined) lists.set(app, (byAgent = new Map()))
  const version = app.toolListVersion()
  const known = byAgent.get(agentId)
  if (known?.version === version) return known
  const created = makeList(app, agentId, version, known)
  byAgent.delete(agentId)
  if (byAgent.size >= maxLists) byAgent.delete(byAgent.keys().next().value!)
  byAgent.set(agentId, created)
  return created
}

/** Most new versions leave an agent's list unchanged: then the old one is reused. */
function makeList(app: Quartermaster, agentId: string, version: string, before: CachedList | undefined): CachedList {
  const tools = app.mcpTools(agentId) as unknown as readonly McpTool[]
  const json = JSON.stringify(tools)
  if (before?.json === json) return { ...before, announced: announcedLookup(app, agentId), version }
  const hasOpenRoots = tools.some(({ outputSchema }) => outputSchema !== undefined && outputSchema["type"] !== "object")
  const wantHeaders = json.includes('"x-mcp-header"')
    ? tools.filter(({ inputSchema }) => JSON.stringify(inputSchema).includes('"x-mcp-header"'))
    : []
  const headerSchemas = new Map(wantHeaders.map(({ name, inputSchema }) => [name, inputSchema as JsonSchema]))
  return { tools, json, hasOpenRoots, headerSchemas, version, announced: announcedLookup(app, agentId) }
}

/** The map is built for the first result. */
function announcedLookup(app: Quartermaster, agentId: string): ToolList["announced"] {
  let byName: Map<string, AnnouncedTool> | undefined
  const tools = [...app.visibleTools(agentId), ...app.toolsInDialect(agentId)]
  return (name) => {
    byName ??= new Map(
      tools.map(({ name: inside, type, mcp, output }) => {
        const schema = mcp === undefined ? objectOnly(output?.json) : mcp.outputSchema
        return [inside, { isMcp: type === "mcp", outputSchema: schema }]
      }),
    )
    return byName.get(name)
  }
}

/** Of our own tools only output schemas of type object are announced. */
function objectOnly(json: AnnouncedTool["outputSchema"]): AnnouncedTool["outputSchema"] {
  return json?.["type"] === "object" ? json : undefined
}
