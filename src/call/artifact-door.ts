import type { App } from "../model/app.ts"
import type { Ports } from "../model/ports.ts"

/** Gives out what an agent keeps, to that agent alone. That it was read is kept first. */
export function artifactDoor({ organisation, artifacts, recorder, settings, now }: Ports): App["artifact"] {
  return async (agentId, ref) => {
    const who = organisation.view(agentId)
    const found = who === undefined || who.frozen !== undefined ? undefined : await artifacts.get(ref)
    if (found?.agentId !== agentId) return undefined
    const about = { callId: found.callId ?? found.id, at: now(), agentId, tool: "artifact" }
    await recorder.keep({ kind: "note", ...about, text: `Read artifact ${found.id}.` }, settings.durability)
    return found
  }
}
