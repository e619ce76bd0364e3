import { execFileSync } from "node:child_process"
import {
  appendFileSync, chmodSync, closeSync, constants, existsSync, linkSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync,
  renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync, writeSync,
} from "node:fs" // prettier-ignore
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { asNobody } from "../../testing/nobody.ts"
import type { TrashItem } from "../../model/files.ts"
import { canHold, held, watched, type Doors, type Folder } from "./folder.ts"
import { folderInMemory, inventory, place, refusal, type Place } from "./testing.ts"
import { Aside, putIn, type Thrown } from "./trash.ts"

const doorsHere = canHold() ? { held, watched } : { watched }
const isLinux = process.platform === "linux"
const allDoors = Object.entries(doorsHere) as ["held" | "watched", Doors][]

/** Puts something of the workspace into the trash through other doors than the fence's own. */
async function put(here: Place, name: string, doors: Doors, about: Partial<Thrown> = {}): Promise<TrashItem> {
  const folder = doors.open(here.workspace)
  try {
    const thrown = { path: name, size: 1, agentId: "ann", ...about }
    return await putIn({ doors, dataFolder: here.dataFolder }, { folder, name }, thrown)
  } finally {
    folder.close()
  }
}

/** Where a descriptor of a folder leads by now. */
function standIn(folder: string): () => string {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  onTestFinished(() => closeSync(descriptor))
  return () => readlinkSync(`/proc/self/fd/${descriptor}`)
}

/** In memory, where that is not where the others are. */
const otherDisk = () => (existsSync("/dev/shm") && statSync("/dev/shm").dev !== statSync(tmpdir()).dev ? [folderInMemory()] : []) // prettier-ignore

test.runIf(isLinux).each<[string, (here: Place) => Promise<TrashItem>]>([
  ["an agent deletes it", ({ files }) => files.trash("dir", "ann")],
  ["an agent deletes it where folders are not held", (here) => put(here, "dir", watched)],
  ["it is taken away from a command", (here) => put(here, "dir", held, { taken: "it runs" })],
])("who stands in a folder does not come into the data folder when %s", async (_, throwAway) => {
  for (const dataFolder of [undefined, ...otherDisk()]) {
    const here = place(dataFolder === undefined ? {} : { dataFolder })
    here.put("dir/inner/deep/file", "text")
    here.put("dir/link", "-> inner")
    const before = inventory(here.workspace)
    const places = ["dir", "dir/inner", "dir/inner/deep"].map((path) => standIn(join(here.workspace, path)))
    const { id } = await throwAway(here)
    for (const stood of places) expect(stood().startsWith(`${here.workspace}/`), stood()).toBe(true)
    for (const stood of places) expect(stood()).toMatch(/ \(deleted\)$/)
    expect(inventory(here.workspace)).toEqual({})
    await here.trash.restore(id)
    expect(inventory(here.workspace)).toEqual(before)
  }
})

/** Doors through which something happens each time a name is used in a folder. */
function observed(doors: Doors, used: (name: string, folder: Folder) => void): Doors {
  const over = (folder: Folder): Folder => ({ ...folder, at: (name) => (used(name, folder), folder.at(name)) })
  return { open: (where) => over(doors.open(where)), openIn: (folder, name) => over(doors.openIn(folder, name)) }
}

test.runIf(isLinux).each(["file", "link", "folder/file", "folder/link"])(
  "a folder that is put in the place of %s while it is deleted is not moved into the data folder",
  async (path) => {
    for (const [, doors] of allDoors)
      for (let moment = 1; moment < 7; moment++) {
        const here = place()
        here.put("elsewhere/mine", "mine")
        here.put(path, path.endsWith("link") ? "-> nowhere" : "text")
        const stood = standIn(join(here.workspace, "elsewhere"))
        let times = 0
        const swapping = observed(doors, (name, { real }) => {
          if (name !== path.split("/").at(-1) || real.startsWith(here.dataFolder) || ++times !== moment) return
          rmSync(join(real, name), { force: true })
          renameSync(join(here.workspace, "elsewhere"), join(real, name))
        })
        await put(here, path.split("/")[0]!, swapping).catch(() => {})
        expect(stood().startsWith(`${here.workspace}/`), stood()).toBe(true)
      }
  },
)

