import { builtinModules } from "../../app/builtin-modules.ts"
import type { Config } from "../../config/schema.ts"
import type { Agent, Role } from "../../core/organisation.ts"
import type { PluginEntry, PluginState } from "../../registry/plugins/plugin.ts"
import type { Quartermaster, QuartermasterOptions } from "../../app/quartermaster.ts"
import type { ToolModule } from "../../registry/adapters.ts"
import type { ToolDefinition } from "../../registry/groups.ts"
import { PluginManager } from "../../registry/plugins/manager.ts"
import { hostApp, type DesignApp } from "../host-app.ts"
import { PrivateApp, type PrivateCallContext } from "../private-app.ts"
import { ToolGroupManager } from "./group-manager.ts"

type Modules = readonly (string | PluginEntry | ToolModule)[] | Readonly<Record<string, unknown>>

export interface RuntimeOptions extends QuartermasterOptions {
  /** The configuration, as `createQuartermaster` takes it. `modules` may also hold modules themselves. */
  config?: Omit<Config, "modules"> & { modules?: Modules }
  /** An app of your own. Left out: `init` opens one. */
  app?: Quartermaster
}

/** The caller: S0 reads `agent.id`. The rest is optional context of a call, for example somebody to ask. */
export interface RuntimeContext extends Omit<PrivateCallContext, "agentId"> {
  agent?: { id?: string; roleId?: string }
}

/** The value `executeToolCall` returns in place of a result. */
export interface ToolCallError {
  error: string
  toolName: string
  message: string
}

/**
 * S0's runtime: the built-in groups, modules, and calls as an agent.
 *
 * ```ts
 * const runtime = new Runtime({ config: { modules: ["chrome"] } })
 * await runtime.init()
 * await runtime.executeToolCall({ agent: { id: "root" } }, "find_role_by_name", { name: "developer" })
 * ```
 */
export class Runtime {
  readonly config: NonNullable<RuntimeOptions["config"]>
  readonly toolGroupManager = new ToolGroupManager()
  readonly moduleLoader = { loadModules: (modules: Modules, runtime: unknown = this) => this.#load(modules, runtime) }
  readonly org = { getRole: (roleId: string): Role | null => this.#app?.org.findRole(roleId) ?? null }
  readonly _agents = { get: (agentId: string): Agent | undefined => this.#app?.org.findAgent(agentId) }
  readonly #opening: DesignApp
  #app: Quartermaster | undefined
  #starting: Promise<void> | undefined
  #modules: PluginManager | undefined

  constructor({ config = {}, app, ...options }: RuntimeOptions = {}) {
    this.config = config
    const { modules: _loadedByInit, ...rest } = config
    this.#opening = app ? hostApp(app) : new PrivateApp({ design: "s0", language: "zh", config: rest, options })
  }

  /** Registers the built-in groups, then loads the modules. */
  init(): Promise<void> {
    return (this.#starting ??= this.#start())
  }

  getToolDefinitionsForAgent(agentId: string): ToolDefinition[] {
    return [...(this.#app?.getToolDefinitionsForAgent(agentId) ?? [])]
  }

  /** Returns the tool's result, or what went wrong. Nothing that S0 expects is thrown. */
  async executeToolCall(ctx: RuntimeContext, toolName: string, args: unknown): Promise<unknown> {
    await this.init()
    const { agent, ...context } = ctx ?? {}
    // Without an agent nothing may be called, so the id must not fall back to the configured one.
    const called = await this.#opening.call(toolName, args, { ...context, agentId: agent?.id ?? "" })
    if (called.success) return called.result
    const error = (called.metadata?.["toolCode"] as string | undefined) ?? called.code
    return { error, toolName, message: messages[error]?.(toolName) ?? called.error } satisfies ToolCallError
  }

  /** Stops the modules and closes the app, unless it was given. */
  async shutdown(): Promise<void> {
    await this.#modules?.close()
    await this.#opening.close()
  }

  async #start(): Promise<void> {
    this.#app = await this.#opening.open()
    ToolGroupManager.connect(this.toolGroupManager, this.#app.groups)
    await this.moduleLoader.loadModules(this.config.modules ?? [], this)
  }

  async #load(modules: Modules, runtime: unknown): Promise<readonly PluginState[]> {
    const { registry, plugins } = (this.#app ??= await this.#opening.open())
    // S0 knows no approvals: what a module offers is run, unless its `toolOptions` say more.
    const moduleDefaults = { permission: { level: "public" } } as const
    const manager = (this.#modules ??= new PluginManager(registry, { runtime, language: "zh", moduleDefaults }))
    const list = isList(modules)
      ? modules
      : Object.entries(modules).map(([path, config]) => ({ path, config: config as PluginEntry["config"] }))
    const states = list.map((one) => {
      if (typeof one === "object" && "getToolDefinitions" in one)
        return manager.loadPlugin(one).then((state) => [state])
      const entry = typeof one === "string" ? { path: one } : one
      // A built-in module gets what modules of the app get in `init`.
      return (Object.hasOwn(builtinModules, entry.path) ? plugins.manager : manager).loadAll([entry])
    })
    return (await Promise.all(states)).flat()
  }
}

function isList(modules: Modules): modules is Extract<Modules, readonly unknown[]> {
  return Array.isArray(modules)
}

const messages: Readonly<Record<string, (toolName: string) => string>> = {
  tool_not_available: (toolName) => `工具 ${toolName} 对此岗位不可用`,
  unknown_tool: (toolName) => `工具 ${toolName} 不存在`,
}
