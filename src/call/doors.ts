import type { App } from "../model/app.ts"
import type { CallRequest } from "../model/call.ts"
import { errorOf } from "../model/errors.ts"
import type { Ports } from "../model/ports.ts"
import { isTicket, type Ticket, type ToolResult } from "../model/result.ts"
import { callTool } from "./call.ts"
import { callInOrder, type NeedsOf } from "./order.ts"
import { readRequest } from "./request.ts"

type Doors = Pick<App, "call" | "submit" | "resume" | "callMany" | "executeOrThrow">

/** The ways in. All of them walk. */
export function doors(ports: Ports, beforeFirst: () => void): Doors & { idle(): Promise<void> } {
  let inFlight = 0
  let isFirst = true
  let quiet: () => void = () => {}
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    if (ports.closing.aborted) throw new Error("Quartermaster is closed. Create a new one to call tools.")
    if (isFirst) {
      isFirst = false
      beforeFirst()
    }
    inFlight++
    try {
      return await work()
    } finally {
      if (--inFlight === 0) quiet()
    }
  }
  const call = async (request: CallRequest): Promise<ToolResult> => {
    const ended = await counted(() => callTool(request, ports))
    return isTicket(ended) ? leftWaiting(ended, request) : ended
  }
  const needsOf: NeedsOf = ({ agentId, tool }) => {
    const found = ports.tools.resolve(tool, ports.organisation.view(agentId))
    return found && { name: found.name, needs: found.dependsOn ?? [] }
  }
  return {
    /** Resolves when no call is on its way. */
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise<void>((resolve) => (quiet = resolve))),
    call,
    submit: (request, { waitMs }) => counted(() => callTool(request, ports, { patienceMs: waitMs })),
    async resume(callId, { waitMs, ...by } = {}): Promise<ToolResult | Ticket> {
      const { resume } = await import("./resume.ts")
      const ended = await counted(() => resume(callId, ports, waitMs, by))
      if (ended === undefined) throw new Error(`There is no call '${callId}' that waits or ended within the last day.`)
      return ended
    },
    callMany: (requests) => callInOrder(requests.map(asked), needsOf, ({ given }) => call(given)),
    async executeOrThrow<T>(request: CallRequest): Promise<T> {
      const ended = await call(request)
      if (!ended.success) throw errorOf(ended)
      return ended.result as T
    },
  }
}

/** A request in a batch, with what its order depends on. Callers without types send anything. */
function asked(given: CallRequest): { given: CallRequest; agentId: string; tool: string } {
  const { agentId, tool } = readRequest(given).request
  return { given, agentId, tool }
}

/** What a caller hears whose call still waits for a person when the house is closed. It has not ended. */
function leftWaiting({ callId }: Ticket, { tool }: CallRequest): ToolResult {
  const error = `Quartermaster was closed while call ${callId} waits for a person. Go on with resume(callId).`
  const metadata = { ran: false, waiting: true }
  return {
    callId,
    toolName: tool,
    version: "",
    status: "error",
    success: false,
    code: "aborted",
    error,
    startedAt: Date.now(),
    metadata,
  }
}
