import { chmodSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/open.ts"
import { LoginFile, type Login } from "./oauth-file.ts"

const url = "https://files.example/mcp"
const folderOf = () => join(temporaryFolder(), "logins")

test("of many who change a sign-in at once, nobody's change is lost, and whoever looks sees the last", async () => {
  const folder = folderOf()
  let server = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(2), { minLength: 2, maxLength: 4 }), async (who) => {
      const name = `server${server++}`
      const files = [0, 1, 2].map(() => new LoginFile(folder, name, url))
      const add = (one: number, index: number) =>
        files[one]!.change(async ({ asked = "" }) => {
          await new Promise((resolve) => setImmediate(resolve))
          return { asked: `${asked}${index} ` }
        })
      await Promise.all(who.map(add))
      const said = files.map((file) => file.read().asked)
      expect(new Set(said).size).toBe(1)
      expect(said[0]!.trim().split(" ").sort()).toEqual(who.map((_, index) => String(index)).sort())
    }),
    { numRuns: 100 },
  )
  expect(readdirSync(folder).filter((name) => !name.endsWith(".json"))).toEqual([])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test("a change that fails leaves what was there, and lets the next one in", async () => {
  const file = new LoginFile(folderOf(), "files", url)
  await file.change(() => ({ asked: "read" }))
  await expect(file.change(() => Promise.reject(new Error("away")))).rejects.toThrow("away")
  expect(await file.change(() => undefined)).toEqual({ asked: "read" })
})

test("the lock of a process that died is broken, once it is old enough", async () => {
  const file = new LoginFile(folderOf(), "files", url)
  await file.change(() => ({ asked: "read" }))
  writeFileSync(`${file.path}.lock`, "of the dead")
  const longAgo = new Date(Date.now() - 61_000)
  utimesSync(`${file.path}.lock`, longAgo, longAgo)
  expect(await file.change(({ asked }) => ({ asked: `${asked} write` }))).toEqual({ asked: "read write" })
})

test.each<[string, [string, string]]>([
  ["another address", ["files", "https://other.example/mcp"]],
  ["another query", ["files", `${url}?a`]],
])("a sign-in does not count for %s", async (_, [name, other]) => {
  const folder = folderOf()
  await new LoginFile(folder, "files", url).change(() => ({ asked: "read" }))
  expect(new LoginFile(folder, name, other).read()).toEqual({})
})

test.each<[string, (path: string) => void]>([
  ["others can read", (path) => chmodSync(path, 0o640)],
  ["is damaged", (path) => writeFileSync(path, "{")],
])("a file that %s is not used", async (_, change) => {
  const file = new LoginFile(folderOf(), "files", url)
  await file.change((): Login => ({ asked: "read" }))
  expect(statSync(file.path).mode & 0o777).toBe(0o600)
  change(file.path)
  expect(() => new LoginFile(join(file.path, ".."), "files", url).read()).toThrow("Delete it")
})

test("a link in its place is not followed", async () => {
  const folder = folderOf()
  const file = new LoginFile(folder, "files", url)
  await file.change(() => ({ asked: "read" }))
  symlinkSync(file.path, join(folder, "linked.json"))
  expect(() => new LoginFile(folder, "linked", url).read()).toThrow(
    "is a link, and must be a file of your own. Delete it.",
  )
})
