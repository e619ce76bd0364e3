import type { ToolContext } from "../core/tool.ts"
import type { Connection } from "./connection.ts"
import type { RequestContext } from "./connection-types.ts"
import { elicit } from "./elicitation.ts"
import type { PartCalls } from "./part-tools.ts"

/** The requests that running calls send to their server. */
export interface ServerCalls extends Omit<PartCalls, "lists"> {
  /** `before` runs when the server is connected; it throws to stop the call. */
  callTool(
    name: string,
    args: Record<string, unknown>,
    context: ToolContext,
    before: () => Promise<void>,
  ): Promise<unknown>
}

export function serverCalls(server: string, connection: Connection): ServerCalls {
  return {
    async callTool(name, args, context, before) {
      await connection.ensureConnected(context.signal)
      await before()
      return connection.callTool(name, args, requestContext(server, context))
    },
    async read(uri, context) {
      await connection.ensureConnected(context.signal)
      return connection.readResource(uri, requestContext(server, context))
    },
    async prompt(request, context) {
      await connection.ensureConnected(context.signal)
      return connection.getPrompt(request, requestContext(server, context))
    },
    async complete(params, context) {
      await connection.ensureConnected(context.signal)
      return connection.complete(params, requestContext(server, context))
    },
  }
}

/** Connects a request with its call: progress and logs are emitted, questions go to a person or the caller's program. */
function requestContext(server: string, context: ToolContext): RequestContext {
  const { sendRequest } = context
  return {
    callId: context.callId,
    agentId: context.agent.id,
    signal: context.signal,
    // The call has its own timeout, which pauses while a person is asked.
    timeoutMs: null,
    onProgress: (progress) => context.emit(progress),
    onLog: (log) => context.emit({ log }),
    elicit: (params: Record<string, unknown>, key?: string) => elicit(server, context, params, key),
    ...(sendRequest === undefined ? {} : { askCaller: sendRequest }),
    ...(context.able === undefined ? {} : { able: context.able }),
  }
}
