import type { Documents } from "../core/documents.ts"
import type { Masker } from "./masker.ts"
import type { Recorder } from "../store/port.ts"
import type { Durability } from "../core/reason.ts"

/** Documents that write a note into the audit log for every change. Its call id is `<kind>:<id>`, as in `role:dev`. */
export function auditedDocuments(
  documents: Documents,
  { recorder, masker, durability }: { recorder: Recorder; masker: Masker; durability: Durability },
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
    async put(document, by, expected, options) {
      const { kind, id, live = true } = document
      const before = documents.get(kind, id)
      const put = await documents.put(document, by, expected, options)
      if (!put.written) return put
      const { tokenHash: _token, pinHash: _pin, ...body } = document.body as Record<string, unknown>
      const what = live ? (before?.live === true ? "changed" : "made") : "ended"
      const text = `${kind} ${what}: ${masker.mask(body).text}`
      await recorder.write({ kind: "note", callId: `${kind}:${id}`, at: Date.now(), by, text }, durability)
      return put
    },
  }
}
