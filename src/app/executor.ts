import type { Quartermaster } from "./quartermaster.ts"
import type { CallRequest } from "../core/call.ts"
import type { ToolResult } from "../core/result.ts"
import type { RegisteredTool, Tool, TypedTool } from "../core/tool.ts"
import type { AnyTool } from "../registry/recognise-tool.ts"
import type { RegisterOptions } from "../registry/registry.ts"

/** A call that a model asks for. */
export interface ToolCall {
  name: string
  /** An object, or its JSON text as OpenAI sends it. */
  arguments: unknown
}

type CallOptions = Omit<CallRequest, "agentId" | "tool" | "input">

/** The registry for new tools. */
interface Register {
  register(tool: AnyTool, options?: RegisterOptions): RegisteredTool
}

/** Calls tools for one agent. Every call takes every step of the lifecycle. */
export class ToolExecutor {
  readonly #app: Pick<Quartermaster, "call" | "callMany">
  readonly #registry: Register
  readonly #agentId: string

  constructor(app: Pick<Quartermaster, "call" | "callMany">, registry: Register, agentId: string) {
    this.#app = app
    this.#registry = registry
    this.#agentId = agentId
  }

  register(tool: AnyTool, options?: RegisterOptions): RegisteredTool {
    return this.#registry.register(tool, options)
  }

  /** Takes a tool's name, or the tool itself for a typed result. */
  execute<Input, Output>(
    tool: TypedTool<Input, Output>,
    args: NoInfer<Input>,
    more?: CallOptions,
  ): Promise<ToolResult<Output>>
  execute(name: string, args: unknown, more?: CallOptions): Promise<ToolResult>
  execute(tool: string | Tool, args: unknown, more: CallOptions = {}): Promise<ToolResult> {
    const name = typeof tool === "string" ? tool : tool.name
    return this.#app.call({ ...more, agentId: this.#agentId, tool: name, input: args })
  }

  /** Makes the calls in parallel, as far as the limits of the agent allow. The results are in the order of the calls. */
  executeMany(calls: readonly ToolCall[]): Promise<ToolResult[]> {
    return this.#app.callMany(calls.map((call) => ({ agentId: this.#agentId, tool: call.name, input: call.arguments })))
  }
}
