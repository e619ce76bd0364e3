import type { AnswerValue } from "../../core/approval.ts"
import type { CallRequest } from "../../core/call.ts"
import type { Organisation } from "../../org/organisation.ts"
import type { Permit, Ports } from "../state/ports.ts"
import { isTicket } from "../../core/result.ts"
import type { CallArtifacts, RegisteredTool, ToolContext } from "../../core/tool.ts"
import { requireAgent, isApproved, mayBeHeld, type ActiveCall, type CallTool } from "../state/active-call.ts"

const settled = { reason: "The call has ended." }

/** The context that a running tool gets. Signal and artifacts are created on demand, because most tools use neither. */
export class RunContext implements ToolContext {
  readonly callId: string
  readonly sessionId: string
  readonly taskId: string | undefined
  readonly userId: string | undefined
  readonly allowedPaths: readonly string[] | undefined
  readonly approved: boolean
  readonly answer: AnswerValue | undefined
  readonly #active: ActiveCall
  readonly #tool: RegisteredTool
  readonly #ports: Ports
  readonly #callTool: CallTool
  readonly #permit: Permit
  #controller: AbortController | undefined
  #artifacts: CallArtifacts | undefined
  /** Set once the call is over for this tool. */
  #over: { reason: unknown } | undefined

  constructor(call: ActiveCall, tool: RegisteredTool, ports: Ports, callTool: CallTool, permit: Permit) {
    this.callId = call.callId
    this.sessionId = call.sessionId
    this.taskId = call.request.taskId
    this.userId = call.request.userId
    this.allowedPaths = call.request.allowedPaths
    this.approved = isApproved(call)
    this.answer = tool.question === undefined ? undefined : call.row?.answer?.value
    this.#active = call
    this.#tool = tool
    this.#ports = ports
    this.#callTool = callTool
    this.#permit = permit
  }

  get agent(): ToolContext["agent"] {
    const { agent, role, department } = requireAgent(this.#active)
    return { id: agent.id, role: role.name, department }
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#over !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#over.reason)
    return this.#controller.signal
  }

  get touches(): ToolContext["touches"] {
    return this.#active.declared
  }

  get mayRead(): ToolContext["mayRead"] {
    const { policy, settings } = this.#ports
    const { input } = this.#active.request
    return policy.searchFilter({
      who: requireAgent(this.#active),
      tool: this.#tool,
      input,
      workspace: settings.workspace,
    })
  }

  get artifacts(): CallArtifacts {
    const { taskId, callId } = this
    const { agentId } = this.#active
    const { artifacts, organisation } = this.#ports
    const sharesWith = (owner: string) => isAbove(owner, agentId, organisation) || isAbove(agentId, owner, organisation)
    this.#artifacts ??= artifacts.forCall({ agentId, taskId, callId, sharesWith })
    return this.#artifacts
  }

  // These are getters, so that a tool may destructure the context.

  get emit(): ToolContext["emit"] {
    return (chunk) => {
      if (this.#over !== undefined) return
      this.#ports.recorder.flush()
      const peopleOnly = mayBeHeld(this.#active)
      if (!peopleOnly) this.#active.request.caller?.onOutput?.(chunk)
      this.#ports.emit({
        type: "TOOL_CALL_OUTPUT",
        at: this.#ports.now(),
        callId: this.callId,
        toolName: this.#tool.name,
        agentId: this.#active.request.agentId,
        chunk,
        peopleOnly,
      })
    }
  }

  get log(): ToolContext["log"] {
    return (message) => this.#ports.logger.info(`${this.#tool.name}: ${message}`, { callId: this.callId })
  }

  get addMetadata(): ToolContext["addMetadata"] {
    return (fields) => {
      if (this.#over === undefined) this.#active.toolMetadata = { ...this.#active.toolMetadata, ...fields }
    }
  }

  get sendRequest(): ToolContext["sendRequest"] {
    const send = this.#caller?.sendRequest
    if (send === undefined) return undefined
    return (...request) => {
      this.#ports.recorder.flush()
      return this.#whileWaiting(() => send(...request))
    }
  }

  get able(): ToolContext["able"] {
    return this.#caller?.able
  }

  get call(): ToolContext["call"] {
    return async (tool, input, { intent } = {}) => {
      if (this.#tool.kind !== "composite" && this.#tool.questionTool !== tool) {
        throw new Error(`Tool ${this.#tool.name} calls tools but is not defined with kind "composite". Define it so.`)
      }
      const { agentId, taskId, userId, allowedPaths, takeSubCall } = this.#active.request
      const caller = this.#caller
      const about = { agentId, taskId, userId, allowedPaths, takeSubCall, caller }
      const request = { ...about, tool, input, intent, signal: this.signal }
      const result = await this.#whileWaiting(() => this.#callTool(request, this.#ports, { parent: this.#active }))
      if (isTicket(result)) throw new Error("A sub-call waits for its ending and never gets a ticket.")
      return result
    }
  }

  /** None while the result may be held back: what the tool asks could reveal what it found. */
  get #caller(): CallRequest["caller"] {
    return mayBeHeld(this.#active) ? undefined : this.#active.request.caller
  }

  /** While the tool waits for somebody else, another call of its agent may run in its place. */
  async #whileWaiting<T>(wait: () => Promise<T>): Promise<T> {
    this.#permit.changeWaiting(1)
    try {
      return await wait()
    } finally {
      this.#permit.changeWaiting(-1)
    }
  }

  /** Notes that the result is the streamed chunks put together, so that watchers have seen it. */
  markStreamed(): void {
    this.#active.resultNotes = { ...this.#active.resultNotes, streamed: true }
  }

  /** Aborts the signal and ignores output from now on. */
  end(reason: unknown): void {
    this.#over ??= { reason }
    if (this.#controller !== undefined && !this.#controller.signal.aborted) this.#controller.abort(reason)
  }

  /** Ignores output from now on, because the tool has settled. */
  settle(): void {
    this.#over ??= settled
  }
}

/** Reports whether one agent is above the other, also when one of them was terminated. */
function isAbove(upper: string, lower: string, organisation: Organisation): boolean {
  const seen = new Set<string>()
  for (
    let id: string | undefined = lower;
    id !== undefined && !seen.has(id);
    id = organisation.findAgent(id)?.parentId
  ) {
    if (id === upper && upper !== lower) return true
    seen.add(id)
  }
  return false
}
