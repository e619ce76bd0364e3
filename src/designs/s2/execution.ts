import { AsyncLocalStorage } from "node:async_hooks"
import type { RegisteredTool, ToolContext } from "../../core/tool.ts"
import type { ExecutionContext } from "./types.ts"

/** Calls the tools of an MCP server. */
export interface MCPCaller {
  callTool(name: string, params: Record<string, unknown>): Promise<unknown>
}

/** The data that an engine gives to the handlers of its calls. */
export interface Execution {
  context: ExecutionContext
  getMCPClient(mcpName: string): MCPCaller | Promise<MCPCaller>
  /** Awaited before the tool runs. If it throws, nothing runs. */
  start?(context: ToolContext): Promise<void>
  /** True if `start` threw. */
  isStopped?: boolean
  /** The error of the handler or the start, so that the engine can throw the same. */
  thrown?: { error: unknown }
}

/** The execution that a handler runs in. */
export const execution = new AsyncLocalStorage<Execution>()

/** Returns the argument of a handler: that of every tool of ours, and the rest of the context of `execute`. */
export function handlerContext(context: ToolContext): ExecutionContext & ToolContext {
  const { context: given = {} } = execution.getStore() ?? {}
  const rest = Object.entries(given).filter(([name]) => !(name in context))
  return Object.assign(context, Object.fromEntries(rest)) as ExecutionContext & ToolContext
}

/** The tool, with the start of its execution before it. */
export function announced(tool: RegisteredTool): RegisteredTool {
  return {
    ...tool,
    execute(input, context) {
      const current = execution.getStore()
      if (current?.start === undefined) return tool.execute(input, context)
      return remembering(() => current.start?.(context)).then(() => tool.execute(input, context))
    },
  }
}

/** Runs a handler and keeps what it throws. */
export async function remembering<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const current = execution.getStore()
    if (current !== undefined) current.thrown = { error }
    throw error
  }
}
