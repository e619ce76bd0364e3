import { test } from "vitest"
import { folderFor } from "./testing/folder.ts"
import { startHouse, type Failpoint, type HouseProcess, type MarkTool } from "./testing/house-process.ts"
import { killTenTimes, note, type Known, type Plan } from "./testing/kill.ts"

const tools: readonly MarkTool[] = [{ name: "plain", permission: { level: "public" } }]

type Walk = Pick<Plan, "walk" | "look" | "isQuiet" | "isFresh" | "config">

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

/** Entries that fill a journal's first file, so that it goes on in a second one. */
function filling(): Walk {
  let kept: string[] = []
  return {
    isQuiet: true,
    isFresh: true,
    async walk(house) {
      kept = []
      for (const [entry, megabytes] of [
        ["first", 1],
        ["large", 64],
        ["last", 1],
      ] as const) {
        await house.keep(entry, megabytes)
        if (megabytes === 1) kept.push(entry)
      }
      await house.ended
    },
    async look(house, { problems }) {
      for (const entry of kept) {
        const found = await house.app.audit.show(entry)
        if (found.length !== 1) problems.push(`${entry} was told as kept, but the record has it ${found.length} times.`)
      }
    },
  }
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
  nth?: readonly number[],
]

const journal = /\.log$/
const moves = /^commit.*insert into segments/
const closes = /^commit.*update chains set closed/

/** Every step of a journal's life. */
const places: Place[] = [
  ["after a journal was begun, before its first line", calling, "main", "open", journal, "after", [1]],
  ["before a frame is written", calling, "main", "write", /\.log /, "before", [1, 9, 40]],
  ["in the middle of a frame", calling, "main", "write", /\.log /, "half", [1, 9, 40]],
  ["after a frame was written", calling, "main", "write", /\.log /, "after", [1, 9, 40]],
  ["before a frame is synced", synced, "main", "sync", journal, "before", [1, 9, 40]],
  ["after a frame was synced", synced, "main", "sync", journal, "after", [1, 9, 40]],
  ["before lines are moved for good", calling, "mover", "sql", moves, "before"],
  ["after lines were moved", calling, "mover", "sql", moves, "after"],
  ["before a full journal goes on in a new file", filling(), "main", "open", journal, "before", [2]],
  ["after a full journal went on in a new file", filling(), "main", "open", journal, "after", [2]],
  ["before a file that was moved whole is removed", filling(), "mover", "remove", journal, "before", [1]],
  ["before a journal is closed for good", closing, "main", "sql", closes, "before", [1]],
  ["after a journal was closed", closing, "main", "sql", closes, "after", [1]],
  ["after a closed journal was removed", closing, "main", "remove", journal, "after", [1]],
  ["before the log goes into the database file", closing, "main", "sql", /wal_checkpoint\(truncate/, "before", [1]],
  ["before another process has moved what is left", catchingUp, "main", "sql", moves, "before", [1]],
  ["after another process has moved what is left", catchingUp, "main", "sql", moves, "after", [1]],
  ["in the middle of a checkpoint", catchingUp, "main", "sql", /^insert into checkpoints/, "after", [1]],
  ["after the calls of a dead process were ended", catchingUp, "main", "sql", closes, "after", [1]],
  ["before a dead process's journal is removed", catchingUp, "main", "remove", journal, "before", [1]],
]

test.concurrent.for(places)("kill -9 %s: nothing told is lost", async (place, { expect, onTestFinished }) => {
  const [name, walk, thread, on, match, when, nth] = place
  const plan = { point: { name, thread, on, match, when }, tools, ...walk, ...(nth && { nth }) }
  const { problems, counted } = await killTenTimes(folderFor(onTestFinished), plan)
  console.log(`kill -9 ${name}: ${counted.kills} kills, ${counted.told} calls told as ended, ${counted.runs} runs.`)
  expect(problems).toEqual([])
  expect(counted.kills).toBe(10)
})
