import type { Trash, TrashAdmin } from "../platform/files/file-access.ts"
import type { Masker } from "./masker.ts"
import type { Recorder } from "../store/port.ts"
import type { Durability } from "../core/reason.ts"

/** The trash, with a note in the audit log for everything a person restores. */
export function auditedTrash(
  trash: Trash,
  { recorder, masker, durability }: { recorder: Recorder; masker: Masker; durability: Durability },
): TrashAdmin {
  return {
    list: () => trash.list(),
    find: (id) => trash.find(id),
    async restore(id, by) {
      const item = await trash.restore(id)
      const { path, agentId, taken } = item
      const text = `trash restored: ${masker.text(path)}, ${taken === undefined ? "deleted by" : "made by a command of"} ${agentId || "an unknown agent"}`
      await recorder.write({ kind: "note", callId: `trash:${item.id}`, at: Date.now(), by, text }, durability)
      return item
    },
  }
}
