import type { Documents } from "../model/documents.ts"
import type { Masker, Recorder } from "../model/ports.ts"
import type { Durability } from "../model/record.ts"

/** The documents with a note in the record for every change made here: `role:<id>` tells its story as a call's id does. */
export function recordedDocuments(
  documents: Documents,
  { recorder, masker, grade }: { recorder: Recorder; masker: Masker; grade: Durability },
): Documents {
  return {
    get version() {
      return documents.version
    },
    get digest() {
      return documents.digest
    },
    all: (kind) => documents.all(kind),
    get: (kind, id) => documents.get(kind, id),
    refresh: () => documents.refresh(),
    onChange: (listener) => documents.onChange(listener),
    async put(given, by, expected) {
      const { kind, id, live = true } = given
      const before = documents.get(kind, id)
      const put = await documents.put(given, by, expected)
      if (!put.kept) return put
      const { tokenHash: _secret, ...body } = given.body as Record<string, unknown>
      const what = live ? (before?.live === true ? "changed" : "made") : "ended"
      const text = `${kind} ${what}: ${masker.mask(body).text}`
      await recorder.keep({ kind: "note", callId: `${kind}:${id}`, at: Date.now(), by, text }, grade)
      return put
    },
  }
}
