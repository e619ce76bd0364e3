import { until } from "../testing/open.ts"
import { startHouse, type HouseProcess } from "./testing/house-process.ts"
import { marksIn, note, type Known } from "./testing/kill.ts"
import {
  after,
  before,
  commit,
  halfway,
  inMain,
  inMover,
  testPlaces,
  tools,
  type Spot,
  type Walk,
} from "./testing/places.ts"

const ask = (house: HouseProcess, words = "plain", pauseMs = 0) =>
  house.app.call({ agentId: "operator", tool: "plain", input: { note: words, pauseMs } })

/** Calls, one after the other. */
const calling: Walk = {
  async walk(house, known) {
    for (;;) note(await ask(house), known)
  },
}

/** Calls whose records are synced. */
const synced: Walk = { ...calling, config: { data: { durability: "power" } } }

/** A few calls, then a proper end. */
const closing: Walk = {
  isQuiet: true,
  async walk(house, known) {
    for (const result of await Promise.all([ask(house), ask(house), ask(house)])) note(result, known)
    await house.app.close()
  },
}

/** Reads the record after another process was killed in the middle of a call. */
const catchingUp: Walk = {
  async walk(house, known) {
    await leaveJournal(known)
    await house.app.audit.list()
  },
}

async function leaveJournal(known: Known): Promise<void> {
  const other = await startHouse(known.dir, { tools })
  for (const result of await Promise.all([ask(other), ask(other)])) note(result, known)
  const words = `left after ${known.counted.kills} kills`
  ask(other, words, 60_000).catch(() => {})
  await until(() => marksIn(known.dir).some((mark) => mark.note === words), "the tool runs")
  await other.kill()
}

const opened: Spot = { on: "open", match: /\.log$/ }
const written: Spot = { on: "write", match: /\.log / }
const made: Spot = { on: "sync", match: /\.log$/ }
const removed: Spot = { on: "remove", match: /\.log$/ }
const checkpoint: Spot = { on: "sql", match: /^insert into checkpoints/ }
const emptied: Spot = { on: "sql", match: /wal_checkpoint\(truncate/ }
const moved = commit("insert into segments")
const closed = commit("update chains set closed")

/** Every step of a journal's life but the one to its next file. */
testPlaces([
  ["after a journal was begun, before its first line", calling, inMain(after(opened)), [1]],
  ["before a frame is written", calling, before(written), [1, 9, 40]],
  ["in the middle of a frame", calling, halfway(written), [1, 9, 40]],
  ["after a frame was written", calling, after(written), [1, 9, 40]],
  ["before a frame is synced", synced, before(made), [1, 9, 40]],
  ["after a frame was synced", synced, after(made), [1, 9, 40]],
  ["before lines are moved for good", calling, inMover(before(moved))],
  ["after lines were moved", calling, inMover(after(moved))],
  ["before the only lines are moved for good", closing, before(moved), [1]],
  ["after the only lines were moved", closing, after(moved), [1]],
  ["before a journal is closed for good", closing, inMain(before(closed)), [1]],
  ["after a journal was closed", closing, inMain(after(closed)), [1]],
  ["after a closed journal was removed", closing, inMain(after(removed)), [1]],
  ["before the log goes into the database file", closing, inMain(before(emptied)), [1]],
  ["before another process has moved what is left", catchingUp, inMain(before(moved)), [1]],
  ["after another process has moved what is left", catchingUp, inMain(after(moved)), [1]],
  ["in the middle of a checkpoint", catchingUp, inMain(after(checkpoint)), [1]],
  ["after the calls of a dead process were ended", catchingUp, inMain(after(closed)), [1]],
  ["before a dead process's journal is removed", catchingUp, inMain(before(removed)), [1]],
])
