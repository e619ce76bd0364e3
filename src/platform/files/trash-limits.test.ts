import fc from "fast-check"
import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from "node:fs" // prettier-ignore
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import type { TrashItem } from "./file-access.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openTrash } from "./files.ts"
import { openTestFiles, refusalCode, type TestFiles } from "./testing.ts"
import { itemsToRemove } from "./trash-limits.ts"

const day = 24 * 60 * 60 * 1000
const megabyte = 1024 * 1024
const now = 100 * day

const itemsMade = fc
  .array(fc.record({ days: fc.integer({ min: 0, max: 40 }), size: fc.integer({ min: 4096, max: 3 * megabyte }) }), { maxLength: 12 })
  .map((list) =>
    list
      .map(({ days, size }, index) => ({ id: String(index), size, deletedAt: now - days * day }) as TrashItem)
      .toSorted((one, other) => other.deletedAt - one.deletedAt),
  ) // prettier-ignore

test("the newest items within the limits stay, and so does the last one added", () => {
  fc.assert(
    fc.property(itemsMade, fc.nat(12), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 12 }), (items, at, days, maxMb) => {
      const kept = items[at]?.id ?? "none"
      const gone = new Set(itemsToRemove(items, kept, { days, maxMb }, now).map(({ id }) => id))
      expect(gone.has(kept)).toBe(false)
      const most = maxMb * megabyte
      const fitting = items.filter(({ size }) => size <= most)
      const stay = fitting.filter(({ id }) => !gone.has(id))
      const size = stay.reduce((sum, one) => sum + one.size, 0)
      expect(size).toBeLessThanOrEqual(most)
      expect(stay.filter(({ id, deletedAt }) => id !== kept && deletedAt < now - days * day)).toEqual([])
      expect(items.every((one) => one.id === kept || one.size <= most || gone.has(one.id))).toBe(true)
      const others = fitting.filter(({ id }) => id !== kept)
      const firstGone = others.findIndex(({ id }) => gone.has(id))
      if (firstGone === -1) return
      expect(others.slice(firstGone).every(({ id }) => gone.has(id))).toBe(true)
      const { size: next, deletedAt } = others[firstGone]!
      expect(size + next > most || deletedAt < now - days * day).toBe(true)
    }),
    { numRuns: 200 },
  )
}) // prettier-ignore

/** Makes the items in the trash older. */
function age({ dataFolder }: TestFiles, { id }: TrashItem, days: number): void {
  const note = join(dataFolder, "trash", `${id}.json`)
  const item = JSON.parse(readFileSync(note, "utf8")) as TrashItem
  writeFileSync(note, JSON.stringify({ ...item, deletedAt: item.deletedAt - days * day }))
}

test("deleting removes what is too old or too much for good, and never what was just deleted", async () => {
  const here = openTestFiles({ trash: { days: 30, maxMb: 1 } })
  const { files, trash, put, dataFolder } = here
  const thrown = async (name: string, bytes: number) => {
    put(`${name}/deep/file`, Buffer.alloc(bytes))
    return files.trash(name, "ann")
  }
  const old = await thrown("old", 10)
  const young = await thrown("young", 10)
  age(here, old, 31)
  age(here, young, 29)
  const large = await thrown("large", 3 * megabyte)
  expect((await trash.list()).map(({ path }) => path)).toEqual(["large", "young"])
  const small = await thrown("small", 10)
  expect(await trash.list()).toEqual([small, { ...young, deletedAt: young.deletedAt - 29 * day }])
  const most = await thrown("most", megabyte)
  expect(await trash.list()).toEqual([most])
  const names = readdirSync(join(dataFolder, "trash")).toSorted()
  expect(names).toEqual([most.id, `${most.id}.json`].toSorted())
  for (const { id } of [old, young, large, small])
    expect(await refusalCode(() => trash.restore(id))).toBe("file_not_found")
  expect(await trash.restore(most.id)).toEqual(most)
})

