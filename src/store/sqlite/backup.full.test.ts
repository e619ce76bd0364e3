import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { runChild } from "../../testing/child-process.ts"
import { temporaryFolder, until } from "../../testing/test-app.ts"
import { backup } from "./backup.ts"
import { openDatabase } from "./database.ts"
import { DirectRecorder } from "./direct-recorder.ts"
import { Journal } from "./journal.ts"
import { currentVersion } from "./migrations-version.ts"
import { newOwnerName } from "./owner.ts"
import { restore } from "../../app/restore.ts"
import { callEntries, hourlyCalls, writeEntries, openTestStore } from "../testing/test-store.ts"

const day = Date.UTC(2026, 0, 1)

/** A store with one of each kind of stored data, and a folder for the backup. */
async function filled() {
  const store = await openTestStore({ dataDir: join(temporaryFolder(), "data") })
  await writeEntries(store, hourlyCalls(day, 3, "a"))
  const artifact = {
    type: "text",
    content: Buffer.from("kept"),
    mimeType: "text/plain",
    isBinary: false,
    agentId: "ann",
  }
  const ref = await store.artifacts.put({ ...artifact, meta: null })
  store.database.exec("insert into agent_environment values ('ann', 's', 'LANG', 'de', 1)")
  writeFileSync(join(store.dir, "token"), "a person's token", { mode: 0o600 })
  mkdirSync(join(store.dir, "more", "deep"), { recursive: true })
  writeFileSync(join(store.dir, "more", "deep", "file"), "deep")
  return { store, ref, folder: join(temporaryFolder(), "copy"), target: join(temporaryFolder(), "data") }
}

interface Manifest {
  storeVersion: number
  head: string
  files: { name: string; size: number; sha256: string }[]
}
const manifestIn = (folder: string) => JSON.parse(readFileSync(join(folder, "backup.json"), "utf8")) as Manifest
const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex")

test("a backup has all stored data, each file with its size and digest, readable only by its owner", async () => {
  const { store, ref, folder } = await filled()
  const copied = await backup(store, folder)
  const { files, head, storeVersion } = manifestIn(folder)
  const names = [
    ".gitignore",
    "artifacts/" + ref.replace("artifact:", ""),
    "more/deep/file",
    "quartermaster.db",
    "record.key",
    "token",
  ]
  expect(files.map((file) => file.name).sort()).toEqual(names)
  expect(copied).toEqual({ files: 6, bytes: files.reduce((sum, file) => sum + file.size, 0) })
  for (const { name, size, sha256: digest } of files) {
    const file = join(folder, name)
    expect({ name, size: statSync(file).size, digest: sha256(file) }).toEqual({ name, size, digest })
    expect(statSync(file).mode & 0o077).toBe(0)
  }
  expect(storeVersion).toBe(currentVersion)
  expect(await store.audit.verify(head)).toMatchObject({ ok: true })
  expect(readdirSync(dirname(folder))).toEqual(["copy"])
})

test("a restored backup verifies, has a note about the restore, and can be written to", async () => {
  const { store, ref, folder, target } = await filled()
  await backup(store, folder)
  await writeEntries(store, hourlyCalls(day, 1, "later"))
  expect(await restore(folder, target)).toMatchObject({ files: 6, records: 6 })
  const restored = await openTestStore({ dataDir: target })
  expect((await restored.audit.list()).map((row) => row.callId).sort()).toEqual(["a0", "a1", "a2"])
  expect(Buffer.from((await restored.artifacts.get(ref))!.content).toString()).toBe("kept")
  expect(restored.database.prepare("select value from agent_environment").get()).toEqual({ value: "de" })
  expect(readFileSync(join(target, "token"), "utf8")).toBe("a person's token")
  expect(readFileSync(join(target, "more/deep/file"), "utf8")).toBe("deep")
  expect(statSync(join(target, "record.key")).mode & 0o777).toBe(0o600)
  expect(statSync(target).mode & 0o777).toBe(0o700)
  const last = restored.database.prepare("select text from segments order by place desc limit 1").get() as {
    text: string
  }
  expect(last.text).toContain("Restored from a backup that was made at 20")
  await writeEntries(restored, hourlyCalls(day, 1, "new"))
  expect(await restored.audit.verify(manifestIn(folder).head)).toMatchObject({ ok: true, records: 9 })
  expect(await restored.audit.verify(await store.audit.head())).toMatchObject({ ok: false })
})

