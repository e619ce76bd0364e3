import { join, resolve } from "node:path"
import { asUnnamed } from "../../config/known-folders.ts"
import { terminalAdapter } from "../../approvals/ask/terminal.ts"
import type { Config } from "../../config/schema.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { checkParameters } from "../../schema/parameters.ts"
import type { ApprovalUIAdapter } from "../../core/approval.ts"
import { silentLogger, type Logger } from "../../core/logger.ts"
import type { Tool } from "../../core/tool.ts"
import { fromBaseTool } from "../../registry/adapters.ts"
import type { BaseTool } from "../../registry/base-tool.ts"
import { recogniseTool, whatIsMissing } from "../../registry/recognise-tool.ts"
import { PrivateApp, type PrivateCallContext, type PrivateTool } from "../private-app.ts"
import { coreStorage, FileSnippetStorage, type ISnippetStorage } from "./snippets.ts"
import { s3, StandardTool, standardTools, storageOf } from "./tools.ts"
import {
  resultOf,
  type GlobalConfig,
  type ILogger,
  type ToolCall,
  type ToolDefinition,
  type ToolResult,
} from "./types.ts"

/** The people to ask. All of it is ours. Default: the terminal, where there is one. */
export type ToolManagerOptions = Pick<PrivateCallContext, "approve" | "ask" | "approvals">

/** S3's manager. Its calls are calls of the core, recorded in the folder `.quartermaster` of the workspace. */
export class ToolManager {
  readonly #tools = new Map<string, BaseTool>()
  readonly #entries = new Map<string, PrivateTool>()
  readonly #logger: ILogger
  readonly #options: ToolManagerOptions
  readonly #app: PrivateApp
  #storage: ISnippetStorage

  constructor(config: GlobalConfig["tools"] = {}, logger: ILogger = silentLogger, options: ToolManagerOptions = {}) {
    const { enabled, workspaceDir = process.cwd(), ...tools } = config
    this.#logger = logger
    this.#options = Object.keys(options).length > 0 ? options : { approvals: terminal() }
    this.#storage = new FileSnippetStorage(workspaceDir)
    this.#app = new PrivateApp({
      ...s3,
      config: { tools: coreKeys(tools), data: asUnnamed({ dir: join(resolve(workspaceDir), ".quartermaster") }) },
      options: {
        workspace: workspaceDir,
        logger: quiet(logger),
        snippets: coreStorage(() => this.#storage),
      },
      tools: () => this.#entries.values(),
    })
    for (const tool of standardTools(this.#storage)) if (enabled?.includes(tool.name) ?? true) this.register(tool)
  }

  register(tool: BaseTool): void {
    const missing = whatIsMissing(tool)
    if (missing !== undefined) throw new TypeError(`This tool cannot be registered: ${missing}`)
    if (this.#tools.has(tool.name)) throw new Error(`Tool '${tool.name}' already registered`)
    this.#entries.set(tool.name, tool instanceof StandardTool ? tool.name : { tool: coreToolOf(tool) })
    this.#tools.set(tool.name, tool)
    this.#storage = storageOf(tool) ?? this.#storage
    this.#logger.info(`Tool registered: ${tool.name}`)
  }

  /** Removes tools again, for a plugin that could not be registered as a whole. */
  unregister(name: string): boolean {
    this.#entries.delete(name)
    return this.#tools.delete(name)
  }

  getTool(name: string): BaseTool {
    const tool = this.#tools.get(name)
    if (tool === undefined) throw new Error(`Tool '${name}' not found`)
    return tool
  }

  getDefinitions(): ToolDefinition[] {
    return Array.from(this.#tools.values(), (tool) => tool.getDefinition())
  }

  /** Returns a result, however the call ends; only an unknown tool is thrown. `context` is ours. */
  async execute(toolCall: ToolCall, context: PrivateCallContext = {}): Promise<ToolResult> {
    const { name, arguments: args } = toolCall
    const tool = this.#tools.get(name)
    const isValid = tool !== undefined && tool.validate(args).valid && checkParameters(tool.parameters, args).ok
    if (isValid) this.#logger.logToolCall(name, args)
    const ended = await this.#app.call(name, args, { ...this.#options, ...context })
    this.getTool(name)
    const result = resultOf(ended)
    if (isValid) this.#logger.logToolResult(name, result)
    return result
  }

  /** Makes the calls in parallel. The results are in the order of the calls, and one failure never loses the others. */
  executeMany(toolCalls: readonly ToolCall[], context?: PrivateCallContext): Promise<ToolResult[]> {
    const failed = (error: unknown): ToolResult => ({ success: false, error: errorMessage(error) })
    return Promise.all(toolCalls.map((call) => this.execute(call, context).catch(failed)))
  }

  close(): Promise<void> {
    return this.#app.close()
  }
}

/** S3 asks about dangerous tools only. A tool that states an effect or a level of ours is judged by those. */
function coreToolOf(tool: BaseTool): Tool {
  const isPlain = typeof tool.validate !== "function" || typeof tool.getDefinition !== "function"
  if (isPlain || "effect" in tool || "permission" in tool) return recogniseTool(tool, { group: "custom" })
  return fromBaseTool(tool, { group: "custom", permission: tool.dangerous ? {} : { level: "public" } })
}

function coreKeys({ shellTimeout, ...tools }: Omit<GlobalConfig["tools"], "enabled" | "workspaceDir">) {
  const shell = shellTimeout === undefined ? tools.shell : { timeout: shellTimeout, ...tools.shell }
  const permissions = { ...s3.config.tools.permissions, ...tools.permissions }
  return { ...tools, permissions, ...(shell && { shell }) } as NonNullable<Config["tools"]>
}

/** The manager itself writes the lines of S3 about registering and calling, with S3's names. */
function quiet(logger: ILogger): Logger {
  return {
    ...silentLogger,
    warn: (message, details) => logger.warn?.(message, details),
    error: (message, details) => logger.error(message, details),
  }
}

function terminal(): ApprovalUIAdapter | undefined {
  const { stdin: input, stderr: output } = process
  return input.isTTY && output.isTTY ? terminalAdapter({ input, output }) : undefined
}
