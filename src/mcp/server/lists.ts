import type { Tool as McpTool } from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import type { Announced } from "./results.ts"

/** What one agent is told of its tools. */
export interface ToolList {
  readonly tools: readonly McpTool[]
  /** The JSON text of `tools`. */
  readonly json: string
  /** Whether an output schema has another root than an object; for clients before 2026 the SDK rewrites such a list. */
  readonly hasOpenRoots: boolean
  /** What was told of a tool, by its name inside. */
  announced(tool: string): Announced | undefined
}

interface Kept extends ToolList {
  version: string
}

const lists = new WeakMap<App, Map<string, Kept>>()
const mostLists = 1000

/** The tools of an agent, sorted by the names they have outside. Made once for each version of all that decides. */
export function toolList(app: App, agentId: string): ToolList {
  let ofAgents = lists.get(app)
  if (ofAgents === undefined) lists.set(app, (ofAgents = new Map()))
  const version = app.listVersion()
  const known = ofAgents.get(agentId)
  if (known?.version === version) return known
  const made = makeList(app, agentId, version, known)
  ofAgents.delete(agentId)
  if (ofAgents.size >= mostLists) ofAgents.delete(ofAgents.keys().next().value!)
  ofAgents.set(agentId, made)
  return made
}

/** Most changes change nobody's list: then the text that was there is kept. */
function makeList(app: App, agentId: string, version: string, before: Kept | undefined): Kept {
  const tools = app.mcpTools(agentId) as unknown as readonly McpTool[]
  const json = JSON.stringify(tools)
  if (before?.json === json) return { ...before, announced: announcing(app, agentId), version }
  const hasOpenRoots = tools.some(({ outputSchema }) => outputSchema !== undefined && outputSchema["type"] !== "object")
  return { tools, json, hasOpenRoots, version, announced: announcing(app, agentId) }
}

/** Looked up when the first result is told, and only then. */
function announcing(app: App, agentId: string): ToolList["announced"] {
  let told: Map<string, Announced> | undefined
  const tools = [...app.visibleTools(agentId), ...app.shownTools(agentId)]
  return (name) => {
    told ??= new Map(
      tools.map(({ name: inside, type, mcp, output }) => {
        const schema = mcp === undefined ? objectOnly(output?.json) : mcp.outputSchema
        return [inside, { isMcp: type === "mcp", outputSchema: schema }]
      }),
    )
    return told.get(name)
  }
}

/** Of our own tools only an output that is an object is announced. */
function objectOnly(json: Announced["outputSchema"]): Announced["outputSchema"] {
  return json?.["type"] === "object" ? json : undefined
}
