import { test } from "vitest"
import { folderFor } from "./testing/folder.ts"
import { startHouse, type Failpoint, type HouseProcess, type MarkTool } from "./testing/house-process.ts"
import { killTenTimes, note, type Known, type Plan } from "./testing/kill.ts"

const tools: readonly MarkTool[] = [
  { name: "plain", permission: { level: "public" } },
  { name: "bulky", permission: { level: "public" }, effect: "none", silent: true },
]

type Walk = Pick<Plan, "walk" | "isQuiet" | "config">

const ask = (house: HouseProcess, pauseMs = 0) =>
  house.app.call({ agentId: "operator", tool: "plain", input: { note: "plain", pauseMs } })

/** Calls, one after the other. */
const calling: Walk = {
  async walk(house, known) {
    for (;;) note(await ask(house), known)
  },
}

/** Calls whose records are synced. */
const synced: Walk = { ...calling, config: { data: { durability: "power" } } }

/** Calls until the journal goes on in a second file. */
const filling: Walk = {
  async walk(house) {
    for (;;) await house.fill("bulky", 20)
  },
}

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
  const running = ask(other, 60_000)
  running.catch(() => {})
  await other.kill()
}

type Place = [
  name: string,
  walk: Walk,
  thread: "main" | "mover",
  on: Failpoint["on"],
  match: RegExp,
  when: Failpoint["when"],
  nth?: number,
]

const journal = /\.log$/
const moves = /^commit.*insert into segments/
const closes = /^commit.*update chains set closed/

/** Every step of a journal's life. */
const places: Place[] = [
  ["after a journal was begun, before its first line", calling, "main", "open", journal, "after", 1],
  ["before a frame is written", calling, "main", "write", /\.log /, "before"],
  ["in the middle of a frame", calling, "main", "write", /\.log /, "half"],
  ["after a frame was written", calling, "main", "write", /\.log /, "after"],
  ["before a frame is synced", synced, "main", "sync", journal, "before"],
  ["after a frame was synced", synced, "main", "sync", journal, "after"],
  ["before lines are moved for good", calling, "mover", "sql", moves, "before"],
  ["after lines were moved", calling, "mover", "sql", moves, "after"],
  ["before a full journal goes on in a new file", filling, "main", "open", journal, "before", 2],
  ["after a full journal went on in a new file", filling, "main", "open", journal, "after", 2],
  ["before a file that was moved whole is removed", filling, "mover", "remove", journal, "before", 1],
  ["before a journal is closed for good", closing, "main", "sql", closes, "before", 1],
  ["after a journal was closed", closing, "main", "sql", closes, "after", 1],
  ["after a closed journal was removed", closing, "main", "remove", journal, "after", 1],
  ["before the log goes into the database file", closing, "main", "sql", /wal_checkpoint\(truncate/, "before", 1],
  ["before another process has moved what is left", catchingUp, "main", "sql", moves, "before", 1],
  ["after another process has moved what is left", catchingUp, "main", "sql", moves, "after", 1],
  ["in the middle of a checkpoint", catchingUp, "main", "sql", /^insert into checkpoints/, "after", 1],
  ["after the calls of a dead process were ended", catchingUp, "main", "sql", closes, "after", 1],
  ["before a dead process's journal is removed", catchingUp, "main", "remove", journal, "before", 1],
]

test.concurrent.for(places)("kill -9 %s: nothing told is lost", async (place, { expect, onTestFinished }) => {
  const [name, walk, thread, on, match, when, nth] = place
  const point: Failpoint = { name, thread, on, match, when, ...(nth === undefined ? {} : { nth }) }
  const { problems, ended, counted } = await killTenTimes(folderFor(onTestFinished), { point, tools, ...walk })
  console.log(`kill -9 ${name}: ${counted.kills} kills, ${ended.size} calls told as ended, ${counted.runs} runs.`)
  expect(problems).toEqual([])
  expect(counted.kills).toBe(10)
})
