import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/test-app.ts"
import { LoginFile } from "./oauth-file.ts"

const url = "https://files.example/mcp"
const folderOf = () => join(temporaryFolder(), "logins")

test("no change is lost when many change a login at once, and all read the last one", async () => {
  const folder = folderOf()
  let server = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2), { minLength: 2, maxLength: 4 }), async (writers) => {
      const name = `server${server++}`
      const files = [0, 1, 2].map(() => new LoginFile(folder, name, url))
      const add = (writer: number, index: number) =>
        files[writer]!.change(async ({ asked = "" }) => {
          await new Promise((resolve) => setImmediate(resolve))
          return { asked: `${asked}${index} ` }
        })
      await Promise.all(writers.map(add))
      const scopes = files.map((file) => file.read().asked)
      expect(new Set(scopes).size).toBe(1)
      expect(scopes[0]!.trim().split(" ").sort()).toEqual(writers.map((_, index) => String(index)).sort())
    }),
    { numRuns: 100 },
  )
  expect(readdirSync(folder).filter((name) => !name.endsWith(".json"))).toEqual([])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})
