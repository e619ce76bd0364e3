import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"
import type { FileDiff } from "../../core/preview.ts"
import type { Files } from "../../platform/files/file-access.ts"
import type { FileChange } from "../../platform/undo/snapshots.ts"
import type { Undo, UndoRecord } from "../../platform/undo/undo.ts"
import { unifiedDiff } from "../workspace/diff.ts"

const regular = ["100644", "100755"]

/** Puts files back as they were before a call. A person sees the difference first, and files changed since are left. */
export const undoCall = (undo: Undo, files: Files) =>
  defineTool({
    name: "undo_call",
    group: "undo",
    category: "file",
    description:
      "Put the files that a call changed back as they were before it. Works for calls that ran without being asked about, for a week. Refused when one of the files was changed since.",
    effect: "write",
    permission: { dangerous: true },
    input: () => z.object({ call: z.string().min(1).describe("The id of the call to undo") }),
    output: () => z.object({ restored: z.array(z.string()), removed: z.array(z.string()) }),
    touches: ({ call }) =>
      undo.find(call).changes.map(({ path }) => ({ kind: "write" as const, what: path, opens: true })),

    async preview({ call }) {
      const record = unchangedSince(undo, call)
      return {
        kind: "diff",
        files: await Promise.all(record.changes.map((change) => diffBack(undo, files, record, change))),
      }
    },

    async execute({ call }, { agent, allowedPaths }) {
      const record = unchangedSince(undo, call)
      const within = files.within(allowedPaths)
      const odd = record.changes.find(({ before, after }) => [before, after].some((state) => state !== undefined && !regular.includes(state.mode))) // prettier-ignore
      if (odd !== undefined)
        throw failure(`'${odd.path}' is a link, and links are not put back. Change it by hand, then undo the rest by hand too.`) // prettier-ignore
      const contents = await Promise.all(record.changes.map((change) => undo.contentBefore(record, change)))
      const restored: string[] = []
      const removed: string[] = []
      for (const [index, { path, before }] of record.changes.entries()) {
        if (before === undefined) {
          await within.trash(path, agent.id)
          removed.push(path)
        } else {
          await within.write(path, contents[index]!)
          restored.push(path)
        }
      }
      return { restored, removed }
    },
  })

/** Throws where a file is not as the call left it, because somebody else's work would be lost. */
function unchangedSince(undo: Undo, call: string): UndoRecord {
  const record = undo.find(call)
  const changed = undo.changedSince(record)
  if (changed.length === 0) return record
  throw failure(
    `Not undone, because what the call left was changed since: ${changed.slice(0, 20).join(", ")}${changed.length > 20 ? " and others" : ""}. Look at 'git diff' and change these files by hand.`,
    { toolCode: "changed_since" },
  )
}

async function diffBack(undo: Undo, files: Files, record: UndoRecord, change: FileChange): Promise<FileDiff> {
  const before = await undo.contentBefore(record, change)
  const now = change.after === undefined ? Buffer.alloc(0) : await readNow(files, change.path)
  const { text, additions, deletions } = await unifiedDiff(change.path, now.toString("utf8"), before.toString("utf8"))
  return { path: change.path, diff: text, added: additions, removed: deletions }
}

async function readNow(files: Files, path: string): Promise<Buffer> {
  const file = await files.open(path)
  try {
    return await file.readAll(64 * 1024 * 1024)
  } finally {
    await file.close()
  }
}
