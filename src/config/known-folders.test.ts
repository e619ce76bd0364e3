import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { enterFolder, examineFolder, rememberFolder } from "./known-folders.ts"
import { makeFolders, problemsOf } from "./testing.ts"

/** A working folder with the default data folder in it, and what a cloned repository would have brought. */
function makePlace() {
  const { cwd, home } = makeFolders()
  const dataDir = join(cwd, ".quartermaster")
  const enter = (more: { named?: boolean; env?: Record<string, string>; dataDir?: string } = {}) =>
    problemsOf(() => enterFolder(more.dataDir ?? dataDir, { home, env: {}, named: false, ...more }))
  const bring = (...names: string[]) => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    for (const name of names) writeFileSync(join(dataDir, name), "prepared", { mode: 0o600 })
  }
  const trust = (given = dataDir) => problemsOf(() => examineFolder(given, { cwd, home, env: {} }).pin())
  return { cwd, home, dataDir, enter, bring, trust, notes: join(home, ".config", "quartermaster", "folders") }
}

const notMadeHere = (dataDir: string) => [
  {
    file: dataDir,
    key: "",
    sentence: `The folder ${dataDir} was not made here. It may bring approvals, rules and people that you never saw. Look at it, then say so with: qm trust --data ${dataDir}`,
  },
]

test("a new folder is known from then on, by a private note and an id in the folder", () => {
  const { enter, bring, dataDir, notes } = makePlace()
  expect(enter()).toEqual([])
  expect(readdirSync(dataDir)).toEqual(["store.id"])
  expect(statSync(join(dataDir, "store.id")).mode & 0o777).toBe(0o600)
  expect(statSync(dataDir).mode & 0o777).toBe(0o700)
  const [note, ...others] = readdirSync(notes)
  expect(others).toEqual([])
  expect(statSync(join(notes, note!)).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(join(notes, note!), "utf8"))).toEqual({
    folder: dataDir,
    id: readFileSync(join(dataDir, "store.id"), "utf8").trim(),
  })
  bring("quartermaster.db", "record.key")
  expect(enter()).toEqual([])
})

test.each([
  ["a database", ["quartermaster.db", "record.key", "store.id"]],
  ["a database alone", ["quartermaster.db"]],
  ["a log that a new database would take in", ["quartermaster.db-wal"]],
  ["a key", ["record.key"]],
  ["an id", ["store.id"]],
])("a folder that came with %s is refused until a person trusts it", (_, names) => {
  const { enter, bring, dataDir, trust } = makePlace()
  bring(...names)
  if (names.includes("store.id")) writeFileSync(join(dataDir, "store.id"), `${"a1".repeat(16)}\n`)
  expect(enter()).toEqual(notMadeHere(dataDir))
  expect(enter()).toEqual(notMadeHere(dataDir))
  expect(trust()).toEqual([])
  expect(enter()).toEqual([])
})

test("what only qm init or the user put there does not make a folder foreign", () => {
  const { enter, bring } = makePlace()
  bring("config.schema.json", ".gitignore")
  expect(enter()).toEqual([])
})

test("a folder that a person names is opened as it is, and remembered only when it is new", () => {
  const { enter, bring, dataDir, cwd } = makePlace()
  bring("quartermaster.db")
  expect(enter({ named: true })).toEqual([])
  expect(enter()).toEqual(notMadeHere(dataDir))
  const fresh = join(cwd, "fresh")
  expect(enter({ named: true, dataDir: fresh })).toEqual([])
  expect(enter({ dataDir: fresh })).toEqual([])
})

test.each([
  ["moved", (from: string, to: string) => renameSync(from, to)],
  ["copied", (from: string, to: string) => cpSync(from, to, { recursive: true, mode: 0 })],
])("a known folder that was %s elsewhere is not known there", (_, carry) => {
  const { enter, bring, dataDir, cwd } = makePlace()
  enter()
  bring("quartermaster.db")
  const other = join(cwd, "other")
  carry(dataDir, other)
  expect(enter({ dataDir: other })).toEqual(notMadeHere(other))
})

test("another folder put in the place of a known one is not known", () => {
  const { enter, bring, dataDir } = makePlace()
  enter()
  rmSync(dataDir, { recursive: true })
  bring("quartermaster.db")
  expect(enter()).toEqual(notMadeHere(dataDir))
  writeFileSync(join(dataDir, "store.id"), `${"b2".repeat(16)}\n`, { mode: 0o600 })
  expect(enter()).toEqual(notMadeHere(dataDir))
})

test("another user's knowledge counts for nothing here", () => {
  const { enter, bring, dataDir, cwd } = makePlace()
  enter()
  bring("quartermaster.db")
  const other = join(cwd, "other-home")
  expect(problemsOf(() => enterFolder(dataDir, { home: other, env: {}, named: false }))).toEqual(notMadeHere(dataDir))
})

