import type { Config } from "../../config/schema.ts"
import type { ApprovalUIAdapter, Ask } from "../../core/approval.ts"
import type { EventType, Listener } from "../../core/events.ts"
import type { Logger } from "../../core/logger.ts"
import { toolValue } from "../../mcp-servers/check-result.ts"
import { ToolCategory } from "../../core/tool.ts"
import type { LLMFormat, LLMTools } from "../../registry/formats.ts"
import { recogniseTool, type AnyTool } from "../../registry/recognise-tool.ts"
import { ToolRegistry as CoreRegistry, type ToolStats } from "../../registry/registry.ts"
import { FencedApps } from "../fenced-apps.ts"
import type { PrivateTool } from "../private-app.ts"
import { coreTools } from "./tools.ts"
import { resultOf, type Tool, type ToolContext, type ToolResult } from "./types.ts"

/** The parts of a registry that the executor needs. */
interface Inside {
  core: CoreRegistry
  entries: Map<string, PrivateTool>
}

const insides = new WeakMap<ToolRegistry, Inside>()

/** S4's registry: it starts empty and returns tools as they were registered. */
export class ToolRegistry {
  readonly #core = new CoreRegistry()
  readonly #tools = new Map<string, Tool>()
  readonly #entries = new Map<string, PrivateTool>()

  constructor() {
    insides.set(this, { core: this.#core, entries: this.#entries })
  }

  register(tool: Tool): void {
    this.registerMany([tool])
  }

  /** Registers all of them or none. */
  registerMany(tools: readonly Tool[]): void {
    const made = tools.map((tool) => coreToolOf(tool))
    this.#core.registerMany(made)
    tools.forEach((tool, place) => {
      this.#tools.set(tool.name, tool)
      this.#entries.set(tool.name, coreTools.get(tool) ?? { tool: made[place]! })
    })
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  has(name: string): boolean {
    return this.#tools.has(name)
  }

  list(): Tool[] {
    return [...this.#tools.values()]
  }

  listByCategory(category: ToolCategory): Tool[] {
    return this.list().filter((tool) => tool.category === category)
  }

  /** `{ name, description, parameters }` of each tool, or another format of the core. */
  toLLMTools<Format extends LLMFormat = "flat">({ format }: { format?: Format } = {}): LLMTools[Format] {
    return this.#core.toLLMTools({ format: (format ?? "flat") as Format })
  }

  getStats(): ToolStats {
    return this.#core.getStats()
  }
}

/** S4 has no levels: a tool that says nothing about its effect runs, because whoever registers it wrote it. */
function coreToolOf(tool: Tool) {
  const known = coreTools.get(tool)
  if (typeof known === "object") return recogniseTool(known.tool, { group: "custom" })
  const { name, description, category, parameters } = tool
  const execute = async (params: unknown, context: ToolContext) =>
    wholeResult(tool, await tool.execute(params, context))
  const level = "effect" in tool || "permission" in tool ? {} : { permission: { level: "public" } }
  const whole = { ...tool, name, description, category, parameters, execute, ...level }
  return recogniseTool(whole as unknown as AnyTool, { group: "custom" })
}

/** S4's own `wrapMCPTool` returns what the server sent, not a result. */
function wholeResult({ name, category }: Tool, returned: unknown): ToolResult {
  if (typeof (returned as Partial<ToolResult> | undefined)?.success === "boolean") return returned as ToolResult
  const result = category === ToolCategory.MCP ? toolValue(name, returned) : returned
  return { toolName: name, success: true, result, startedAt: Date.now() }
}

/** All of it is ours. */
export interface ToolExecutorOptions {
  config?: Config
  logger?: Logger
  approvals?: ApprovalUIAdapter
  ask?: Ask
}

/** S4's executor: validates, limits time and concurrency, handles errors and wraps results. Every call is one of the core. */
export class ToolExecutor {
  readonly #inside: Inside
  readonly #apps: FencedApps

  constructor(registry: ToolRegistry, { config = {}, logger, approvals, ask }: ToolExecutorOptions = {}) {
    const inside = insides.get(registry)
    if (inside === undefined)
      throw new TypeError("A ToolExecutor needs a ToolRegistry of quartermaster/designs/s4. Give it one.")
    this.#inside = inside
    this.#apps = new FencedApps({
      design: "s4",
      language: "en",
      config,
      options: { ...(logger && { logger }), ...(approvals && { approvals }), ...(ask && { ask }) },
      tools: () => inside.entries.values(),
    })
  }

  /** Takes a registered tool or its name. Returns a result, however the call ends. */
  async execute(tool: string | Tool, params: unknown, context: ToolContext): Promise<ToolResult> {
    const toolName = typeof tool === "string" ? tool : tool.name
    const ended = await this.#apps.call(toolName, params, context)
    const { core } = this.#inside
    const known = core.get(toolName)
    if (known !== undefined) core.count(known, ended.durationMs ?? 0, ended.error)
    return resultOf(ended, toolName)
  }

  /** Listens to `TOOL_CALL_REQUESTED`, `TOOL_CALL_COMPLETED`, `TOOL_CALL_FAILED` and the other events of the core. */
  on<T extends EventType>(type: T, listener: Listener<T>): void {
    this.#apps.on(type, listener)
  }

  close(): Promise<void> {
    return this.#apps.close()
  }
}
