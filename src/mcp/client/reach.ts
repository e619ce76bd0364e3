import type { ToolContext } from "../../model/tool.ts"
import type { Asking, Connection } from "./connection.ts"
import { elicit } from "./elicitation.ts"
import type { PartCalls } from "./parts.ts"

/** How a running call reaches its server: everything that is asked of the connection for it. */
export interface Reach extends Omit<PartCalls, "lists"> {
  /** `before` has the last word once the server is connected. */
  tool(name: string, args: Record<string, unknown>, context: ToolContext, before: () => Promise<void>): Promise<unknown>
}

export function reachOf(server: string, connection: Connection): Reach {
  return {
    async tool(name, args, context, before) {
      await connection.ensure(context.signal)
      await before()
      return connection.callTool(name, args, askingFor(server, context))
    },
    async read(uri, context) {
      await connection.ensure(context.signal)
      return connection.readResource(uri, askingFor(server, context))
    },
    async prompt(given, context) {
      await connection.ensure(context.signal)
      return connection.getPrompt(given, askingFor(server, context))
    },
    async complete(params, context) {
      await connection.ensure(context.signal)
      return connection.complete(params, askingFor(server, context))
    },
  }
}

/** What the server says and asks while the call runs goes to whoever watches it, a person, or its caller's program. */
function askingFor(server: string, context: ToolContext): Asking {
  const { ask } = context
  return {
    callId: context.callId,
    agentId: context.agent.id,
    signal: context.signal,
    // The walk's clock ends the call, and stands still while a person thinks.
    timeoutMs: null,
    onProgress: (progress) => context.emit(progress),
    onLog: (log) => context.emit({ log }),
    elicit: (params: Record<string, unknown>, key?: string) => elicit(server, context, params, key),
    ...(ask === undefined ? {} : { askCaller: ask }),
    ...(context.able === undefined ? {} : { able: context.able }),
  }
}