test.each<[string, (dataDir: string) => void, string]>([
  ["the folder can be written by others", (dataDir) => chmodSync(dataDir, 0o770), "Others can write"],
  ["a file can be written by others", (dataDir) => chmodSync(join(dataDir, "record.key"), 0o602), "Others can write"],
  [
    "the database was checked out with the mode of a plain file",
    (dataDir) => writeFileSync(join(dataDir, "quartermaster.db-wal"), "", { mode: 0o644 }),
    "Quartermaster did not make it",
  ],
  ["something in it is a link", (dataDir) => symlinkSync("/etc", join(dataDir, "artifacts")), "is a link"],
  [
    "its id can be read by others",
    (dataDir) => chmodSync(join(dataDir, "store.id"), 0o644),
    "Others can read this file",
  ],
  ["its id is damaged", (dataDir) => writeFileSync(join(dataDir, "store.id"), ""), "This file is damaged"],
])("a known folder is refused when %s", (_, spoil, words) => {
  const { enter, bring, dataDir, trust } = makePlace()
  enter()
  bring("quartermaster.db", "record.key")
  expect(enter()).toEqual([])
  spoil(dataDir)
  expect(enter()).toEqual([expect.objectContaining({ sentence: expect.stringContaining(words) as string })])
  expect(trust()).toHaveLength(1)
})

test.runIf(process.getuid?.() === 0)("a known folder is refused when something in it belongs to somebody else", () => {
  const { enter, bring, dataDir } = makePlace()
  enter()
  bring("quartermaster.db")
  chownSync(join(dataDir, "quartermaster.db"), 65534, 65534)
  expect(enter()).toEqual([
    expect.objectContaining({ sentence: expect.stringContaining("belongs to somebody else") as string }),
  ])
})

test("a link to a known folder is not the default folder", () => {
  const { enter, bring, dataDir, cwd } = makePlace()
  enter()
  bring("quartermaster.db")
  mkdirSync(join(cwd, "cloned"))
  const link = join(cwd, "cloned", ".quartermaster")
  symlinkSync(dataDir, link)
  expect(enter({ dataDir: link })).toEqual([
    expect.objectContaining({ sentence: "This data folder is a link. Name the folder itself with --data." }),
  ])
  expect(enter({ dataDir: link, named: true })).toEqual([])
})

test("inside a tool nothing becomes known and nothing is trusted", () => {
  const { enter, bring, dataDir, home, cwd, notes } = makePlace()
  const env = { QM_INSIDE: "1" }
  expect(enter({ env })).toEqual([])
  expect(existsSync(notes)).toBe(false)
  bring("quartermaster.db")
  expect(enter({ env })).toEqual([])
  expect(enter()).toEqual(notMadeHere(dataDir))
  expect(problemsOf(() => examineFolder(dataDir, { cwd, home, env }))).toEqual([
    expect.objectContaining({ sentence: expect.stringContaining("from inside a tool") as string }),
  ])
})

test("a folder without data cannot be trusted", () => {
  const { trust, cwd } = makePlace()
  expect(trust()).toHaveLength(1)
  expect(trust(cwd)).toHaveLength(1)
})

test("where nothing can be remembered a new folder must be named", () => {
  const { enter, home, dataDir } = makePlace()
  writeFileSync(join(home, ".config"), "in the way")
  expect(enter()).toEqual([
    expect.objectContaining({ sentence: expect.stringContaining(`name the folder with: --data ${dataDir}`) as string }),
  ])
  expect(enter({ named: true })).toEqual([])
})

test("where there can be no folder the store is left to say so", () => {
  const { enter, cwd } = makePlace()
  writeFileSync(join(cwd, "file"), "")
  expect(enter({ dataDir: join(cwd, "file") })).toEqual([])
  expect(enter({ dataDir: join(cwd, "file", "below") })).toEqual([])
  expect(enter({ dataDir: "/proc/no-such-folder" })).toEqual([])
})

test("a restored folder can be remembered in its place", () => {
  const { enter, bring, dataDir, home } = makePlace()
  bring("quartermaster.db")
  rememberFolder(dataDir, home)
  expect(enter()).toEqual([])
})

test("ten processes that make one folder at once all know it, and agree on its id", async () => {
  const { dataDir, home, notes } = makePlace()
  const source = `
    import { enterFolder } from ${JSON.stringify(import.meta.resolve("../../dist/config/known-folders.js"))}
    enterFolder(${JSON.stringify(dataDir)}, { home: ${JSON.stringify(home)}, env: {}, named: false })
    enterFolder(${JSON.stringify(dataDir)}, { home: ${JSON.stringify(home)}, env: {}, named: false })`
  const codes = await Promise.all(
    Array.from({ length: 10 }, () => {
      const child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "inherit" })
      return new Promise<number | null>((resolve) => child.on("close", resolve))
    }),
  )
  expect(codes).toEqual(Array.from({ length: 10 }, () => 0))
  expect(readdirSync(dataDir)).toEqual(["store.id"])
  expect(readdirSync(notes)).toHaveLength(1)
})