test("after a restore a call that was running is interrupted, and one that waited still waits without an owner", async () => {
  const { store, folder, target } = await filled()
  const { key, journalDir } = store
  const journal = new Journal(journalDir, key, newOwnerName(), () => {})
  const [start, end] = callEntries({ callId: "running", at: day })
  await journal.write(start, "crash")
  store.database.exec(
    `insert into calls (id, state, owner, epoch, agent_id, session_id, tool, definition_hash, input_digest, request, asks, created_at, updated_at, change)
     values ('waits', 'waiting', 'somebody', 3, 'ann', 's', 'probe', '', '', '{}', '[]', 0, 0, 1)`,
  )
  await backup(store, folder)
  await journal.write(end, "crash")
  journal.close()
  await restore(folder, target)
  const restored = await openTestStore({ dataDir: target })
  expect(await restored.audit.list({ status: "interrupted" })).toMatchObject([{ callId: "running" }])
  expect(await store.audit.list({ status: "interrupted" })).toEqual([])
  expect(restored.database.prepare("select owner, epoch, state from calls").all()).toEqual([
    { owner: "", epoch: 4, state: "waiting" },
  ])
  expect(restored.database.prepare("select closed from chains order by ordinal").all()).toEqual([
    { closed: 0 },
    { closed: 1 },
  ])
  expect(await restored.audit.verify()).toMatchObject({ ok: true })
})

const ada = [{ by: "ada", at: day }]
const yes = { approved: true, by: "ada", at: day }
const no = { approved: false, by: "ada", at: day }
const again = {
  answer: null,
  votes: "[]",
  revision: 2,
  note: expect.stringMatching(/restored from a backup/) as string,
}
const asItWas = (answer: object | null, votes: object[] = []) => ({
  answer: answer && JSON.stringify(answer),
  votes: JSON.stringify(votes),
  revision: 1,
  note: null,
})

test.each<[string, object | null, object[], string, object]>([
  ["ready", yes, ada, "waiting", again],
  ["ready", { ...no, edit: { input: {} } }, [], "waiting", again],
  ["ready", no, [], "ready", asItWas(no)],
  ["released", yes, [], "held", again],
  ["released", no, [], "released", asItWas(no)],
  ["waiting", null, ada, "waiting", again],
  ["held", null, ada, "held", again],
  ["waiting", null, [], "waiting", asItWas(null)],
  ["decided", null, [], "decided", asItWas(null)],
  ["started", yes, ada, "started", asItWas(yes, ada)],
  ["ended", yes, ada, "ended", asItWas(yes, ada)],
])("no approval is used twice through a backup: a call that was %s with %j and votes %j is %s", async (...given) => {
  const [state, answer, votes, after, rest] = given
  const { store, folder, target } = await filled()
  store.database
    .prepare(
      `insert into calls (id, state, owner, epoch, agent_id, session_id, tool, definition_hash, input_digest, request, asks, created_at, updated_at, change, answer, votes)
       values ('c', ?, 'somebody', 3, 'ann', 's', 'probe', '', '', '{}', '[]', 0, 0, 1, ?, ?)`,
    )
    .run(state, answer && JSON.stringify(answer), JSON.stringify(votes))
  await backup(store, folder)
  await restore(folder, target)
  const restored = await openTestStore({ dataDir: target })
  const fields = "state, answer, votes, revision, json_extract(card, '$.note') as note"
  expect(restored.database.prepare(`select ${fields} from calls`).get()).toEqual({ state: after, ...rest })
})

