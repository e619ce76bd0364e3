import { relative, resolve } from "node:path"
import type { RegisteredTool } from "../../core/tool.ts"
import { undoNote } from "../../audit/undo-note.ts"
import type { ActiveCall } from "../state/active-call.ts"
import type { Ports } from "../state/ports.ts"

/** Notes the files of the workspace before a call that nobody was asked about changes some, so that it can be undone. */
export function noteBefore(call: ActiveCall, tool: RegisteredTool, ports: Ports): Promise<void> | undefined {
  return changesUnasked(call, tool) ? ports.undo.before(call.callId) : undefined
}

/** Writes into the audit log what the call has changed. */
export function noteAfter(call: ActiveCall, tool: RegisteredTool, ports: Ports): Promise<void> | undefined {
  return changesUnasked(call, tool) ? writeNote(call, ports, writtenFiles(call, ports)) : undefined
}

/** The same for a call whose tool its caller has run: its snapshot, where there is one, was taken when it started. */
export function noteReported(call: ActiveCall, ports: Ports): Promise<void> {
  return writeNote(call, ports)
}

async function writeNote(call: ActiveCall, ports: Ports, only?: readonly string[]): Promise<void> {
  const changed = await ports.undo.after(call.callId, only)
  if (changed.length === 0) return
  const ids = { callId: call.callId, agentId: call.request.agentId, tool: call.tool?.name }
  const text = ports.masker.text(undoNote(call.callId, changed), call.maskedInput?.hidden)
  await ports.recorder.write({ kind: "note", at: ports.now(), ...ids, text }, ports.settings.durability)
}

/** A person who agreed has seen what changes. */
function changesUnasked({ touches, row }: ActiveCall, { effect }: RegisteredTool): boolean {
  if (effect === "none" || effect === "read" || row?.answer?.value !== undefined || (row?.votes.length ?? 0) > 0)
    return false
  return touches.list.some(({ kind }) => kind === "write" || kind === "command")
}

/** The files that it says it writes. Undefined where a command may have written others. */
function writtenFiles({ touches }: ActiveCall, { settings: { workspace } }: Ports): string[] | undefined {
  if (!touches.proved || touches.list.some(({ kind }) => kind === "command")) return undefined
  const written = touches.list.filter(({ kind }) => kind === "write")
  return written.map(({ what }) => relative(workspace, resolve(workspace, what)).replaceAll("\\", "/"))
}
