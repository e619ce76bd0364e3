import fc from "fast-check"
import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, utimesSync, writeFileSync } from "node:fs" // prettier-ignore
import { join } from "node:path"
import { expect, test } from "vitest"
import type { TrashItem } from "../../model/files.ts"
import { temporaryFolder } from "../../testing/open.ts"
import { openTrash } from "./fence.ts"
import { canHold, held, watched } from "./folder.ts"
import { place, refusal, type Place } from "./testing.ts"
import { tooMany } from "./trash-limits.ts"
import { putIn } from "./trash.ts"

const day = 24 * 60 * 60 * 1000
const megabyte = 1024 * 1024
const now = 100 * day

const itemsMade = fc
  .array(fc.record({ days: fc.integer({ min: 0, max: 40 }), size: fc.integer({ min: 4096, max: 3 * megabyte }), isTaken: fc.boolean() }), { maxLength: 12 })
  .map((list) =>
    list
      .map(({ days, size, isTaken }, index) => ({ id: String(index), size, deletedAt: now - days * day, taken: isTaken ? "it runs" : undefined }) as TrashItem)
      .toSorted((one, other) => other.deletedAt - one.deletedAt),
  ) // prettier-ignore

test("of what was deleted and of what was taken away, each alone, stays the newest that is young and small enough together, and the last one in", () => {
  fc.assert(
    fc.property(itemsMade, fc.nat(12), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 12 }), (items, at, days, maxMb) => {
      const kept = items[at]?.id ?? "none"
      const gone = new Set(tooMany(items, kept, { days, maxMb }, now).map(({ id }) => id))
      expect(gone.has(kept)).toBe(false)
      for (const isTaken of [false, true]) {
        const most = maxMb * megabyte * (isTaken ? 0.25 : 1)
        const fitting = items.filter(({ taken, size }) => (taken !== undefined) === isTaken && size <= most)
        const stay = fitting.filter(({ id }) => !gone.has(id))
        const size = stay.reduce((sum, one) => sum + one.size, 0)
        expect(size).toBeLessThanOrEqual(most)
        expect(stay.filter(({ id, deletedAt }) => id !== kept && deletedAt < now - days * day)).toEqual([])
        const others = fitting.filter(({ id }) => id !== kept)
        const firstGone = others.findIndex(({ id }) => gone.has(id))
        if (firstGone === -1) continue
        expect(others.slice(firstGone).every(({ id }) => gone.has(id))).toBe(true)
        const { size: next, deletedAt } = others[firstGone]!
        expect(size + next > most || deletedAt < now - days * day).toBe(true)
      }
      const large = items.filter(({ id, taken, size }) => id !== kept && size > maxMb * megabyte * (taken === undefined ? 1 : 0.25))
      expect(large.every(({ id }) => gone.has(id))).toBe(true)
    }),
    { numRuns: 1000 },
  )
}) // prettier-ignore

/** Makes what is in the trash older. */
function age({ dataFolder }: Place, { id }: TrashItem, days: number): void {
  const note = join(dataFolder, "trash", `${id}.json`)
  const item = JSON.parse(readFileSync(note, "utf8")) as TrashItem
  writeFileSync(note, JSON.stringify({ ...item, deletedAt: item.deletedAt - days * day }))
}

test("deleting removes for good what is too old or too much, and never what was just deleted", async () => {
  const here = place({ trash: { days: 30, maxMb: 1 } })
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
  expect(names).toEqual([most.id, `${most.id}.json`, "tidied.json"].toSorted())
  for (const { id } of [old, young, large, small]) expect(await refusal(() => trash.restore(id))).toBe("file_not_found")
  expect(await trash.restore(most.id)).toEqual(most)
})

test("what commands made drives out nothing that an agent deleted, however large it is", async () => {
  const here = place({ trash: { days: 30, maxMb: 1 } })
  here.put("precious")
  const precious = await here.files.trash("precious", "eve")
  for (const size of [100_000, 200_000, 900_000, 4 * megabyte, 100_000]) {
    here.put("thing", Buffer.alloc(size))
    await taken(here, ".npmrc")
    expect(await here.trash.list()).toContainEqual(precious)
  }
  expect((await here.trash.list()).map(({ size }) => size)).toEqual([100_000, precious.size])
})

