import type { Calls } from "./state/calls.ts"
import type { Ports } from "./state/ports.ts"

/** Returns an artifact to the agent that owns it, and to no other. The read is written to the audit log first. */
export function artifactsApi({ organisation, artifacts, recorder, settings, now }: Ports): Calls["artifact"] {
  return async (agentId, ref) => {
    const who = organisation.view(agentId)
    const found = who === undefined || who.frozen !== undefined ? undefined : await artifacts.get(ref)
    if (found?.agentId !== agentId) return undefined
    const ids = { callId: found.callId ?? found.id, at: now(), agentId, tool: "artifact" }
    await recorder.write({ kind: "note", ...ids, text: `Read artifact ${found.id}.` }, settings.durability)
    return found
  }
}
