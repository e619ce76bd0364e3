import { callbackAdapter } from "../../approvals/ask/callback.ts"
import { tellLogger, tellStart, type Logger } from "./audit.ts"
import { executionError, ExecutionCancelledError, PermissionDeniedError } from "./errors.ts"
import { execution, type Execution, type MCPCaller } from "./execution.ts"
import { ToolPermissionManager } from "./permissions.ts"
import { ToolRegistry } from "./registry.ts"
import type { Agent, ExecutionContext, Tool, ToolResult } from "./types.ts"

export interface EngineOptions {
  /** A manager of your own, asked first. It can only deny more, and ask for more confirmations. */
  permissionManager?: Pick<ToolPermissionManager, "checkPermission">
  /** Told what the audit log has about each call. `logStart` is awaited before the tool runs; if it throws, nothing runs. */
  auditLogger?: Logger
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
    const approvals = this.#approvals(agent, toolName, params, context)
    const refused = await this.#askOwnManager(agent, toolName, params, approvals)
    if (refused !== undefined) {
      // The attempt is recorded like every other.
      await app.call(toolName, params, { ...context, agentId, signal: AbortSignal.abort(refused) })
      throw refused
    }
    const { auditLogger } = this.#options
    let hasStart = false
    const running: Execution = { context, getMCPClient: (mcpName) => this.getMCPClient(mcpName) }
    if (auditLogger !== undefined)
      running.start = async ({ callId }) => {
        if (hasStart) return
        hasStart = true
        await tellStart(auditLogger, callId, await app.open(), this.registry).catch((error: unknown) => {
          running.isStopped = true
          throw error
        })
      }
    const ended = await execution.run(running, () =>
      app.call(toolName, params, {
        ...context,
        agentId,
        approvals: approvals && callbackAdapter({ onExecution: approvals }),
      }),
    )
    if (ended.success && auditLogger === undefined) return ended.result
    const opened = await app.open()
    await opened.settle()
    const entries = await opened.audit.show(ended.callId)
    if (auditLogger !== undefined && running.isStopped !== true)
      await tellLogger(auditLogger, entries, this.registry, hasStart)
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
  async #askOwnManager(
    agent: Agent | undefined,
    toolName: string,
    params: unknown,
    approvals: (() => Promise<boolean>) | undefined,
  ): Promise<Error | undefined> {
    const { permissionManager: manager } = this.#options
    const tool = this.registry.getTool(toolName)
    const isOurs = manager?.checkPermission === ToolPermissionManager.prototype.checkPermission
    if (manager === undefined || isOurs || agent === undefined || tool === undefined) return undefined
    const checked = await manager.checkPermission(agent, tool, params)
    const { allowed, requiresConfirmation = false, reason = "The call is denied." } = checked
    if (!allowed) return new PermissionDeniedError(reason)
    if (!requiresConfirmation) return undefined
    // Without somebody to ask here, the app's own questions are left to it.
    const isConfirmed = approvals === undefined ? await this.#isAsked(agent, toolName, params) : await approvals()
    return isConfirmed ? undefined : new ExecutionCancelledError()
  }

  async #isAsked(agent: Agent, toolName: string, params: unknown): Promise<boolean> {
    const app = await this.registry.appFor(agent).open()
    const { verdict } = await app.why({ agentId: agent.id, tool: toolName, input: params })
    return verdict !== "allow"
  }

  /** Asks once, however often it is called. Undefined where nobody asks here: then the app does, or the call is cancelled. */
  #approvals(
    agent: Agent | undefined,
    toolName: string,
    params: unknown,
    context: ExecutionContext,
  ): (() => Promise<boolean>) | undefined {
    const ask = context.requestConfirmation?.bind(context) ?? this.requestConfirmation.bind(this)
    const isOwn = this.requestConfirmation !== ToolExecutionEngine.prototype.requestConfirmation
    if (!isOwn && (context.requestConfirmation ?? this.#options.requestConfirmation) === undefined) return undefined
    let answer: Promise<boolean> | undefined
    return () =>
      (answer ??= (async () => {
        const tool = this.registry.getTool(toolName)
        return agent !== undefined && tool !== undefined && (await ask(agent, tool, params))
      })())
  }
}
