import fc from "fast-check"
import { expect, test } from "vitest"
import type { NewRole } from "./organisation-admin.ts"
import { openDatabase } from "../store/sqlite/database.ts"
import { databaseFile } from "../testing/test-app.ts"
import { ann, directoryOver, groupIds, openDirectory } from "./testing/open-directory.ts"

test("law: a role reads the same after the file is opened again", async () => {
  const file = await databaseFile()
  const { directory } = await openDirectory({}, file)
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 })
  const some: fc.Arbitrary<Partial<NewRole>> = fc.record(
    {
      rolePrompt: fc.string({ unit: "binary" }),
      toolGroups: fc.option(fc.subarray(groupIds)),
      department: text,
      level: fc.double({ noNaN: true, noDefaultInfinity: true }).map((level) => (Object.is(level, -0) ? 0 : level)),
      dialect: fc.constantFrom("native", "claude", "classic"),
      pins: fc.dictionary(
        text.filter((name) => name !== "__proto__"),
        text,
      ),
      llmServiceId: fc.option(text),
    },
    { requiredKeys: [] },
  )
  let run = 0
  await fc.assert(
    fc.asyncProperty(some, some, async (first, then) => {
      const { role } = await directory.createRole({ name: `role ${run++}`, ...first }, ann)
      const { role: changed } = await directory.updateRole(role.id, then, ann)
      const database = await openDatabase(file)
      const reopened = directoryOver(database).directory.findRole(role.id)
      database.close()
      expect(reopened).toEqual({ ...changed, source: "store" })
      const groups = then.toolGroups === undefined ? first.toolGroups : then.toolGroups
      expect(changed.toolGroups).toEqual(groups ?? null)
    }),
    { numRuns: 100 },
  )
})
