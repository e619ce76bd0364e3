import { callbackAdapter } from "../approval-ui/callback.ts"
import { tellLogger, type ToolAuditLogger } from "./s2-audit.ts"
import { executionError, PermissionDeniedError } from "./s2-errors.ts"
import { execution, type Execution, type MCPCaller } from "./s2-execution.ts"
import { ToolPermissionManager } from "./s2-permissions.ts"
import { ToolRegistry } from "./s2-registry.ts"
import type { Agent, ExecutionContext, Tool, ToolResult } from "./s2-types.ts"

export interface EngineOptions {
  /** A manager of your own, asked first. It can only deny more. */
  permissionManager?: Pick<ToolPermissionManager, "checkPermission">
  /** Told what the audit log has about each call. */
  auditLogger?: Pick<ToolAuditLogger, "logStart" | "logSuccess" | "logFailure">
  getAgent?(agentId: string): Agent | undefined | Promise<Agent | undefined>
  /** Asks a person. Without it, calls that must be confirmed are cancelled. */
  requestConfirmation?(agent: Agent, tool: Tool, params: unknown): boolean | Promise<boolean>
  getMCPClient?(mcpName: string): MCPCaller | Promise<MCPCaller>
}

/**
 * S2's engine: permission, confirmation, audit log, execution. A subclass may have `getAgent`, `requestConfirmation` and
 * `getMCPClient` of its own.
 *
 * ```ts
 * const engine = new ToolExecutionEngine(registry, { requestConfirmation: async (agent, tool, params) => true })
 * const { content } = await engine.execute("a1", "Read", { file_path: "notes.md" }, {})
 * ```
 */
export class ToolExecutionEngine {
  protected readonly registry: ToolRegistry
  readonly #options: EngineOptions

  /** The parts may stand one after the other, as S2 lists them, or in one object. */
  constructor(
    given: ToolRegistry | (EngineOptions & { registry: ToolRegistry }),
    options: EngineOptions | ToolPermissionManager = {},
    auditLogger?: EngineOptions["auditLogger"],
  ) {
    const { registry, ...parts } = given instanceof ToolRegistry ? { registry: given } : given
    const more = options instanceof ToolPermissionManager ? { permissionManager: options } : options
    this.registry = registry
    this.#options = { ...parts, ...more, ...(auditLogger && { auditLogger }) }
  }

  /** Returns what the tool returned. Throws what its handler threw, or S2's errors. */
  async execute(
    agentId: string,
    toolName: string,
    params: unknown,
    context: ExecutionContext = {},
  ): Promise<ToolResult> {
    const agent = await this.getAgent(agentId)
    const app = this.registry.appFor(agent)
    const denied = await this.#askOwnManager(agent, toolName, params)
    if (denied !== undefined) {
      // The attempt is recorded like every other.
      await app.call(toolName, params, { ...context, agentId, signal: AbortSignal.abort(denied) })
      throw denied
    }
    const running: Execution = { context, getMCPClient: (mcpName) => this.getMCPClient(mcpName) }
    const ended = await execution.run(running, () =>
      app.call(toolName, params, { ...context, agentId, approvals: this.#approvals(agent, toolName, params, context) }),
    )
    const { auditLogger } = this.#options
    if (ended.success && auditLogger === undefined) return ended.result
    const opened = await app.open()
    await opened.settle()
    const entries = await opened.audit.show(ended.callId)
    if (auditLogger !== undefined) await tellLogger(auditLogger, entries, this.registry)
    if (ended.success) return ended.result
    if (ended.code === "tool_failed" && running.thrown !== undefined) throw running.thrown.error
    const end = entries.find((entry) => entry.kind === "end")
    throw executionError(ended, end?.reasons?.[0]?.sentence)
  }

  protected getAgent(agentId: string): Agent | undefined | Promise<Agent | undefined> {
    return this.#options.getAgent?.(agentId) ?? this.registry.findAgent(agentId)
  }

  protected requestConfirmation(agent: Agent, tool: Tool, params: unknown): boolean | Promise<boolean> {
    return this.#options.requestConfirmation?.(agent, tool, params) ?? false
  }

  protected getMCPClient(mcpName: string): MCPCaller | Promise<MCPCaller> {
    const client = this.#options.getMCPClient?.(mcpName)
    if (client === undefined)
      throw new Error(`There is no client for the MCP server '${mcpName}'. Pass it to registerMCP.`)
    return client
  }

  /** Ours asks what the call asks anyway. */
  async #askOwnManager(agent: Agent | undefined, toolName: string, params: unknown) {
    const { permissionManager: manager } = this.#options
    const tool = this.registry.getTool(toolName)
    const isOurs = manager?.checkPermission === ToolPermissionManager.prototype.checkPermission
    if (manager === undefined || isOurs || agent === undefined || tool === undefined) return undefined
    const { allowed, reason = "The call is denied." } = await manager.checkPermission(agent, tool, params)
    return allowed ? undefined : new PermissionDeniedError(reason)
  }

  /** Undefined where nobody asks here: then the app does, or the call is cancelled. */
  #approvals(agent: Agent | undefined, toolName: string, params: unknown, context: ExecutionContext) {
    const ask = context.requestConfirmation?.bind(context) ?? this.requestConfirmation.bind(this)
    const isOwn = this.requestConfirmation !== ToolExecutionEngine.prototype.requestConfirmation
    if (!isOwn && (context.requestConfirmation ?? this.#options.requestConfirmation) === undefined) return undefined
    return callbackAdapter({
      onExecution: () => {
        const tool = this.registry.getTool(toolName)
        return agent !== undefined && tool !== undefined && ask(agent, tool, params)
      },
    })
  }
}
