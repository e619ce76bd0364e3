import type { Elsewhere } from "../../core/call.ts"
import type { Ports } from "../state/ports.ts"
import { Detached, type ActiveCall } from "../state/active-call.ts"
import { advance, requestText, sessionOf } from "../stored/rows.ts"

/**
 * Lets the caller run the tool itself. The start is written already. From now on no process has the call: whoever the
 * caller reports to ends it, and without a report its time does.
 */
export async function handOver(call: ActiveCall, { limitMs }: Elsewhere, input: unknown, ports: Ports): Promise<never> {
  const at = call.startedAt ?? ports.now()
  const until = at + limitMs
  await advance(call, ports, {
    state: "started",
    owner: "",
    // A call that was approved in one session may be made again in the next.
    sessionId: sessionOf(call),
    deadline: until,
    request: requestText(call, { at, release: call.release, holds: call.holds, ask: call.asksElsewhere }),
  })
  const run = { input, edited: call.ranInput !== undefined, note: call.approvalNote, ask: call.asksElsewhere }
  throw new Detached({ callId: call.callId, state: "started", until, run })
}
