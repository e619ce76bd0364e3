import type { AnswerValue } from "../model/approval.ts"
import type { CallRequest } from "../model/call.ts"
import type { Ports } from "../model/ports.ts"
import { isTicket, type Ticket, type ToolResult } from "../model/result.ts"
import type { ArtifactShelf, RegisteredTool, ToolContext } from "../model/tool.ts"
import { agentOf, mayBeHeld, type Walk, type WalkOptions } from "./walk.ts"

/** The walk itself, handed down so that a composite tool's calls walk like any other. */
export type CallTool = (request: CallRequest, ports: Ports, options: WalkOptions) => Promise<ToolResult | Ticket>

const settled = { reason: "The call has ended." }

/** What a running tool is given. Most tools never look at the signal or the shelf, so both are made on demand. */
export class RunContext implements ToolContext {
  readonly callId: string
  readonly sessionId: string
  readonly taskId: string | undefined
  readonly userId: string | undefined
  readonly allowedPaths: readonly string[] | undefined
  readonly answer: AnswerValue | undefined
  readonly #walk: Walk
  readonly #tool: RegisteredTool
  readonly #ports: Ports
  readonly #callTool: CallTool
  #controller: AbortController | undefined
  #shelf: ArtifactShelf | undefined
  #over: { reason: unknown } | undefined

  constructor(walk: Walk, tool: RegisteredTool, ports: Ports, callTool: CallTool) {
    this.callId = walk.callId
    this.sessionId = walk.sessionId
    this.taskId = walk.request.taskId
    this.userId = walk.request.userId
    this.allowedPaths = walk.request.allowedPaths
    this.answer = walk.answer
    this.#walk = walk
    this.#tool = tool
    this.#ports = ports
    this.#callTool = callTool
  }

  get agent(): ToolContext["agent"] {
    const { agent, role, department } = agentOf(this.#walk)
    return { id: agent.id, role: role.name, department }
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#over !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#over.reason)
    return this.#controller.signal
  }

  get mayRead(): ToolContext["mayRead"] {
    const { policy, settings } = this.#ports
    const { input } = this.#walk.request
    return policy.sieve({ who: agentOf(this.#walk), tool: this.#tool, input, workspace: settings.workspace })
  }

  get artifacts(): ArtifactShelf {
    const { taskId, callId } = this
    this.#shelf ??= this.#ports.artifacts.shelf({ agentId: this.#walk.request.agentId, taskId, callId })
    return this.#shelf
  }

  // Getters, so that a tool may take them out of the context by name.

  get emit(): ToolContext["emit"] {
    return (chunk) => {
      if (this.#over !== undefined) return
      const peopleOnly = mayBeHeld(this.#walk)
      if (!peopleOnly) this.#walk.request.caller?.onOutput?.(chunk)
      this.#ports.emit({
        type: "TOOL_CALL_OUTPUT",
        at: this.#ports.now(),
        callId: this.callId,
        toolName: this.#tool.name,
        agentId: this.#walk.request.agentId,
        chunk,
        peopleOnly,
      })
    }
  }

  get log(): ToolContext["log"] {
    return (message) => this.#ports.logger.info(`${this.#tool.name}: ${message}`, { callId: this.callId })
  }

  get ask(): ToolContext["ask"] {
    const ask = this.#caller?.ask
    return ask && ((...given) => this.#standing(() => ask(...given)))
  }

  get able(): ToolContext["able"] {
    return this.#caller?.able
  }

  get call(): ToolContext["call"] {
    return async (tool, input) => {
      if (this.#tool.kind !== "composite" && this.#tool.asks !== tool) {
        throw new Error(`Tool ${this.#tool.name} calls tools but is not defined with kind "composite". Define it so.`)
      }
      const { agentId, taskId, userId, allowedPaths } = this.#walk.request
      const caller = this.#caller
      const request = { agentId, tool, input, taskId, userId, allowedPaths, caller, signal: this.signal }
      const result = await this.#standing(() => this.#callTool(request, this.#ports, { parent: this.#walk }))
      if (isTicket(result)) throw new Error("A sub-call waits for its ending and never gets a ticket.")
      return result
    }
  }

  /** What a tool asks may tell what it found, so a call whose result may be held back asks nothing at the model's side. */
  get #caller(): CallRequest["caller"] {
    return mayBeHeld(this.#walk) ? undefined : this.#walk.request.caller
  }

  /** Who waits for somebody else keeps no other call of its agent from running. */
  async #standing<T>(wait: () => Promise<T>): Promise<T> {
    const { permit } = this.#walk
    permit?.stand(1)
    try {
      return await wait()
    } finally {
      permit?.stand(-1)
    }
  }

  /** The result is the chunks put together: whoever watched has seen it. */
  markStreamed(): void {
    this.#walk.streamed = true
  }

  /** Aborts whatever still listens and makes late output silent. */
  end(reason: unknown): void {
    this.#over ??= { reason }
    if (this.#controller !== undefined && !this.#controller.signal.aborted) this.#controller.abort(reason)
  }

  /** The tool has settled: nothing it kept of the context has an effect any more. */
  settle(): void {
    this.#over ??= settled
  }
}
