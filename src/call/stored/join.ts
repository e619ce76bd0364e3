import type { CallRow } from "../../core/call.ts"
import { Ending } from "../../core/ending.ts"
import type { Ports } from "../state/ports.ts"
import { endAbandoned, hasNoLiveOwner } from "./abandoned.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { callDigest, claim, ticketOf } from "./rows.ts"
import { announceWaiting, Detached, Joined, outerClock, waitUntil, type ActiveCall } from "../state/active-call.ts"
import { abortedEnding } from "../state/stopped-endings.ts"

/**
 * The store already has a row for this call. If its process is gone, this call takes the row over ("claimed"). Otherwise
 * it waits for the ending and throws it as `Joined`. "again" means that the other caller cancelled its call, so this one
 * needs a row of its own.
 */
export async function join(
  call: ActiveCall,
  existing: CallRow,
  digest: string,
  ports: Ports,
): Promise<"claimed" | "again"> {
  if (existing.tool !== call.tool?.name || existing.inputDigest !== digest) {
    throw new Ending(
      "key_conflict",
      `The key '${existing.key}' was used for another call in this session. Use a new key for a new call.`,
    )
  }
  let isAnnounced = false
  for (let row: CallRow | undefined = existing; row !== undefined; row = await ports.calls.get(existing.id)) {
    if (row.state === "ended" && row.result !== null) {
      if (row.key === null && row.result.code === "aborted" && row.id !== call.callId) return "again"
      throw new Joined(row.result, row.id)
    }
    if (await hasNoLiveOwner(row, ports)) {
      const ended = await endAbandoned(row, ports)
      if (ended !== undefined) throw new Joined(ended, row.id)
      if (row.state !== "started" && row.workspace === ports.settings.workspace && (await claim(call, row, ports)))
        return "claimed"
    }
    const isForPeople = row.state === "waiting" || row.state === "held"
    if (isForPeople && !isAnnounced) {
      isAnnounced = true
      const { id: callId, tool: toolName, agentId, deadline } = row
      announceWaiting(call, { callId, toolName, agentId, until: deadline ?? Infinity }, ports)
    }
    call.order?.leave()
    // It may be a call of the same batch, which would wait for this one in turn. One that was edited is asked again.
    if (row.state !== "waiting" && row.answer?.edit === undefined) call.batch?.settle()
    if (call.request.signal?.aborted) throw abortedEnding(call)
    const now = ports.now()
    // Only people may take longer than the caller waits.
    const until = isForPeople ? waitUntil(call) : Infinity
    if (ports.closing.aborted || now >= until) throw new Detached(ticketOf(row))
    const pause = Math.min(1000, until - now)
    if (isForPeople) outerClock(call)?.countWaiting(1)
    await ports.calls.waitForChange(row.id, Math.max(1, pause), [call.request.signal, ports.closing])
    if (isForPeople) outerClock(call)?.countWaiting(-1)
  }
  throw new Ending("interrupted", "The call that this one joined no longer exists. Call again.")
}

/**
 * Takes over the same call, without a key, that has run and whose held result nobody waits for any more. If nothing is left
 * to wait for, throws its ending as `Joined`.
 */
export async function claimHeld(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
): Promise<boolean> {
  const { agentId } = call.request
  const inputDigest = callDigest(call, input, ports)
  for (const row of await ports.calls.list({ states: ["held", "released"], agentId, inputDigest })) {
    const isSame = row.key === null && row.tool === tool.name
    if (!isSame || !(await hasNoLiveOwner(row, ports))) continue
    const ended = await endAbandoned(row, ports)
    if (ended !== undefined) throw new Joined(ended, row.id)
    if (await claim(call, row, ports)) return true
  }
  return false
}
