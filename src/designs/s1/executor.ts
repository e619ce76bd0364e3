import type { ChainOptions } from "../../agents/chain/open-chains.ts"
import type { ToolChain as CoreChain } from "../../agents/chain/tool-chain.ts"
import type { LanguageModel } from "../../agents/models/port.ts"
import type { Config } from "../../config/schema.ts"
import { newId } from "../../lib/new-id.ts"
import type { ToolPermissionLevel } from "../../core/permission.ts"
import type { Quartermaster, QuartermasterOptions } from "../../app/quartermaster.ts"
import { ToolRegistry } from "../../registry/registry.ts"
import { hostApp, type DesignApp } from "../host-app.ts"
import { PrivateApp } from "../private-app.ts"
import {
  adapterOfCallbacks,
  coreAdapter,
  type ApprovalUIAdapter,
  type ResultApprovalCallback,
  type UserApprovalCallback,
} from "./adapters.ts"
import { executeResult, type ToolDefinitionWithPermission, type ToolExecuteResult } from "./result.ts"

/** Returns a plain value, or an object with a status and nothing but data, error and rejectReason. */
export type ToolExecuteFunction = WithExecute["execute"]

/** A method, so that a function may state its arguments more precisely. */
interface WithExecute {
  execute(args: Record<string, unknown>): unknown
}

export interface Tool {
  definition: ToolDefinitionWithPermission
  execute: ToolExecuteFunction
  tags?: string[]
}

export interface ToolExecutorOptions extends QuartermasterOptions {
  /** Asks the person. A callback comes first. */
  approvalAdapter?: ApprovalUIAdapter
  executionApprovalCallback?: UserApprovalCallback
  resultApprovalCallback?: ResultApprovalCallback
  config?: Config
  /** An app of your own, and the agent that calls. Left out: the first call opens one. */
  app?: Quartermaster
  agentId?: string
}

/**
 * S1's executor: registers tools and runs them, with approvals by callbacks. Without one, what must be approved is rejected.
 *
 * ```ts
 * const executor = new ToolExecutor()
 * executor.registerTool(sendMail)
 * executor.setExecutionApprovalCallback(async (toolName, toolDescription, args) => ({ approved: true }))
 * const { status, data } = await executor.execute("send_mail", { to: "ada@example.org" })
 * ```
 */
export class ToolExecutor {
  readonly #tools = new Map<string, Tool>()
  readonly #registry: ToolRegistry
  readonly #app: DesignApp
  readonly #agentId: string | undefined
  readonly #isGiven: boolean
  /** Remembered answers count as long as there is this executor. */
  readonly #sessionId = newId()
  readonly #adapter: ApprovalUIAdapter | undefined
  #onExecution: UserApprovalCallback | undefined
  #onResult: ResultApprovalCallback | undefined

  constructor(given: ToolExecutorOptions = {}) {
    const { approvalAdapter, executionApprovalCallback, resultApprovalCallback, ...rest } = given
    const { config, app, agentId, ...options } = rest
    this.#adapter = approvalAdapter
    this.#onExecution = executionApprovalCallback
    this.#onResult = resultApprovalCallback
    this.#agentId = agentId
    this.#isGiven = app !== undefined
    this.#registry = app?.registry ?? new ToolRegistry()
    const tools = () => this.#registry.list().map((tool) => ({ tool }))
    this.#app = app
      ? hostApp(app)
      : new PrivateApp({ design: "s1", language: "en", options, tools, ...(config && { config }) })
  }

  /** A tool of the same name is replaced. */
  registerTool(tool: Tool): void {
    const { name } = this.#registry.register(tool, { replace: true })
    this.#tools.set(name, tool)
  }

  registerTools(tools: readonly Tool[]): void {
    for (const tool of tools) this.registerTool(tool)
  }

  unregisterTool(name: string): boolean {
    return this.#tools.delete(name) && this.#registry.unregister(name)
  }

  getTool(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  getAllToolDefinitions(level?: ToolPermissionLevel): ToolDefinitionWithPermission[] {
    const definitions = [...this.#tools.values()].map(({ definition }) => definition)
    return level === undefined ? definitions : definitions.filter(({ permissionLevel }) => permissionLevel === level)
  }

  getToolsByTags(tags: readonly string[], matchAll = true): Tool[] {
    return this.#registry.listByTags(tags, matchAll).flatMap(({ name }) => this.#tools.get(name) ?? [])
  }

  setExecutionApprovalCallback(callback: UserApprovalCallback): void {
    this.#onExecution = callback
  }

  setResultApprovalCallback(callback: ResultApprovalCallback): void {
    this.#onResult = callback
  }

  hasExecutionApprovalCallback(): boolean {
    return this.#onExecution !== undefined
  }

  hasResultApprovalCallback(): boolean {
    return this.#onResult !== undefined
  }

  async execute(toolName: string, args: unknown = {}): Promise<ToolExecuteResult> {
    const context = {
      ...(this.#agentId && { agentId: this.#agentId }),
      sessionId: this.#sessionId,
      approvals: this.#approvals(),
    }
    return executeResult(await this.#app.call(toolName, args, context))
  }

  /** A configured model, for `ToolChain`. */
  async findModel(name?: string): Promise<LanguageModel> {
    return (await this.#app.open()).models.get(name)
  }

  /** The configured limits of a chain, for `ToolChain`. */
  async findLimits(): Promise<{ maxRounds: number; maxCalls: number }> {
    return (await this.#app.open()).conversations.limits
  }

  /** A chain of ours over these tools, for `ToolChain`. */
  async openChain({ approvals, ...options }: ChainOptions): Promise<CoreChain> {
    const app = await this.#app.open()
    return app.chain(this.#agentId ?? (app.org.findAgent("s1") ? "s1" : "operator"), {
      approvals: approvals ?? this.#approvals(),
      ...options,
    })
  }

  close(): Promise<void> {
    return this.#app.close()
  }

  /** Undefined where nobody is asked here: then the app of the host asks. */
  #approvals() {
    const isAsking = (this.#onExecution ?? this.#onResult ?? this.#adapter) !== undefined
    if (!isAsking && this.#isGiven) return undefined
    const callbacks = adapterOfCallbacks(this.#onExecution, this.#onResult)
    if (this.#adapter === undefined) return callbacks
    const adapter = coreAdapter(this.#adapter)
    return {
      ...adapter,
      ...(this.#onExecution && { showToolExecutionApproval: callbacks.showToolExecutionApproval }),
      ...(this.#onResult && { showToolResultApproval: callbacks.showToolResultApproval }),
    }
  }
}
