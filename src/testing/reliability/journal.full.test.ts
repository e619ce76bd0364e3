import { until } from "../test-app.ts"
import { startApp, type AppProcess } from "./app-process.ts"
import { toolMarksIn, noteResult, type KillReport } from "./kill-repeatedly.ts"
import {
  after,
  before,
  commit,
  halfway,
  inMainThread,
  inMoverThread,
  testKillPlaces,
  publicTools,
  type WatchedOperation,
  type Workload,
} from "./kill-places.ts"

const ask = (child: AppProcess, note = "plain", pauseMs = 0) =>
  child.app.call({ agentId: "operator", tool: "plain", input: { note, pauseMs } })

/** Makes one call after the other. */
const calling: Workload = {
  async work(child, known) {
    for (;;) noteResult(await ask(child), known)
  },
}

/** The same with synced entries. */
const synced: Workload = { ...calling, config: { data: { durability: "power" } } }

/** Makes a few calls, then closes the app. */
const closing: Workload = {
  isQuiet: true,
  async work(child, known) {
    for (const result of await Promise.all([ask(child), ask(child), ask(child)])) noteResult(result, known)
    await child.app.close()
  },
}

/** Reads the audit log after another process was killed during a call. */
const catchingUp: Workload = {
  async work(child, known) {
    await leaveJournal(known)
    await child.app.audit.list()
  },
}

async function leaveJournal(known: KillReport): Promise<void> {
  const other = await startApp(known.dir, { tools: publicTools })
  for (const result of await Promise.all([ask(other), ask(other)])) noteResult(result, known)
  const note = `left after ${known.counts.kills} kills`
  ask(other, note, 60_000).catch(() => {})
  await until(() => toolMarksIn(known.dir).some((mark) => mark.note === note), "the tool runs")
  await other.kill()
}

const opened: WatchedOperation = { on: "open", match: /\.log$/ }
const written: WatchedOperation = { on: "write", match: /\.log / }
const syncedFile: WatchedOperation = { on: "sync", match: /\.log$/ }
const removed: WatchedOperation = { on: "remove", match: /\.log$/ }
const checkpoint: WatchedOperation = { on: "sql", match: /^insert into checkpoints/ }
const logTruncated: WatchedOperation = { on: "sql", match: /wal_checkpoint\(truncate/ }
const moved = commit("insert into segments")
const closed = commit("update chains set closed")

/** Every step in the life of a journal except the change to its next file. */
testKillPlaces([
  ["after a journal was begun, before its first line", calling, inMainThread(after(opened)), [1]],
  ["before a frame is written", calling, before(written), [1, 9, 40]],
  ["in the middle of a frame", calling, halfway(written), [1, 9, 40]],
  ["after a frame was written", calling, after(written), [1, 9, 40]],
  ["before a frame is synced", synced, before(syncedFile), [1, 9, 40]],
  ["after a frame was synced", synced, after(syncedFile), [1, 9, 40]],
  ["before the move of lines is committed", calling, inMoverThread(before(moved))],
  ["after lines were moved", calling, inMoverThread(after(moved))],
  ["before the move of the only lines is committed", closing, before(moved), [1]],
  ["after the only lines were moved", closing, after(moved), [1]],
  ["before the close of a journal is committed", closing, inMainThread(before(closed)), [1]],
  ["after a journal was closed", closing, inMainThread(after(closed)), [1]],
  ["after a closed journal was removed", closing, inMainThread(after(removed)), [1]],
  ["before SQLite's log is moved into the database file", closing, inMainThread(before(logTruncated)), [1]],
  ["before another process has moved what is left", catchingUp, inMainThread(before(moved)), [1]],
  ["after another process has moved what is left", catchingUp, inMainThread(after(moved)), [1]],
  ["in the middle of a checkpoint", catchingUp, inMainThread(after(checkpoint)), [1]],
  ["after the calls of a dead process were ended", catchingUp, inMainThread(after(closed)), [1]],
  ["before a dead process's journal is removed", catchingUp, inMainThread(before(removed)), [1]],
])