/** Computed when its test begins, because a time computed when the file loads may be too old by then. */
const beat = (owner: string, ago: number) => () => `insert into processes values ('${owner}', ${Date.now() - ago})`
const callOf = (owner: string, state: string) => () =>
  `insert into calls (id, state, owner, epoch, agent_id, session_id, tool, definition_hash, input_digest, request, asks, created_at, updated_at, change)
   values ('w', '${state}', '${owner}', 1, 'ann', 's', 'probe', '', '', '{}', '[]', 0, 0, 1)`
const here = newOwnerName()
const dead = here.replace(/\|\d+\|/, "|999999999|")
const away = here.replace(/^[^|]*/, "elsewhere")

test.each<[string, () => string, string | undefined]>([
  ["a heartbeat of a live process", beat(here, 0), `Process ${process.pid} still writes to `],
  ["a heartbeat of a process that died", beat(dead, 0), undefined],
  ["a fresh heartbeat from another machine", beat(away, 0), `Process ${process.pid} on elsewhere still writes`],
  ["an old heartbeat from another machine", beat(away, 60_000), undefined],
  ["a call that a live process owns", callOf(here, "waiting"), `Process ${process.pid} still writes to `],
  ["a call that a live process ended", callOf(here, "ended"), undefined],
  ["a call of a process that died", callOf(dead, "started"), undefined],
  ["a call of another machine that no longer beats", callOf(away, "started"), undefined],
])("over a store with %s", async (_what, sql, sentence) => {
  const { store, folder } = await filled()
  await backup(store, folder)
  const other = await openTestStore({ dataDir: join(temporaryFolder(), "data") })
  other.database.exec(sql())
  await other.close()
  const restoring = restore(folder, other.dir, { replace: true })
  if (sentence === undefined) expect(await restoring).toMatchObject({ files: 6 })
  else {
    await expect(restoring).rejects.toThrow(sentence)
    expect(readdirSync(dirname(other.dir))).toEqual(["data"])
  }
})

test("a store is not replaced while the command line runs a call, only after the call ended or its process died", async () => {
  const { store, folder } = await filled()
  await backup(store, folder)
  const other = await openTestStore({ dataDir: join(temporaryFolder(), "data") })
  const [start, end] = callEntries({ callId: "x", at: day })
  await new DirectRecorder(other.database, other.key, dead).write(callEntries({ callId: "left", at: day })[0])
  const recorder = new DirectRecorder(other.database, other.key, here)
  await recorder.write(start)
  await expect(restore(folder, other.dir, { replace: true })).rejects.toThrow(
    `Process ${process.pid} still writes to ${other.dir}. Stop it, then restore again.`,
  )
  await recorder.write(end)
  await other.close()
  expect(await restore(folder, other.dir, { replace: true })).toMatchObject({ files: 6 })
})

test("a backup is refused unless its folder is new and outside the data folder", async () => {
  const { store, folder } = await filled()
  mkdirSync(folder)
  writeFileSync(join(folder, "mine"), "x")
  await expect(backup(store, folder)).rejects.toThrow(/copy is not empty\. Give a folder that does not exist yet\.$/)
  expect(readdirSync(folder)).toEqual(["mine"])
  for (const within of ["backups", ".", "artifacts/x"])
    await expect(backup(store, join(store.dir, within))).rejects.toThrow(/inside the data folder/)
  await expect(backup(store, join(folder, "mine", "x"))).rejects.toThrow(/cannot be written/)
  expect(readdirSync(folder)).toEqual(["mine"])
  expect(await backup(store, `${store.dir}-beside`)).toMatchObject({ files: 6 })
  mkdirSync(join(folder, "empty"))
  expect(await backup(store, join(folder, "empty"))).toMatchObject({ files: 6 })
})

