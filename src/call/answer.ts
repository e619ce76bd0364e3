import type { ApprovalRequest, ExecutionDecision } from "../model/approval.ts"
import type { Answer, CallRow } from "../model/call.ts"
import type { Ports } from "../model/ports.ts"
import type { Ticket } from "../model/result.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { agentOf, aborted, Detached, type Walk } from "./walk.ts"
import { tryAdvance } from "./states.ts"

type Show = (request: ApprovalRequest) => Promise<ExecutionDecision>

/**
 * Waits until a person has answered the stored call, here or at any other door, or until its deadline. The row is the
 * only truth: the dialog only writes an answer into it. Undefined means that nobody answered in time.
 */
export async function waitForAnswer(
  walk: Walk,
  tool: RegisteredTool,
  ports: Ports,
  show: Show | undefined,
): Promise<Answer | undefined> {
  const closing = new AbortController()
  walk.parent?.clock?.waiting(1)
  try {
    ask(walk, tool, ports, show, closing.signal)
    for (;;) {
      const row = await rowOf(walk, ports)
      if (row.answer !== null) {
        walk.row = row
        return row.answer
      }
      if (walk.request.signal?.aborted) throw aborted(walk)
      const now = ports.now()
      const until = row.deadline ?? Infinity
      if (now >= until) return undefined
      const impatient = ports.closing.aborted || (walk.patienceUntil !== undefined && now >= walk.patienceUntil)
      // Lost to an answer that came at this very moment: it is read in the next turn.
      if (impatient && (await tryAdvance(walk, ports, { owner: "" }))) throw new Detached(ticketOf(row))
      const pause = Math.min(until - now, (walk.patienceUntil ?? Infinity) - now, 250)
      await ports.calls.waitForChange(walk.callId, Math.max(1, pause), walk.request.signal)
    }
  } finally {
    walk.parent?.clock?.waiting(-1)
    closing.abort()
  }
}

async function rowOf(walk: Walk, ports: Ports): Promise<CallRow> {
  const row = await ports.calls.get(walk.callId)
  if (row === undefined || row.state === "ended" || row.owner !== ports.owner) throw aborted(walk)
  return row
}

function ask(walk: Walk, tool: RegisteredTool, ports: Ports, show: Show | undefined, signal: AbortSignal): void {
  const say = (approved: boolean, by: string, rejectReason?: string, persistDecision?: boolean) => {
    const answer: Answer = { approved, by, at: ports.now(), rejectReason, persistDecision }
    ports.calls.answer(walk.callId, answer).catch((error: unknown) => {
      ports.logger.error("An answer could not be kept; the call goes on waiting.", error)
    })
  }
  if (show === undefined) {
    if (ports.settings.unattended === "reject") say(false, "nobody", "Nobody is here to ask.")
    return
  }
  const { agent, role } = agentOf(walk)
  const request: ApprovalRequest = {
    callId: walk.callId,
    agentId: agent.id,
    role: role.name,
    tool: tool.name,
    reasons: walk.row?.asks ?? [],
    preview: walk.row?.preview ?? undefined,
    until: walk.row?.deadline ?? Infinity,
    signal,
  }
  Promise.resolve()
    .then(() => show(request))
    .then(
      (decision) => {
        if (!signal.aborted)
          say(decision?.approved === true, decision?.by ?? "adapter", decision?.rejectReason, decision?.persistDecision)
      },
      (error: unknown) => {
        if (signal.aborted) return
        say(
          false,
          "adapter",
          `The dialog ended without an answer (${error instanceof Error ? error.message : String(error)}).`,
        )
      },
    )
}

export function ticketOf(row: CallRow): Ticket {
  const state = row.state === "held" || row.state === "ready" ? row.state : "waiting"
  return { callId: row.id, state, until: row.deadline ?? Infinity }
}