const tree = { "dir/a": "a", "dir/b/c": "c", "dir/link": "-> a" }

/** Everything in it that is no folder, as what it is, wherever it stands. */
const contents = (folder: string) =>
  Object.entries(inventory(folder)).flatMap(([name, text]) => (name.endsWith("/") ? [] : [text]))

test.each(allDoors)("at whatever step the process is killed, all is where it was or can be brought back (%s)", async (name, doors) => {
  const seen = { before: 0, between: 0, after: 0 }
  let isKilled = true
  for (let last = 0; isKilled; last++) {
    const here = place()
    for (const [path, text] of Object.entries(tree)) here.put(path, text)
    let steps = 0
    const dying = observed(doors, () => {
      if (++steps > last) throw new Error("killed")
    })
    await put(here, "dir", dying, name === "held" ? {} : { taken: "it runs" }).catch(() => {})
    isKilled = steps > last
    const left = contents(here.workspace)
    const [item] = await here.trash.list()
    seen[item === undefined ? "before" : left.length > 0 ? "between" : "after"]++
    if (item === undefined) expect(left.toSorted()).toEqual(["-> a", "a", "c"])
    else {
      for (const one of readdirSync(here.workspace)) rmSync(join(here.workspace, one), { recursive: true })
      await here.trash.restore(item.id)
      expect(inventory(here.workspace)).toMatchObject(tree)
    }
  }
  for (const [when, times] of Object.entries(seen)) expect(times, when).toBeGreaterThan(0)
}) // prettier-ignore

/** Does something in a folder when it has another name already and is about to be removed. */
const whileItGoes = (doors: Doors, happens: (path: string) => void) =>
  observed(doors, (name, { real }) => {
    const path = join(real, name)
    if (/^\.dir\.[0-9a-f]{12}\.tmp$/.test(name) && existsSync(path)) happens(path)
  })

test("what comes into a folder while it is deleted is in the trash too", async () => {
  for (const [, doors] of allDoors) {
    const here = place()
    here.put("dir/a", "a")
    const late = whileItGoes(doors, (path) => {
      if (existsSync(join(path, "a"))) mkdirSync(join(path, "late/deep"), { recursive: true })
      if (existsSync(join(path, "late"))) writeFileSync(join(path, "late/deep/file"), "late")
    })
    const { id } = await put(here, "dir", late)
    expect(inventory(here.workspace)).toEqual({})
    await here.trash.restore(id)
    expect([here.read("dir/a"), here.read("dir/late/deep/file")]).toEqual(["a", "late"])
  }
})

test("a folder that is filled as fast as it is emptied keeps what is new, and what was in it is in the trash", async () => {
  for (const [, doors] of allDoors) {
    const here = place()
    here.put("dir/a", "a")
    let count = 0
    const filling = whileItGoes(doors, (path) => {
      mkdirSync(join(path, "a"), { recursive: true })
      writeFileSync(join(path, `new${count++}`), "new")
    })
    const failing = async (about: Partial<Thrown>) => {
      rmSync(join(here.workspace, "dir"), { recursive: true, force: true })
      here.put("dir/b", "b")
      return put(here, "dir", filling, about).catch((error: unknown) => error)
    }
    expect(await failing({})).toMatchObject({ toolCode: "file_changed" })
    expect(existsSync(join(here.workspace, "dir"))).toBe(true)
    const aside = await failing({ taken: "it runs" })
    expect(aside).toBeInstanceOf(Aside)
    expect(readdirSync(here.workspace)).toEqual([(aside as Aside).asideName])
    expect(await here.trash.list()).toHaveLength(2)
  }
})

test("what was taken away and cannot be put into the trash does not keep its name", async () => {
  const here = place()
  here.put(`${".git/deep/".padEnd(2 * 300, "d/")}config`)
  const aside = await put(here, ".git", canHold() ? held : watched, { taken: "it runs" }).catch(
    (error: unknown) => error,
  )
  expect(aside).toBeInstanceOf(Aside)
  expect(readdirSync(here.workspace)).toEqual([(aside as Aside).asideName])
  expect([await here.trash.list(), inventory(join(here.dataFolder, "trash"))]).toEqual([[], {}])
  expect(await refusal(() => here.files.trash((aside as Aside).asideName, "ann"))).toBe("too_large")
})