test("the trash is cleaned only after an hour or when much was added", async () => {
  const here = openTestFiles({ trash: { days: 30, maxMb: 1 } })
  const { files, trash, put } = here
  const thrown = (name: string, bytes = 1) => (put(name, Buffer.alloc(bytes)), files.trash(name, "ann"))
  const isThere = async ({ id }: TrashItem) => (await trash.list()).some((item) => item.id === id)
  await thrown("first")
  const old = await thrown("old")
  age(here, old, 31)
  await thrown("second")
  expect(await isThere(old)).toBe(true)
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60 * 60 * 1000 })
  onTestFinished(() => void vi.useRealTimers())
  await thrown("third")
  expect(await isThere(old)).toBe(false)
  const older = await thrown("older")
  age(here, older, 31)
  await thrown("much", 70_000)
  expect(await isThere(older)).toBe(false)
})

test("leftovers of a killed process are removed after a day, and young or complete items stay", async () => {
  const { files, put, dataFolder } = openTestFiles()
  const [gone, young] = [randomUUID(), randomUUID()]
  const made = (name: string, days: number) => {
    const path = join(dataFolder, "trash", name)
    if (name.endsWith("/")) mkdirSync(join(path, "item/deep"), { recursive: true })
    else writeFileSync(path, "{}")
    utimesSync(path, Date.now() / 1000 - days * 86_400, Date.now() / 1000 - days * 86_400)
  }
  for (const name of ["left/", `${gone}.json`, "both/", "both.json", "tidied.json"]) made(name, 2)
  for (const name of ["young/", `${young}.json`]) made(name, 0.9)
  put("a")
  const { id } = await files.trash("a", "ann")
  const stays = [id, `${id}.json`, "young", `${young}.json`, "both", "both.json"]
  expect(readdirSync(join(dataFolder, "trash")).toSorted()).toEqual(stays.toSorted())
})

/** Adds an item as earlier versions did with files that commands had created. */
function taken({ dataFolder }: Pick<TestFiles, "dataFolder">, path: string): TrashItem {
  const item = {
    id: randomUUID(),
    path,
    kind: "folder" as const,
    size: 4,
    deletedAt: 1,
    agentId: "ann",
    taken: "it runs",
  }
  mkdirSync(join(dataFolder, "trash", item.id, "item"), { recursive: true })
  writeFileSync(join(dataFolder, "trash", item.id, "item/inner"), "text")
  writeFileSync(join(dataFolder, "trash", `${item.id}.json`), JSON.stringify(item))
  return item
}

test.each(["sub/.git", ".envrc", "new/folders/.vscode", "more/.npmrc"])(
  "an item with `taken` for %s is restored, though no tool may write that name",
  async (path) => {
    const here = openTestFiles()
    const { id } = taken(here, path)
    expect(await here.trash.restore(id)).toMatchObject({ path, taken: "it runs" })
    expect(here.read(`${path}/inner`)).toBe("text")
    expect(await here.trash.list()).toEqual([])
  },
)

test.each<[string, string, (here: TestFiles) => void]>([
  ["outside the fence", "/etc/x/.git", () => {}],
  ["above the workspace", "../.git", () => {}],
  ["in the place of the workspace", ".", () => {}],
  ["where something is now", "sub/.git", ({ put }) => void put("sub/.git", "mine")],
  ["behind a link that leads out", "link/.git", ({ outside, workspace }) => symlinkSync(outside, join(workspace, "link"))],
  ["behind a link that stays inside", "link/.git", ({ workspace }) => symlinkSync(".", join(workspace, "link"))],
  ["into a file", "file/.git", ({ put }) => void put("file", "mine")],
])("an item with `taken` is not restored %s, and stays in the trash", async (_, path, prepare) => {
  const here = openTestFiles()
  const item = taken(here, path)
  prepare(here)
  const before = readdirSync(here.outside)
  expect(await refusalCode(() => here.trash.restore(item.id))).toMatch(/^(outside|exists|not_a_folder|bad_path)$/)
  expect(await here.trash.list()).toEqual([item])
  expect(readdirSync(here.outside)).toEqual(before)
}) // prettier-ignore

test("no item with `taken` is restored into the data folder", async () => {
  const workspace = realpathSync(temporaryFolder())
  const dataFolder = join(workspace, "data")
  mkdirSync(dataFolder)
  const { id } = taken({ dataFolder }, "data/keys/.git")
  expect(await refusalCode(() => openTrash({ workspace, dataFolder }).restore(id))).toBe("outside")
  expect(existsSync(join(dataFolder, "keys"))).toBe(false)
})
