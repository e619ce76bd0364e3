import { chmodSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../testing/test-app.ts"
import { LoginFile, type Login } from "./oauth-file.ts"

const url = "https://files.example/mcp"
const folderOf = () => join(temporaryFolder(), "logins")

test("a change that fails leaves the old content and releases the lock", async () => {
  const file = new LoginFile(folderOf(), "files", url)
  await file.change(() => ({ asked: "read" }))
  await expect(file.change(() => Promise.reject(new Error("away")))).rejects.toThrow("away")
  expect(await file.change(() => undefined)).toEqual({ asked: "read" })
})

test("the lock of a process that died is removed once it is old enough", async () => {
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
])("a login is not valid for %s", async (_, [name, other]) => {
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

test("a symbolic link is not followed", async () => {
  const folder = folderOf()
  const file = new LoginFile(folder, "files", url)
  await file.change(() => ({ asked: "read" }))
  symlinkSync(file.path, join(folder, "linked.json"))
  expect(() => new LoginFile(folder, "linked", url).read()).toThrow(
    "is a link, but it must be a regular file. Delete it.",
  )
})
