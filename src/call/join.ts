import type { CallRow } from "../model/call.ts"
import { Ending } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import type { ToolResult } from "../model/result.ts"
import { ticketOf } from "./answer.ts"
import { claim } from "./states.ts"
import { aborted, Detached, Joined, type Walk } from "./walk.ts"

/**
 * Another row already stands for this call. Goes on with it when nobody walks it any more; otherwise waits for its
 * ending and throws it as `Joined`.
 */
export async function join(walk: Walk, existing: CallRow, digest: string, ports: Ports): Promise<void> {
  if (existing.tool !== walk.tool?.name || existing.inputDigest !== digest) {
    throw new Ending(
      "key_conflict",
      `The key '${existing.key}' was used for another call in this session. Use a new key for a new call.`,
    )
  }
  for (let row: CallRow | undefined = existing; row !== undefined; row = await ports.calls.get(existing.id)) {
    if (row.state === "ended") throw new Joined(row.result ?? forgotten(row, ports), row.id)
    if (nobodyWalks(row, ports)) {
      if (row.state === "started") throw new Joined(await interrupt(row, ports), row.id)
      if (await claim(walk, row, ports)) return
    }
    if (walk.request.signal?.aborted) throw aborted(walk)
    const now = ports.now()
    if (ports.closing() || (walk.patienceUntil !== undefined && now >= walk.patienceUntil)) throw new Detached(ticketOf(row))
    const pause = Math.min(250, (walk.patienceUntil ?? Infinity) - now)
    await ports.calls.waitForChange(row.id, Math.max(1, pause), walk.request.signal)
  }
  throw new Ending("interrupted", "The call this one joined is gone. Call again.")
}

export function nobodyWalks(row: CallRow, ports: Ports): boolean {
  return row.owner === "" || (row.owner !== ports.owner && !ports.alive(row.owner))
}

/** Ends a call whose process died while the tool ran. It is never run again blindly. */
export async function interrupt(row: CallRow, ports: Ports): Promise<ToolResult> {
  const result = endedAs(row, "The process ended while the tool ran; what it did is not known. Check, then call again.", ports)
  const { state, owner, epoch } = row
  await ports.calls.swap(row.id, { state, owner, epoch }, { state: "ended", input: null, result })
  return (await ports.calls.get(row.id))?.result ?? result
}

function forgotten(row: CallRow, ports: Ports): ToolResult {
  return endedAs(row, "The call ended and its result is no longer kept. Look at its record.", ports)
}

function endedAs(row: CallRow, error: string, ports: Ports): ToolResult {
  return {
    callId: row.id,
    toolName: row.tool,
    version: "",
    status: "error",
    success: false,
    code: "interrupted",
    error,
    startedAt: row.createdAt,
    completedAt: ports.now(),
    metadata: { ran: true },
  }
}
