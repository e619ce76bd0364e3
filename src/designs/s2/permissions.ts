import { ToolRegistry } from "./registry.ts"
import type { Agent, BuiltinTool, PermissionCheckResult, Tool } from "./types.ts"

/** True if an agent may make a call, and whether a person must confirm it. It makes no call. */
export class ToolPermissionManager {
  readonly #registry: ToolRegistry

  /** Without a registry it has one of its own, for the tools it is asked about. */
  constructor(registry: ToolRegistry = new ToolRegistry()) {
    this.#registry = registry
  }

  async checkPermission(agent: Agent, tool: Tool | BuiltinTool, params: unknown): Promise<PermissionCheckResult> {
    if (this.#registry.getTool(tool.name) === undefined) this.#registry.register(tool)
    const app = await this.#registry.appFor(agent).open()
    const { verdict, reasons } = await app.why({ agentId: agent.id, tool: tool.name, input: params })
    if (verdict !== "deny") return { allowed: true, requiresConfirmation: verdict === "ask" }
    const [reason] = reasons
    return { allowed: false, ...(reason && { reason: reason.sentence }) }
  }
}
