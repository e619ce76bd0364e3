import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openReadMarkLog } from "./read-mark-log.ts"

const never = { batchMs: 1_000_000 }

test("law: any text is found again as it was added", () => {
  const path = join(temporaryFolder(), "marks")
  const [one, other] = [openReadMarkLog(path, never), openReadMarkLog(path, never)]
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("a\nb", '"', "\\", "\0", "\r\n", "\u2028"))
  const anyMark = fc.record({ agentId: text, real: text, version: text, at: fc.nat() })
  fc.assert(
    fc.property(fc.array(anyMark), (marks) => {
      for (const each of marks) one.add(each)
      one.close()
      expect([...other.readNew()]).toEqual(marks)
    }),
    { numRuns: 100 },
  )
})
