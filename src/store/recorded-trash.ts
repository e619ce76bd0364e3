import type { Trash, TrashDoor } from "../model/files.ts"
import type { Masker, Recorder } from "../model/ports.ts"
import type { Durability } from "../model/record.ts"

/** The trash with a note in the record of everything that a person brings back. */
export function recordedTrash(
  trash: Trash,
  { recorder, masker, grade }: { recorder: Recorder; masker: Masker; grade: Durability },
): TrashDoor {
  return {
    list: () => trash.list(),
    find: (id) => trash.find(id),
    async restore(id, by) {
      const item = await trash.restore(id)
      const { path, agentId, taken } = item
      const from = taken === undefined ? `deleted by ${agentId}` : `made by a command of ${agentId || "nobody known"}`
      const text = `trash restored: ${masker.text(path)}, ${from}`
      await recorder.keep({ kind: "note", callId: `trash:${item.id}`, at: Date.now(), by, text }, grade)
      return item
    },
  }
}
