import type { CallRow } from "../model/call.ts"
import { Ending } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import { endAbandoned, nobodyWalks } from "./abandoned.ts"
import { ticketOf } from "./answer.ts"
import { claim } from "./states.ts"
import { aborted, Detached, Joined, tellWaiting, type Walk } from "./walk.ts"

/**
 * Another row already stands for this call. Goes on with it when nobody walks it any more; otherwise waits for its
 * ending and throws it as `Joined`. *again* means that whoever made the call cancelled it, which is no answer to us.
 */
export async function join(walk: Walk, existing: CallRow, digest: string, ports: Ports): Promise<"claimed" | "again"> {
  if (existing.tool !== walk.tool?.name || existing.inputDigest !== digest) {
    throw new Ending(
      "key_conflict",
      `The key '${existing.key}' was used for another call in this session. Use a new key for a new call.`,
    )
  }
  let isTold = false
  for (let row: CallRow | undefined = existing; row !== undefined; row = await ports.calls.get(existing.id)) {
    if (row.state === "ended" && row.result !== null) {
      if (row.key === null && row.result.code === "aborted" && row.id !== walk.callId) return "again"
      throw new Joined(row.result, row.id)
    }
    if (await nobodyWalks(row, ports)) {
      const ended = await endAbandoned(row, ports)
      if (ended !== undefined) throw new Joined(ended, row.id)
      if (row.state !== "started" && row.workspace === ports.settings.workspace && (await claim(walk, row, ports)))
        return "claimed"
    }
    if (!isTold && (row.state === "waiting" || row.state === "held")) {
      isTold = true
      const { id: callId, tool: toolName, agentId, deadline } = row
      tellWaiting(walk, { callId, toolName, agentId, until: deadline ?? Infinity }, ports)
    }
    if (walk.request.signal?.aborted) throw aborted(walk)
    const now = ports.now()
    if (ports.closing.aborted || (walk.patienceUntil !== undefined && now >= walk.patienceUntil))
      throw new Detached(ticketOf(row))
    const pause = Math.min(1000, (walk.patienceUntil ?? Infinity) - now)
    await ports.calls.waitForChange(row.id, Math.max(1, pause), [walk.request.signal, ports.closing])
  }
  throw new Ending("interrupted", "The call this one joined is gone. Call again.")
}