test("little is put in without looking at all of it, until an hour is over or much has come in", async () => {
  const here = place({ trash: { days: 30, maxMb: 1 } })
  const { files, trash, put, dataFolder } = here
  const thrown = (name: string, bytes = 1) => (put(name, Buffer.alloc(bytes)), files.trash(name, "ann"))
  const isThere = async ({ id }: TrashItem) => (await trash.list()).some((item) => item.id === id)
  await thrown("first")
  const old = await thrown("old")
  age(here, old, 31)
  await thrown("second")
  expect(await isThere(old)).toBe(true)
  const mark = join(dataFolder, "trash/tidied.json")
  const { at, bytes } = JSON.parse(readFileSync(mark, "utf8")) as { at: number; bytes: number }
  expect(bytes).toBe(8192)
  writeFileSync(mark, JSON.stringify({ at: at - 60 * 60 * 1000, bytes }))
  await thrown("third")
  expect(await isThere(old)).toBe(false)
  const older = await thrown("older")
  age(here, older, 31)
  await thrown("much", 70_000)
  expect(await isThere(older)).toBe(false)
})

test("what a process left that ended in between goes after a day, and what is young or whole stays", async () => {
  const { files, put, dataFolder } = place()
  const [gone, young] = [randomUUID(), randomUUID()]
  const made = (name: string, days: number) => {
    const path = join(dataFolder, "trash", name)
    if (name.endsWith("/")) mkdirSync(join(path, "item/deep"), { recursive: true })
    else writeFileSync(path, "{}")
    utimesSync(path, Date.now() / 1000 - days * 86_400, Date.now() / 1000 - days * 86_400)
  }
  for (const name of ["left/", `${gone}.json`, "both/", "both.json", ".tidied.json.0123.tmp/"]) made(name, 2)
  for (const name of ["young/", `${young}.json`]) made(name, 0.9)
  put("a")
  const { id } = await files.trash("a", "ann")
  const stays = [id, `${id}.json`, "tidied.json", "young", `${young}.json`, "both", "both.json"]
  expect(readdirSync(join(dataFolder, "trash")).toSorted()).toEqual(stays.toSorted())
})

/** Puts something into the trash as if it had been taken away from a command. */
async function taken(here: Pick<Place, "workspace" | "dataFolder">, path: string): Promise<TrashItem> {
  const doors = canHold() ? held : watched
  const folder = doors.open(here.workspace)
  try {
    const about = { path, size: 1, agentId: "ann", taken: "it runs" }
    return await putIn(
      { doors, dataFolder: here.dataFolder, trash: { days: 30, maxMb: 1 } },
      { folder, name: "thing" },
      about,
    )
  } finally {
    folder.close()
  }
}

test.each(["sub/.git", ".envrc", "new/folders/.vscode", "more/.npmrc"])(
  "what was taken away as %s comes back, though no tool may write it",
  async (path) => {
    const here = place()
    here.put("thing/inner", "text")
    const { id } = await taken(here, path)
    expect(existsSync(join(here.workspace, "thing"))).toBe(false)
    expect(await here.trash.restore(id)).toMatchObject({ path, taken: "it runs" })
    expect(here.read(`${path}/inner`)).toBe("text")
    expect(await here.trash.list()).toEqual([])
  },
)

test.each<[string, string, (here: Place) => void]>([
  ["outside the fence", "/etc/x/.git", () => {}],
  ["above the workspace", "../.git", () => {}],
  ["in the place of the workspace", ".", () => {}],
  ["where something is now", "sub/.git", ({ put }) => void put("sub/.git", "mine")],
  ["behind a link that leads out", "link/.git", ({ outside, workspace }) => symlinkSync(outside, join(workspace, "link"))],
  ["behind a link that stays inside", "link/.git", ({ workspace }) => symlinkSync(".", join(workspace, "link"))],
  ["into a file", "file/.git", ({ put }) => void put("file", "mine")],
])("what was taken away does not come back %s, and stays in the trash", async (_, path, prepare) => {
  const here = place()
  here.put("thing")
  const item = await taken(here, path)
  prepare(here)
  const before = readdirSync(here.outside)
  expect(await refusal(() => here.trash.restore(item.id))).toMatch(/^(outside|exists|not_a_folder|bad_path)$/)
  expect(await here.trash.list()).toEqual([item])
  expect(readdirSync(here.outside)).toEqual(before)
}) // prettier-ignore

test("nothing that was taken away comes back into the data folder", async () => {
  const workspace = realpathSync(temporaryFolder())
  const dataFolder = join(workspace, "data")
  mkdirSync(dataFolder)
  writeFileSync(join(workspace, "thing"), "x")
  const { id } = await taken({ workspace, dataFolder }, "data/keys/.git")
  expect(await refusal(() => openTrash({ workspace, dataFolder }).restore(id))).toBe("outside")
  expect(existsSync(join(dataFolder, "keys"))).toBe(false)
})
