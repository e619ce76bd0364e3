import fc from "fast-check"
import { expect, test } from "vitest"
import { verifyAuditLog } from "../../audit/verify.ts"
import { openWrittenStore, segmentText, setSegmentText } from "../../audit/testing/tampering.ts"

test("law: one changed character anywhere in the audit log is found", async () => {
  const { store } = await openWrittenStore()
  const { database, key } = store
  const places = (database.prepare("select place from segments").all() as { place: number }[]).map((row) => row.place)
  fc.assert(
    fc.property(
      fc.constantFrom(...places),
      fc.nat(),
      fc.constantFrom("x", "0", " ", "#", "\n"),
      (at, where, instead) => {
        const text = segmentText(database, at)
        const position = where % text.length
        fc.pre(text[position] !== instead)
        setSegmentText(database, at, text.slice(0, position) + instead + text.slice(position + 1))
        try {
          expect(verifyAuditLog(database, key)).toMatchObject({ ok: false })
        } finally {
          setSegmentText(database, at, text)
        }
      },
    ),
    { numRuns: 300 },
  )
  expect(verifyAuditLog(database, key)).toMatchObject({ ok: true })
})
