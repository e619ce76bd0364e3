import type { Config } from "../../config/schema.ts"
import { toolValue } from "../../mcp-servers/check-result.ts"
import { failure } from "../../core/ending.ts"
import type { RegisteredTool, ToolContext } from "../../core/tool.ts"
import type { Quartermaster, QuartermasterOptions } from "../../app/quartermaster.ts"
import type { HandlerTool } from "../../registry/adapters.ts"
import { claudeDialect } from "../../registry/dialects/claude.ts"
import { ToolRegistry as CoreRegistry } from "../../registry/registry.ts"
import { hostApp, type DesignApp } from "../host-app.ts"
import { PrivateApp, type PrivateTool } from "../private-app.ts"
import { Bash, copiedFrom, isBuiltinTool } from "./builtin-tools.ts"
import { executionError } from "./errors.ts"
import { announced, execution, handlerContext, remembering, type MCPCaller } from "./execution.ts"
import { toolView } from "./tool-view.ts"
import type { Agent, BuiltinTool, MCPTool, RateLimit, Tool, ToolDescription, ToolFilter } from "./types.ts"

export interface ToolRegistryOptions extends QuartermasterOptions {
  /** The callers. Those that are not in the list are found by `getAgent`. */
  agents?: readonly Agent[]
  getAgent?(agentId: string): Agent | undefined | Promise<Agent | undefined>
  config?: Config
  /** An app of your own: its tools, agents and rules. Left out: the first call opens one. */
  app?: Quartermaster
}

/**
 * S2's registry. It starts empty; `builtinTools` are the tools of S2.
 *
 * ```ts
 * const registry = new ToolRegistry({ agents: [{ id: "a1", role: "developer", departmentId: "north", level: 2 }] })
 * registry.registerBuiltin(Read)
 * registry.registerMCP("github", tools, client)
 * ```
 */
export class ToolRegistry {
  readonly #given = new Map<string, BuiltinTool | MCPTool>()
  readonly #core: CoreRegistry
  readonly #options: ToolRegistryOptions
  readonly #apps = new Map<string, DesignApp>()
  /** The results of `getTool` and `listTools`, with the names by which they are known here. */
  readonly #views = new WeakMap<object, string>()
  /** Runs the originals of copied tools. */
  #copied: PrivateApp | undefined

  constructor(options: ToolRegistryOptions = {}) {
    this.#options = options
    this.#core = options.app?.registry ?? new CoreRegistry()
  }

  /** A tool of the same name is replaced. */
  registerBuiltin(tool: BuiltinTool): void {
    this.#add(tool, "builtin")
  }

  /** The tools are called `mcp:server:tool`. `client` calls them, unless the engine has a `getMCPClient` of its own. */
  registerMCP(mcpName: string, tools: readonly MCPTool[], client?: MCPCaller): void {
    for (const tool of tools) {
      const handler: HandlerTool["handler"] = async (params) => {
        const caller = client ?? (await execution.getStore()?.getMCPClient(mcpName))
        if (caller === undefined)
          throw new Error(`There is no client for the MCP server '${mcpName}'. Pass it to registerMCP.`)
        const answer = await caller.callTool(tool.name, params)
        return isMcpResult(answer) ? toolValue(tool.name, answer) : answer
      }
      const { description = `The tool ${tool.name} of the MCP server ${mcpName}.`, inputSchema = { type: "object" } } =
        tool
      // Nobody here wrote the tool: where the host says nothing about its permissions, it asks.
      const permissions = { requireConfirmation: true, ...tool.permissions }
      const own = { handler, category: "mcp", ...tool, permissions, description, inputSchema }
      this.#add({ ...own, name: `mcp:${mcpName}:${tool.name}`, mcpName } as BuiltinTool, "mcp")
    }
  }

  /** Registers a tool by its `type`; a custom one where it says none. */
  register(tool: BuiltinTool): void {
    const { type = "custom", mcpName = "mcp" } = tool
    if (type === "mcp") return this.registerMCP(mcpName, [tool])
    if (type !== "builtin" && type !== "custom") throw new Error(`Unknown tool type: ${String(type)}`)
    this.#add(tool, type)
  }

  getTool(name: string): Tool | undefined {
    const found = this.#core.get(name)
    return found && this.#view(found, name)
  }

  getBuiltinTool(name: string): Tool | undefined {
    const found = this.getTool(name)
    return found?.type === "builtin" ? found : undefined
  }

  listTools(filter: ToolFilter = {}): Tool[] {
    const { category, type } = filter
    const listed = this.#core.list({ ...(category && { category }), ...(type && { type }) })
    const order = [...this.#given.keys()]
    return listed
      .sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name))
      .map((tool) => this.#view(tool))
  }

  /** For a model. */
  getToolDescriptions(): ToolDescription[] {
    return this.#core.getToolDescriptions() as ToolDescription[]
  }