const damage: [string, (folder: string) => void, RegExp][] = [
  ["a changed byte in the database", (folder) => flip(join(folder, "quartermaster.db")), /quartermaster\.db is not as it was written/],
  ["a changed byte in the key", (folder) => flip(join(folder, "record.key")), /record\.key is not as it was written/],
  ["a changed byte in a file", (folder) => flip(join(folder, "more/deep/file")), /more\/deep\/file is not as it was written/],
  ["a file that is longer", (folder) => writeFileSync(join(folder, "token"), "a person's token!"), /token is not as it was written/],
  ["a file that is gone", (folder) => change(folder, (manifest) => manifest.files.push({ name: "gone", size: 1, sha256: "0".repeat(64) })), /ENOENT.*What was there is unchanged/],
  ["no manifest", (folder) => writeFileSync(join(folder, "backup.json"), ""), /is not a complete backup\. Its backup\.json cannot be read/],
  ["a manifest of another folder", (folder) => change(folder, (manifest) => (manifest.files[0]!.name = "../quartermaster.db")), /cannot be read/],
  ["a manifest of an absolute file", (folder) => change(folder, (manifest) => (manifest.files[0]!.name = "/quartermaster.db")), /cannot be read/],
  ["a manifest without the key", (folder) => change(folder, (manifest) => (manifest.files = manifest.files.filter(({ name }) => name !== "record.key"))), /has no record\.key/],
  ["a newer version", (folder) => change(folder, (manifest) => manifest.storeVersion++), /newer version/],
  ["another head", (folder) => change(folder, (manifest) => (manifest.head = `9.${manifest.head.slice(2)}`)), /checkpoint 9: The audit log is older than the checkpoint/],
] // prettier-ignore

function flip(file: string): void {
  const bytes = readFileSync(file)
  bytes[bytes.length - 2]! ^= 1
  writeFileSync(file, bytes)
}

function change(folder: string, edit: (manifest: Manifest) => unknown): void {
  const manifest = manifestIn(folder)
  edit(manifest)
  writeFileSync(join(folder, "backup.json"), JSON.stringify(manifest))
}

test.each(damage)(
  "a backup with %s is not restored, and the attempt leaves nothing behind",
  async (_what, harm, sentence) => {
    const { store, folder, target } = await filled()
    await backup(store, folder)
    harm(folder)
    await expect(restore(folder, target)).rejects.toThrow(sentence)
    expect(readdirSync(dirname(target))).toEqual([])
  },
)

test("a backup whose audit log was tampered with is not restored, although its digest matches", async () => {
  const { store, folder, target } = await filled()
  await backup(store, folder)
  const file = join(folder, "quartermaster.db")
  const database = await openDatabase(file)
  database.exec(
    "update segments set text = replace(text, 'developer', 'root') where place % 10 = 8; pragma wal_checkpoint(truncate)",
  )
  database.close()
  change(folder, ({ files }) => {
    const entry = files.find(({ name }) => name === "quartermaster.db")!
    Object.assign(entry, { size: statSync(file).size, sha256: sha256(file) })
  })
  await expect(restore(folder, target)).rejects.toThrow(
    /^The audit log in the backup was changed after it was written\. record 1\/2: It was changed/,
  )
  expect(readdirSync(dirname(target))).toEqual([])
})

test("a data folder with a database is replaced only with replace, is moved aside, and never while a process writes to it", async () => {
  const { store, folder } = await filled()
  await backup(store, folder)
  const other = await openTestStore({ dataDir: join(temporaryFolder(), "data") })
  await writeEntries(other, hourlyCalls(day, 1, "other"))
  const journal = new Journal(other.journalDir, other.key, newOwnerName(), () => {})
  await journal.write(callEntries({ callId: "x", at: day })[0], "crash")
  await other.audit.catchUp()
  await expect(restore(folder, other.dir)).rejects.toThrow(
    /has a database\. Give another folder, or restore with --replace/,
  )
  await expect(restore(folder, other.dir, { replace: true })).rejects.toThrow(
    new RegExp(`Process ${process.pid} still writes`),
  )
  other.database.exec("update chains set owner = ''")
  journal.close()
  await other.close()
  const { previous } = await restore(folder, other.dir, { replace: true })
  expect(existsSync(join(previous!, "quartermaster.db"))).toBe(true)
  expect(previous!.startsWith(`${other.dir}.before-restore-`)).toBe(true)
  const [now, before] = [await openTestStore({ dataDir: other.dir }), await openTestStore({ dataDir: previous! })]
  expect((await now.audit.list()).map((row) => row.callId).sort()).toEqual(["a0", "a1", "a2"])
  expect((await before.audit.list()).map((row) => row.callId)).toContain("other0")
})

