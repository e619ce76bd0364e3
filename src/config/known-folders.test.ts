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
import { join } from "node:path"
import { expect, test } from "vitest"
import {
  asUnnamed,
  examineFolder,
  knownFolders,
  rememberFolder,
  requireFolderOfProgram,
  requireKnownFolder,
} from "./known-folders.ts"
import { problemsOf } from "./testing.ts"
import { makeDataFolder } from "./testing/known-folders.ts"

const notMadeHere = (dataDir: string) => [
  {
    file: dataDir,
    key: "",
    sentence: `The folder ${dataDir} was not created by you on this machine. It may contain approvals, rules and people that you do not know. Check it, then run: qm trust --data ${dataDir}`,
  },
]

test("a new folder is remembered by a private note and an id in the folder", () => {
  const { enter, bring, dataDir, notes } = makeDataFolder()
  expect(enter()).toEqual([])
  expect(readdirSync(dataDir)).toEqual([".gitignore", "store.id"])
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
  const { enter, bring, dataDir, trust } = makeDataFolder()
  bring(...names)
  if (names.includes("store.id")) writeFileSync(join(dataDir, "store.id"), `${"a1".repeat(16)}\n`)
  expect(enter()).toEqual(notMadeHere(dataDir))
  expect(enter()).toEqual(notMadeHere(dataDir))
  expect(trust()).toEqual([])
  expect(enter()).toEqual([])
})

test("files of qm init or of the user do not make a folder foreign", () => {
  const { enter, bring } = makeDataFolder()
  bring("config.schema.json", ".gitignore")
  expect(enter()).toEqual([])
})

test("a named folder is opened as it is, and remembered only if it is new", () => {
  const { enter, bring, dataDir, cwd } = makeDataFolder()
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
  const { enter, bring, dataDir, cwd } = makeDataFolder()
  enter()
  bring("quartermaster.db")
  const other = join(cwd, "other")
  carry(dataDir, other)
  expect(enter({ dataDir: other })).toEqual(notMadeHere(other))
})

test("another folder put in the place of a known one is not known", () => {
  const { enter, bring, dataDir } = makeDataFolder()
  enter()
  rmSync(dataDir, { recursive: true })
  bring("quartermaster.db")
  expect(enter()).toEqual(notMadeHere(dataDir))
  writeFileSync(join(dataDir, "store.id"), `${"b2".repeat(16)}\n`, { mode: 0o600 })
  expect(enter()).toEqual(notMadeHere(dataDir))
})

test("folders remembered by another user are not known", () => {
  const { enter, bring, dataDir, cwd } = makeDataFolder()
  enter()
  bring("quartermaster.db")
  const other = join(cwd, "other-home")
  expect(problemsOf(() => requireKnownFolder(dataDir, { home: other, env: {}, named: false }))).toEqual(
    notMadeHere(dataDir),
  )
})

test.each<[string, (dataDir: string) => void, string]>([
  ["the folder can be written by others", (dataDir) => chmodSync(dataDir, 0o770), "Other users can write to"],
  [
    "a file can be written by others",
    (dataDir) => chmodSync(join(dataDir, "record.key"), 0o602),
    "Other users can write to",
  ],
  [
    "the database was checked out with the mode of a plain file",
    (dataDir) => writeFileSync(join(dataDir, "quartermaster.db-wal"), "", { mode: 0o644 }),
    "Quartermaster did not create it",
  ],
  ["something in it is a link", (dataDir) => symlinkSync("/etc", join(dataDir, "artifacts")), "is a link"],
  [
    "its id can be read by others",
    (dataDir) => chmodSync(join(dataDir, "store.id"), 0o644),
    "Other users can read this file",
  ],
  ["its id is damaged", (dataDir) => writeFileSync(join(dataDir, "store.id"), ""), "This file is damaged"],
])("a known folder is refused when %s", (_, spoil, words) => {
  const { enter, bring, dataDir, trust } = makeDataFolder()
  enter()
  bring("quartermaster.db", "record.key")
  expect(enter()).toEqual([])
  spoil(dataDir)
  expect(enter()).toEqual([expect.objectContaining({ sentence: expect.stringContaining(words) as string })])
  expect(trust()).toHaveLength(1)
})

