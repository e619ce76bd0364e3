import { execFileSync } from "node:child_process"
import {
  chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync,
} from "node:fs" // prettier-ignore
import { join } from "node:path"
import { expect, test } from "vitest"
import { asUnprivileged } from "../../testing/unprivileged.ts"
import { canOpenByDescriptor } from "./folder-handle.ts"
import { inventory, openTestFiles, refusalCode, type TestFiles } from "./testing.ts"

const isLinux = process.platform === "linux"

test.runIf(canOpenByDescriptor())(
  "names that are not UTF-8, pipes and links in a folder go to the trash and are restored",
  async () => {
    const here = openTestFiles()
    here.put("dir/a")
    const bytes = (name: string) => Buffer.concat([Buffer.from(`${here.workspace}/`), Buffer.from(name, "latin1")])
    mkdirSync(bytes("dir/caf\xe9"))
    writeFileSync(bytes("dir/caf\xe9/\xff"), "bytes")
    symlinkSync(Buffer.from("\xfe", "latin1"), join(here.workspace, "dir/link"))
    execFileSync("mkfifo", [join(here.workspace, "dir/pipe")])
    const { id } = await here.files.trash("dir", "ann")
    expect(readdirSync(here.workspace)).toEqual([])
    await here.trash.restore(id)
    expect(readFileSync(bytes("dir/caf\xe9/\xff"), "utf8")).toBe("bytes")
    expect(readlinkSync(join(here.workspace, "dir/link"), "latin1")).toBe("\xfe")
    expect(lstatSync(join(here.workspace, "dir/pipe")).isFIFO()).toBe(true)
  },
)

test.runIf(isLinux)("folders without access rights go to the trash, are restored unchanged, and can be removed for good", async () => {
  const here = openTestFiles({ trash: { days: 30, maxMb: 1 } })
  const shut = (path: string, mode: number) => chmodSync(join(here.workspace, path), mode)
  const modeOf = (path: string) => statSync(join(here.workspace, path)).mode & 0o777
  for (const path of ["read/only/a", "large/only/a"]) here.put(path)
  for (const path of ["read/only", "read", "large/only", "large"]) shut(path, 0o555)
  await asUnprivileged(() => void execFileSync("chown", ["-R", "65534:65534", join(here.workspace, "..")]), async () => {
    const { id } = await here.files.trash("read", "ann")
    await here.trash.restore(id)
    expect([modeOf("read"), modeOf("read/only"), here.read("read/only/a")]).toEqual([0o555, 0o555, "text"])
    await here.files.trash("large", "ann")
    here.put("much", Buffer.alloc(1024 * 1024))
    const much = await here.files.trash("much", "ann")
    expect(readdirSync(join(here.dataFolder, "trash")).toSorted()).toEqual([much.id, `${much.id}.json`].toSorted()) // prettier-ignore
  })
}) // prettier-ignore

const someId = "11111111-1111-4111-8111-111111111111"
const note = { id: someId, path: "back", kind: "file", size: 1, deletedAt: Date.now(), agentId: "eve" }

test.runIf(isLinux).each<[string, (trash: string, here: TestFiles) => void]>([
  ["a pipe", (trash) => void execFileSync("mkfifo", [join(trash, `${someId}.json`)])],
  ["a link", (trash, { outside }) => (writeFileSync(join(outside, "note"), JSON.stringify(note)), symlinkSync(join(outside, "note"), join(trash, `${someId}.json`)))],
  ["a folder", (trash) => mkdirSync(join(trash, `${someId}.json`))],
  ["not a note", (trash) => writeFileSync(join(trash, `${someId}.json`), "[1]")],
  ["of another id", (trash) => writeFileSync(join(trash, `${someId}.json`), JSON.stringify({ ...note, id: someId.replace("1", "2") }))],
  ["too large for one", (trash) => writeFileSync(join(trash, `${someId}.json`), JSON.stringify({ ...note, more: "x".repeat(300_000) }))],
  ["of a thing of another kind", (trash) => writeFileSync(join(trash, `${someId}.json`), JSON.stringify({ ...note, kind: "folder" }))],
])("a note that is %s is ignored", async (_, make) => {
  const here = openTestFiles()
  const trash = join(here.dataFolder, "trash")
  mkdirSync(join(trash, someId), { recursive: true })
  writeFileSync(join(trash, someId, "item"), "theirs")
  make(trash, here)
  here.put("a")
  const item = await here.files.trash("a", "ann")
  expect(await here.trash.list()).toEqual([item])
  expect(await refusalCode(() => here.trash.restore(someId))).toBe("file_not_found")
  expect(readdirSync(here.workspace)).toEqual([])
}) // prettier-ignore

test("items of older versions are listed and restored, including those with `taken`", async () => {
  const here = openTestFiles()
  const trash = join(here.dataFolder, "trash")
  const taken = "22222222-2222-4222-8222-222222222222"
  for (const id of [someId, taken]) mkdirSync(join(trash, id), { recursive: true })
  writeFileSync(join(trash, someId, "item"), "theirs")
  mkdirSync(join(trash, taken, "item"))
  writeFileSync(join(trash, taken, "item/config"), "made")
  writeFileSync(join(trash, "tidied.json"), '{"at":1,"bytes":0}')
  const made = { ...note, id: taken, path: "sub/.git", kind: "folder", deletedAt: 1, taken: "it runs" }
  for (const one of [note, made]) writeFileSync(join(trash, `${one.id}.json`), JSON.stringify(one))
  expect(await here.trash.list()).toEqual([note, made])
  for (const id of [someId, taken]) await here.trash.restore(id)
  expect([here.read("back"), here.read("sub/.git/config"), await here.trash.list()]).toEqual(["theirs", "made", []])
})

test.each<[string, string, Partial<typeof note>, (thing: string, here: TestFiles) => void]>([
  ["is a link and was a file", "file_not_found", {}, (thing, { outside }) => (mkdirSync(join(thing, "..")), symlinkSync(join(outside, "secret.txt"), thing))],
  ["lies behind a link", "file_not_found", {}, (thing, { outside }) => (writeFileSync(join(outside, "item"), "x"), symlinkSync(outside, join(thing, "..")))],
  ["is to go outside", "outside", { path: "../outside/new" }, (thing) => (mkdirSync(join(thing, "..")), writeFileSync(thing, "x"))],
  ["is to go where no tool writes", "sealed", { path: ".git/hooks/post-checkout" }, (thing) => (mkdirSync(join(thing, "..")), writeFileSync(thing, "x"))],
  ["is to go into the data folder", "outside", { path: "../data/record.key" }, (thing) => (mkdirSync(join(thing, "..")), writeFileSync(thing, "x"))],
])("a changed trash restores nothing that %s", async (_, code, changes, make) => {
  const here = openTestFiles()
  const trash = join(here.dataFolder, "trash")
  mkdirSync(trash)
  make(join(trash, someId, "item"), here)
  writeFileSync(join(trash, `${someId}.json`), JSON.stringify({ ...note, ...changes }))
  const before = [inventory(here.outside), readdirSync(here.dataFolder)]
  expect(await refusalCode(() => here.trash.restore(someId))).toBe(code)
  expect([inventory(here.outside), readdirSync(here.dataFolder)]).toEqual(before)
  expect(inventory(here.workspace)).toEqual({})
}) // prettier-ignore