const built = (name: string) =>
  JSON.stringify(fileURLToPath(new URL(`../../../build/store/sqlite/${name}.js`, import.meta.url)))

/** A process that writes calls and artifacts as fast as it can and prints each acknowledged one. */
const hammer = (dir: string) => `
  import { openStore } from ${built("store")}
  import { newOwnerName } from ${built("owner")}
  const logger = { info() {}, warn() {}, error() {}, logToolCall() {}, logToolResult() {} }
  const store = await openStore({ dataDir: ${JSON.stringify(dir)}, owner: newOwnerName(), logger, writes: "journal" })
  let count = 0
  const lane = async (name) => {
    for (;;) {
      const facts = { callId: "call-" + name + "-" + count++, agentId: "ann", role: "developer", tool: "probe" }
      await store.recorder.write({ kind: "start", at: Date.now(), ...facts, input: "{}" }, "crash")
      await store.recorder.write({ kind: "end", at: Date.now(), ...facts, status: "success", startedAt: Date.now(), durationMs: 0, result: '"' + "r".repeat(200) + '"', ran: true }, "crash")
      console.log(facts.callId)
      if (count % 50 === 0) console.log(await store.artifacts.put({ type: "text", content: Buffer.from(facts.callId), mimeType: "text/plain", isBinary: false, meta: null, agentId: "ann" }))
      if (count % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  await Promise.all(["a", "b", "c", "d"].map(lane))
`

test("a backup made while a process writes has everything acknowledged before, and nothing incomplete", async () => {
  const dir = temporaryFolder()
  const store = await openTestStore({ dataDir: dir })
  const { process: running, lines, ended } = runChild(hammer(dir))
  try {
    await until(() => lines.length > 500, "the other process writes")
    // A backup during which the other process wrote nothing proves little, so it is repeated.
    for (let round = 1, beside = 0; beside < 2; round++) {
      expect(round).toBeLessThan(20)
      const before = [...lines]
      const [folder, target] = [join(temporaryFolder(), "copy"), join(temporaryFolder(), "data")]
      await backup(store, folder)
      if (lines.length > before.length) beside++
      await restore(folder, target)
      const restored = await openTestStore({ dataDir: target })
      expect(await restored.audit.verify(manifestIn(folder).head)).toMatchObject({ ok: true })
      const rows = await restored.audit.list({ limit: 10_000_000 })
      const ending = new Map(rows.map((row) => [row.callId, row.code ?? row.status]))
      const calls = before.filter((line) => line.startsWith("call-"))
      expect(calls.filter((callId) => ending.get(callId) !== "success")).toEqual([])
      for (const ref of before.filter((line) => line.startsWith("artifact:")))
        expect(Buffer.from((await restored.artifacts.get(ref))!.content).toString()).toMatch(/^call-/)
      const files = readdirSync(join(target, "artifacts"))
      const known = restored.database.prepare("select id from artifacts").all() as { id: string }[]
      expect(known.filter(({ id }) => !files.includes(id))).toEqual([])
      // At most one call a lane had started and not ended.
      expect([...ending.values()].filter((how) => how !== "success").length).toBeLessThanOrEqual(4 * round)
    }
  } finally {
    running.kill("SIGKILL")
    await ended
  }
  expect(await store.audit.verify()).toMatchObject({ ok: true })
})