test.runIf(process.getuid?.() === 0)("a known folder is refused when something in it belongs to another user", () => {
  const { enter, bring, dataDir } = makeDataFolder()
  enter()
  bring("quartermaster.db")
  chownSync(join(dataDir, "quartermaster.db"), 65534, 65534)
  expect(enter()).toEqual([
    expect.objectContaining({ sentence: expect.stringContaining("belongs to another user") as string }),
  ])
})

test("a link to a known folder is not the default folder", () => {
  const { enter, bring, dataDir, cwd } = makeDataFolder()
  enter()
  bring("quartermaster.db")
  mkdirSync(join(cwd, "cloned"))
  const link = join(cwd, "cloned", ".quartermaster")
  symlinkSync(dataDir, link)
  expect(enter({ dataDir: link })).toEqual([
    expect.objectContaining({
      sentence: "This data folder is a link. Name the folder itself with --data, or data.dir in your code.",
    }),
  ])
  expect(enter({ dataDir: link, named: true })).toEqual([])
})

test("inside a tool nothing becomes known and nothing is trusted", () => {
  const { enter, bring, dataDir, home, cwd, notes } = makeDataFolder()
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
  const { trust, cwd } = makeDataFolder()
  expect(trust()).toHaveLength(1)
  expect(trust(cwd)).toHaveLength(1)
})

test("if nothing can be remembered, a new folder must be named", () => {
  const { enter, home, dataDir } = makeDataFolder()
  writeFileSync(join(home, ".config"), "in the way")
  expect(enter()).toEqual([
    expect.objectContaining({ sentence: expect.stringContaining(`name the folder with: --data ${dataDir}`) as string }),
  ])
  expect(enter({ named: true })).toEqual([])
})

test("if no folder can be created, opening the store reports it", () => {
  const { enter, cwd } = makeDataFolder()
  writeFileSync(join(cwd, "file"), "")
  expect(enter({ dataDir: join(cwd, "file") })).toEqual([])
  expect(enter({ dataDir: join(cwd, "file", "below") })).toEqual([])
  expect(enter({ dataDir: "/proc/no-such-folder" })).toEqual([])
})

test("the folders this user has used are listed as long as they are known and have data", () => {
  const { enter, bring, dataDir, home, cwd } = makeDataFolder()
  expect(knownFolders(home)).toEqual([])
  enter()
  bring("quartermaster.db")
  const other = join(cwd, "other")
  enter({ dataDir: other, named: true })
  expect(knownFolders(home)).toEqual([dataDir, other])
  chmodSync(other, 0o777)
  expect(knownFolders(home)).toEqual([dataDir])
  renameSync(dataDir, join(cwd, "moved"))
  expect(knownFolders(home)).toEqual([])
})

test("a restored folder can be remembered in its place", () => {
  const { enter, bring, dataDir, home } = makeDataFolder()
  bring("quartermaster.db")
  rememberFolder(dataDir, home)
  expect(enter()).toEqual([])
})

test("a program uses a folder that came from elsewhere only if its own code names it, and is told both ways", () => {
  const { bring, dataDir, home, trust } = makeDataFolder()
  bring("quartermaster.db", "record.key")
  const open = (data?: { dir?: string }, from: string | undefined = home) =>
    problemsOf(() => requireFolderOfProgram(dataDir, data, { home: from, env: {} }))
  const { sentence } = notMadeHere(dataDir)[0]!
  const bothWays = [
    {
      file: dataDir,
      key: "",
      sentence: sentence.replace(
        "then run",
        `then name it in the code of your program, data: { dir: "${dataDir}" } (the way in a container whose home folder is new each time), or run`,
      ),
    },
  ]
  for (const data of [undefined, {}, asUnnamed({ dir: dataDir })]) expect(open(data)).toEqual(bothWays)
  expect(open({ dir: dataDir })).toEqual([])
  expect(trust()).toEqual([])
  expect(open()).toEqual([])
  expect(open(asUnnamed({ dir: dataDir }))).toEqual([])
})

test("a program uses a new folder also where it cannot be remembered", () => {
  const { cwd, bring, dataDir } = makeDataFolder()
  const home = join(cwd, "a-file")
  writeFileSync(home, "")
  expect(problemsOf(() => requireFolderOfProgram(dataDir, undefined, { home, env: {} }))).toEqual([])
  bring("quartermaster.db")
  expect(problemsOf(() => requireFolderOfProgram(dataDir, undefined, { home, env: {} }))).toHaveLength(1)
})
