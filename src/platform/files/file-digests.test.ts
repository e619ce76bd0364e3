import { execFileSync } from "node:child_process"
import { mkdirSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { fileDigests } from "./file-digests.ts"

const digestsIn = (folder: string) => (what: string) =>
  fileDigests({ list: [{ kind: "write", what }], proved: true }, folder).then((digests) => digests[what])

const changes: [string, (folder: string) => void, (folder: string) => void][] = [
  ["its content", (folder) => writeFileSync(join(folder, "a"), "one"), (folder) => writeFileSync(join(folder, "a"), "two")],
  ["that it is there", () => {}, (folder) => writeFileSync(join(folder, "a"), "")],
  ["a link in its place that leads nowhere yet", () => {}, (folder) => symlinkSync("/nowhere/else", join(folder, "a"))],
  [
    "a link to the same content elsewhere",
    (folder) => writeFileSync(join(folder, "a"), "same"),
    (folder) => {
      writeFileSync(join(folder, "b"), "same")
      unlinkSync(join(folder, "a"))
      symlinkSync(join(folder, "b"), join(folder, "a"))
    },
  ],
  ["a folder in its place", () => {}, (folder) => mkdirSync(join(folder, "a"))],
  [
    "a long file whose time was put back",
    (folder) => writeFileSync(join(folder, "a"), Buffer.alloc(11 * 1024 * 1024)),
    (folder) => {
      const { atime, mtime } = statSync(join(folder, "a"))
      writeFileSync(join(folder, "a"), Buffer.alloc(11 * 1024 * 1024, 1))
      utimesSync(join(folder, "a"), atime, mtime)
    },
  ],
] // prettier-ignore

test.each(changes)("the digest of a file changes with %s", async (_what, before, change) => {
  const folder = temporaryFolder()
  const digest = digestsIn(folder)
  before(folder)
  const first = await digest("a")
  expect(await digest("a")).toBe(first)
  change(folder)
  expect(await digest("a")).not.toBe(first)
})

test("the digest changes when the folder a file is in becomes a link to another one", async () => {
  const folder = temporaryFolder()
  for (const name of ["one", "two"]) mkdirSync(join(folder, name))
  symlinkSync(join(folder, "one"), join(folder, "here"))
  const first = await digestsIn(folder)("here/new.txt")
  unlinkSync(join(folder, "here"))
  symlinkSync(join(folder, "two"), join(folder, "here"))
  expect(await digestsIn(folder)("here/new.txt")).not.toBe(first)
})

test("a pipe without a writer does not block", async () => {
  const folder = temporaryFolder()
  execFileSync("mkfifo", [join(folder, "pipe")])
  expect(await digestsIn(folder)("pipe")).toMatch(/special$/)
})