  /** S2's name of a tool, where it is one of S2's own. */
  nameOf(tool: string): string {
    if (this.#given.has(tool)) return tool
    return claudeDialect().find((alias) => alias.tool === tool && this.#given.has(alias.name))?.name ?? tool
  }

  /** The agent as S2 sees it. */
  async findAgent(agentId: string): Promise<Agent | undefined> {
    const { app, agents = [], getAgent } = this.#options
    const view = app?.org.view(agentId)
    if (view === undefined) return agents.find(({ id }) => id === agentId) ?? getAgent?.(agentId)
    const { department, level, role } = view
    return { id: agentId, role: role.name, level, ...(department === undefined ? {} : { departmentId: department }) }
  }

  /** The app in which this agent calls. */
  appFor(agent: Agent | undefined): DesignApp {
    const { agents: listed = [], app, config = {}, getAgent: _forEngines, ...options } = this.#options
    if (app !== undefined) return hostApp(app)
    const isListed = agent === undefined || listed.some((one) => isSame(one, agent))
    const agents = isListed ? listed : [agent]
    const key = JSON.stringify(isListed ? null : agent)
    const known = this.#apps.get(key)
    if (known !== undefined) return known
    const roles = [...new Set(agents.map(({ role }) => role))].map((name) => ({ name, dialect: "claude" as const }))
    const org = {
      roles,
      agents: agents.map(({ id, role, departmentId, level }) => {
        return { id, role, ...(departmentId && { department: departmentId }), ...(level !== undefined && { level }) }
      }),
    }
    const opened = new PrivateApp({
      design: "s2",
      language: "en",
      config: { ...(agents.length > 0 && { org }), ...withOwnPermissions(config) },
      options,
      dialect: "claude",
      tools: () => this.#privateTools(),
      wrap: announced,
    })
    this.#apps.set(key, opened)
    return opened
  }

  async close(): Promise<void> {
    await Promise.all([...this.#apps.values()].map((app) => app.close()))
    await this.#copied?.close()
  }

  #add(given: BuiltinTool, type: RegisteredTool["type"]): void {
    const viewed = this.#views.get(given)
    // A tool that the app of the host has is there already.
    if (viewed !== undefined && !this.#given.has(viewed)) return
    const tool = withoutEndlessLimits(given)
    this.#given.set(tool.name, tool)
    // An app of the host has it already.
    if (isBuiltinTool(tool) && this.#options.app !== undefined) return
    const { id: _id, type: _type, mcpName: _mcpName, handler: _handler, ...rest } = tool
    const handler: HandlerTool["handler"] = (params, context) => {
      if (tool.handler === undefined) throw failure(`The tool ${tool.name} has no handler. Register it with one.`)
      return remembering(async () => {
        await execution.getStore()?.start?.(context)
        const copied = copiedFrom(tool)
        const { app } = this.#options
        return copied === undefined || app !== undefined
          ? tool.handler?.(params, handlerContext(context))
          : this.#callCopied(copied.name, params, context)
      })
    }
    // S2 asks only about tools that say so.
    const permissions = { requireConfirmation: false, isDangerous: false, ...tool.permissions }
    this.#core.register({ touches: pathsOf(tool), ...rest, permissions, handler }, { type, replace: true })
  }

  /** The copy was decided and asked about as the host says, so its original is not asked about again. */
  async #callCopied(name: string, params: Record<string, unknown>, context: ToolContext): Promise<unknown> {
    const { config = {}, agents: _agents, app: _app, getAgent: _getAgent, ...options } = this.#options
    const { org: _org, agent: _agent, ...rest } = config
    this.#copied ??= new PrivateApp({ design: "s2", language: "en", dialect: "claude", config: rest, options })
    const { signal, sessionId, taskId, userId, allowedPaths } = context
    const more = { signal, sessionId, taskId, userId, allowedPaths, approve: () => true }
    const ended = await this.#copied.call(name, params, more)
    if (ended.success) return ended.result
    throw executionError(ended, undefined)
  }

  #view(tool: RegisteredTool, name = tool.name): Tool {
    const call: Tool["handler"] = async (params, context) => {
      const ended = await this.appFor(undefined).call(tool.name, params, context)
      if (ended.success) return ended.result
      throw new Error(ended.error)
    }
    const view = toolView(tool, this.#given.get(name) ?? this.#given.get(tool.name), call)
    this.#views.set(view, this.#given.has(name) ? name : tool.name)
    return view
  }

  *#privateTools(): Iterable<PrivateTool> {
    for (const tool of this.#core.list()) {
      const given = this.#given.get(tool.name)
      yield given !== undefined && isBuiltinTool(given) ? tool.name : { tool, options: { type: tool.type } }
    }
  }
}

function isSame(one: Agent, other: Agent): boolean {
  return (["id", "role", "departmentId", "level"] as const).every((field) => one[field] === other[field])
}

function isMcpResult(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && Array.isArray((answer as { content?: unknown }).content)
}

/** `Infinity`, which a tool without limits shows, is no limit. */
function withoutEndlessLimits(tool: BuiltinTool): BuiltinTool {
  const { rateLimit } = tool.permissions ?? {}
  if (rateLimit === undefined || Object.values(rateLimit).every((most) => most !== Infinity)) return tool
  const finite = Object.entries(rateLimit).filter(([, most]) => most !== Infinity)
  return {
    ...tool,
    permissions: { ...tool.permissions, rateLimit: Object.fromEntries(finite) as Partial<RateLimit> as RateLimit },
  }
}

/** The roles of S2's Bash, unless the host says others. */
function withOwnPermissions(config: Config): Config {
  const { allowedRoles } = Bash.permissions!
  const { permissions } = config.tools ?? {}
  const run_command = { allowedRoles: [...allowedRoles!], ...permissions?.["run_command"] }
  return { ...config, tools: { ...config.tools, permissions: { ...permissions, run_command } } }
}

/** S2 checks the access to what a call names as `file_path` or `path`. */
function pathsOf({ permissions = {} }: BuiltinTool): NonNullable<HandlerTool["touches"]> {
  const kind = permissions.isDangerous === true || permissions.requireConfirmation === true ? "write" : "read"
  return (params) => {
    const { file_path, path } = params as Record<string, unknown>
    return [file_path, path].flatMap((what) => (typeof what === "string" ? [{ kind, what }] : []))
  }
}