test.runIf(canHold())(
  "names that are no text, pipes and links in a folder go into the trash and come back",
  async () => {
    const here = place()
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

test.each<[string, Partial<Thrown>]>([["deleted", {}], ["taken away", { taken: "it runs" }]])("what was %s is changed by none of its other names, before, while and after it is moved", async (_, about) => {
  for (const [, doors] of allDoors) {
    const here = place()
    for (const name of ["before", "while"]) here.put(`dir/${name}`, "good")
    const path = (name: string) => join(here.workspace, name)
    linkSync(path("dir/before"), path("one"))
    const linking = whileItGoes(doors, (aside) => {
      if (existsSync(join(aside, "while")) && !existsSync(path("two"))) linkSync(join(aside, "while"), path("two"))
    })
    const { id } = await put(here, "dir", linking, about)
    for (const name of ["one", "two"]) writeFileSync(path(name), "evil")
    await here.trash.restore(id)
    for (const name of ["before", "while"]) expect([here.read(`dir/${name}`), statSync(path(`dir/${name}`)).nlink]).toEqual(["good", 1])
  }
}) // prettier-ignore

test("what was taken away is not changed by who has it open", async () => {
  const here = place()
  const descriptor = openSync(here.put(".npmrc", "good"), "a")
  onTestFinished(() => closeSync(descriptor))
  const { id } = await put(here, ".npmrc", watched, { taken: "it runs" })
  writeSync(descriptor, "evil")
  await here.trash.restore(id)
  expect(here.read(".npmrc")).toBe("good")
})

test.runIf(isLinux)("a copy of a long file with nothing in it takes up no more room than that", async () => {
  const here = place()
  const file = here.put(".npmrc", "start")
  truncateSync(file, 50 * 1024 * 1024)
  appendFileSync(file, "end")
  const { id } = await put(here, ".npmrc", watched, { taken: "it runs" })
  await here.trash.restore(id)
  const { size, blocks } = statSync(file)
  expect([size, blocks * 512 < 4 * 1024 * 1024]).toEqual([50 * 1024 * 1024 + 3, true])
  const bytes = readFileSync(file)
  expect([bytes.toString("utf8", 0, 6), bytes.toString("utf8", size - 4)]).toEqual(["start\0", "\0end"])
})

test.runIf(isLinux)("folders that are closed by their mode go into the trash, come back as they were, and can be removed for good", async () => {
  const here = place({ trash: { days: 30, maxMb: 1 } })
  const shut = (path: string, mode: number) => chmodSync(join(here.workspace, path), mode)
  const modeOf = (path: string) => statSync(join(here.workspace, path)).mode & 0o777
  for (const path of ["read/only/a", "large/only/a", ".git/shut/a"]) here.put(path)
  for (const path of ["read/only", "read", "large/only", "large"]) shut(path, 0o555)
  for (const path of [".git/shut", ".git"]) shut(path, 0)
  await asNobody(() => void execFileSync("chown", ["-R", "65534:65534", join(here.workspace, "..")]), async () => {
    const { id } = await here.files.trash("read", "ann")
    await here.trash.restore(id)
    expect([modeOf("read"), modeOf("read/only"), here.read("read/only/a")]).toEqual([0o555, 0o555, "text"])
    const taken = await put(here, ".git", doorsHere.watched, { taken: "it runs" })
    expect(existsSync(join(here.workspace, ".git"))).toBe(false)
    await here.files.trash("large", "ann")
    await here.trash.restore(taken.id)
    expect(here.read(".git/shut/a")).toBe("text")
    here.put("much", Buffer.alloc(1024 * 1024))
    const much = await here.files.trash("much", "ann")
    expect(readdirSync(join(here.dataFolder, "trash")).toSorted()).toEqual([much.id, `${much.id}.json`, "tidied.json"].toSorted()) // prettier-ignore
  })
}) // prettier-ignore

const someId = "11111111-1111-4111-8111-111111111111"
const note = { id: someId, path: "back", kind: "file", size: 1, deletedAt: Date.now(), agentId: "eve" }

test.runIf(isLinux).each<[string, (trash: string, here: Place) => void]>([
  ["a pipe", (trash) => void execFileSync("mkfifo", [join(trash, `${someId}.json`)])],
  ["a link", (trash, { outside }) => (writeFileSync(join(outside, "note"), JSON.stringify(note)), symlinkSync(join(outside, "note"), join(trash, `${someId}.json`)))],
  ["a folder", (trash) => mkdirSync(join(trash, `${someId}.json`))],
  ["not a note", (trash) => writeFileSync(join(trash, `${someId}.json`), "[1]")],
  ["of another id", (trash) => writeFileSync(join(trash, `${someId}.json`), JSON.stringify({ ...note, id: someId.replace("1", "2") }))],
  ["too large for one", (trash) => writeFileSync(join(trash, `${someId}.json`), JSON.stringify({ ...note, more: "x".repeat(300_000) }))],
  ["of a thing of another kind", (trash) => writeFileSync(join(trash, `${someId}.json`), JSON.stringify({ ...note, kind: "folder" }))],
])("a note that is %s is not read, and holds up nobody", async (_, make) => {
  const here = place()
  const trash = join(here.dataFolder, "trash")
  mkdirSync(join(trash, someId), { recursive: true })
  writeFileSync(join(trash, someId, "item"), "theirs")
  make(trash, here)
  here.put("a")
  const item = await here.files.trash("a", "ann")
  expect(await here.trash.list()).toEqual([item])
  expect(await refusal(() => here.trash.restore(someId))).toBe("file_not_found")
  expect(readdirSync(here.workspace)).toEqual([])
}) // prettier-ignore

test("what lies where the house writes in the trash is replaced, never followed", async () => {
  for (const make of [(mark: string, victim: string) => symlinkSync(victim, mark), (mark: string) => void execFileSync("mkfifo", [mark])]) {
    const here = place()
    const mark = join(here.dataFolder, "trash/tidied.json")
    mkdirSync(join(here.dataFolder, "trash"))
    make(mark, join(here.outside, "secret.txt"))
    here.put("a")
    await here.files.trash("a", "ann")
    expect(lstatSync(mark).isFile()).toBe(true)
    expect(inventory(here.outside)).toEqual({ "secret.txt": "SECRET" })
  }
}) // prettier-ignore

test.each<[string, string, Partial<typeof note>, (thing: string, here: Place) => void]>([
  ["is a link and was a file", "file_not_found", {}, (thing, { outside }) => (mkdirSync(join(thing, "..")), symlinkSync(join(outside, "secret.txt"), thing))],
  ["lies behind a link", "file_not_found", {}, (thing, { outside }) => (writeFileSync(join(outside, "item"), "x"), symlinkSync(outside, join(thing, "..")))],
  ["is to go outside", "outside", { path: "../outside/new" }, (thing) => (mkdirSync(join(thing, "..")), writeFileSync(thing, "x"))],
  ["is to go where no tool writes", "sealed", { path: ".git/hooks/post-checkout" }, (thing) => (mkdirSync(join(thing, "..")), writeFileSync(thing, "x"))],
  ["is to go into the data folder", "outside", { path: "../data/record.key" }, (thing) => (mkdirSync(join(thing, "..")), writeFileSync(thing, "x"))],
])("of a changed trash nothing comes back that %s", async (_, code, changes, make) => {
  const here = place()
  const trash = join(here.dataFolder, "trash")
  mkdirSync(trash)
  make(join(trash, someId, "item"), here)
  writeFileSync(join(trash, `${someId}.json`), JSON.stringify({ ...note, ...changes }))
  const before = [inventory(here.outside), readdirSync(here.dataFolder)]
  expect(await refusal(() => here.trash.restore(someId))).toBe(code)
  expect([inventory(here.outside), readdirSync(here.dataFolder)]).toEqual(before)
  expect(inventory(here.workspace)).toEqual({})
}) // prettier-ignore
