import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { buildSync } from "esbuild"
import { expect, test } from "vitest"
import type { TrashItem } from "./file-access.ts"
import { createPathPolicy } from "../../guards/paths/path-policy.ts"
import { runChild } from "../../testing/child-process.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openTrash } from "./files.ts"
import {
  canOpenByDescriptor,
  descriptorOpener,
  realPathOpener,
  type FolderOpener,
  type FolderHandle,
} from "./folder-handle.ts"
import { folderInMemory, inventory, openTestFiles, type TestFiles } from "./testing.ts"
import { moveToTrash } from "./trash.ts"

/** The current sources as one file that Node can run. */
function bundled(): string {
  const outfile = join(realpathSync(temporaryFolder()), "parts.mjs")
  const contents = `export * from ${JSON.stringify(join(import.meta.dirname, "files.ts"))}`
  const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire("/")' }
  const stdin = { contents, resolveDir: import.meta.dirname }
  buildSync({ stdin, bundle: true, platform: "node", format: "esm", outfile, banner })
  return outfile
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** The moments to kill it, judged by the trash and the workspace. */
const moments: ((trash: string[], workspace: string[]) => boolean)[] = [
  (trash) => trash.length > 0,
  (trash) => trash.some((name) => name.endsWith(".json")),
  (_, workspace) => !workspace.includes("dir"),
]

test("a process killed while it deletes a folder loses nothing of it", async () => {
  const parts = bundled()
  const seen = { before: 0, between: 0, after: 0 }
  for (let round = 0; round < 24; round++) {
    // On another device the folder is copied, so there is more time for the kill.
    const [workspace, dataFolder] = [
      realpathSync(temporaryFolder()),
      round % 2 === 0 ? realpathSync(temporaryFolder()) : folderInMemory(),
    ]
    for (let folder = 0; folder < 20; folder++) {
      mkdirSync(join(workspace, `dir/${folder}`), { recursive: true })
      for (let file = 0; file < 30; file++) writeFileSync(join(workspace, `dir/${folder}/${file}`), `${folder}/${file}`)
    }
    const before = inventory(workspace)
    const started = runChild(`
      import { openFiles } from ${JSON.stringify(parts)}
      const files = openFiles(${JSON.stringify({ workspace, dataFolder })})
      await files.trash("dir", "ann")
    `)
    const moment = moments[Math.floor(round / 2) % moments.length]!
    while (!moment(namesIn(join(dataFolder, "trash")), namesIn(workspace)) && started.process.exitCode === null) await pause(0) // prettier-ignore
    await pause(Math.floor(round / moments.length / 2) * 2)
    started.process.kill("SIGKILL")
    await started.ended
    const left = Object.keys(inventory(workspace)).length
    const [item] = await openTrash({ workspace, dataFolder }).list()
    seen[item === undefined ? "before" : left > 0 ? "between" : "after"]++
    if (item === undefined) expect(inventory(workspace)).toEqual(before)
    else {
      for (const name of readdirSync(workspace)) rmSync(join(workspace, name), { recursive: true })
      await openTrash({ workspace, dataFolder }).restore(item.id)
      expect(inventory(workspace)).toEqual(before)
    }
  }
  console.log("Killed while it deleted:", JSON.stringify(seen))
}, 120_000)

const openers = Object.entries(
  canOpenByDescriptor()
    ? { descriptor: descriptorOpener, "real path": realPathOpener }
    : { "real path": realPathOpener },
) as [string, FolderOpener][]

/** Deletes with another folder opener. */
function remove(here: TestFiles, path: string, opener: FolderOpener): Promise<TrashItem> {
  const { workspace, dataFolder } = here
  const pathPolicy = createPathPolicy({ workspace, privatePaths: [dataFolder] })
  return moveToTrash({ pathPolicy, opener, dataFolder, lastCleanup: { at: 0, bytes: 0 } }, path, "ann")
}

test("a folder of any size is moved without counting, and counted when the trash is cleaned", async () => {
  const here = openTestFiles()
  for (let count = 0; count < 1100; count++) here.put(`dir/${count % 3}/${count}`, "x")
  const { ino } = statSync(join(here.workspace, "dir"))
  const inner = statSync(join(here.workspace, "dir/1/100")).ino
  const { id, size } = await here.files.trash("dir", "ann")
  expect(size).toBe(0)
  const item = join(here.dataFolder, "trash", id, "item")
  expect([statSync(item).ino, statSync(join(item, "1/100")).ino]).toEqual([ino, inner])
  here.put("a")
  await remove(here, "a", canOpenByDescriptor() ? descriptorOpener : realPathOpener)
  expect((await here.trash.list()).find((one) => one.id === id)).toMatchObject({ size: 1100 })
  await here.trash.restore(id)
  expect([statSync(join(here.workspace, "dir")).ino, here.read("dir/2/2")]).toEqual([ino, "x"])
})

/** A folder opener that calls `used` each time a name in a folder is used. */
function observed(opener: FolderOpener, used: (name: string, folder: FolderHandle) => void): FolderOpener {
  const watched = (folder: FolderHandle): FolderHandle => ({
    ...folder,
    at: (name) => (used(name, folder), folder.at(name)),
  })
  return { open: (path) => watched(opener.open(path)), openIn: (folder, name) => watched(opener.openIn(folder, name)) }
}

test.each(openers)("what replaces an item while it is deleted is not lost either (%s)", async (_, opener) => {
  for (let moment = 1; moment < 7; moment++) {
    const here = openTestFiles()
    here.put("elsewhere/mine", "mine")
    here.put("file", "text")
    let times = 0
    const swapping = observed(opener, (name, { real }) => {
      if (name !== "file" || real !== here.workspace || ++times !== moment) return
      rmSync(join(real, name), { force: true })
      renameSync(join(here.workspace, "elsewhere"), join(real, name))
    })
    await remove(here, "file", swapping).catch(() => {})
    const [item] = await here.trash.list()
    if (item?.kind === "folder") await here.trash.restore(item.id)
    expect(contents(here.workspace)).toContain("mine")
  }
}) // prettier-ignore

const tree = { "dir/a": "a", "dir/b/c": "c", "dir/link": "-> a" }

/** Everything in it except folders, with kind and content. */
const contents = (folder: string) =>
  Object.entries(inventory(folder)).flatMap(([name, text]) => (name.endsWith("/") ? [] : [text]))

const failures = openers.flatMap(([name, opener]) => [["killed", name, opener, true], ["hindered", name, opener, false]] as const) // prettier-ignore

test.each(failures)("at whatever step the process is %s, everything is where it was or can be restored (%s)", async (_, _name, opener, isOver) => {
  const seen = { before: 0, between: 0, after: 0 }
  let isKilled = true
  for (let last = 0; isKilled; last++) {
    const here = openTestFiles()
    for (const [path, text] of Object.entries(tree)) here.put(path, text)
    let steps = 0
    const dying = observed(opener, () => {
      if (isOver ? ++steps > last : ++steps === last + 1) throw new Error("killed")
    })
    await remove(here, "dir", dying).catch(() => {})
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
  expect([seen.before > 0, seen.between, seen.after > 0]).toEqual([true, 0, true])
}) // prettier-ignore
