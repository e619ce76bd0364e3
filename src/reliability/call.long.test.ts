import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "vitest"
import { killTenTimes } from "./testing/kill.ts"
import { planOf, type Arrow } from "./testing/walks.ts"

/** A journal's frame with a line of that kind about that tool. */
const line = (kind: string, tool: string) => new RegExp(`"kind":"${kind}"[^\\n]*"tool":"${tool}"`)
const entered = (state: string, tool: string) => new RegExp(`^insert into "calls".*"${state}".*"${tool}"`)
const moved = (state: string) => new RegExp(`^update "calls" set .*\\["${state}"`)
const answered = (what: string) => new RegExp(`^update "calls" set .*case state.*${what}`)

/** Every arrow of a call's states: received → decided → waiting → ready → started → held → released → ended. */
const arrows: Arrow[] = [
  { name: "before a key is claimed", walk: "keyed", on: "sql", match: entered("decided", "plain"), when: "before", leaves: "nothing", ends: "success", runs: 1 },
  { name: "after a key was claimed", walk: "keyed", on: "sql", match: entered("decided", "plain"), when: "after", leaves: "open", ends: "interrupted", runs: 0 },
  { name: "before a call is put to the desk", walk: "asked", on: "sql", match: entered("waiting", "asked"), when: "before", leaves: "nothing", ends: "nothing", runs: 0 },
  { name: "after a call was put to the desk", walk: "asked", on: "sql", match: entered("waiting", "asked"), when: "after", leaves: "waiting", ends: "success", runs: 1 },
  { name: "after it was written down that a person is asked", walk: "asked with a key", on: "write", match: line("asked", "asked"), when: "after", leaves: "waiting", ends: "success", runs: 1 },
  { name: "before an answer is written", walk: "asked", on: "sql", match: answered('"approved.*:true'), when: "before", leaves: "waiting", ends: "success", runs: 1 },
  { name: "after an answer was written", walk: "asked", on: "sql", match: answered('"approved.*:true'), when: "after", leaves: "open", ends: "success", runs: 1 },
  { name: "after the first of two votes was written", walk: "voted", on: "sql", match: /^update "calls" set "votes".*ann/, when: "after", leaves: "waiting", ends: "success", runs: 1 },
  { name: "after an edit was written", walk: "edited", on: "sql", match: answered("edit"), when: "after", leaves: "open", ends: "success", runs: 1 },
  { name: "after an edited call came back to the desk", walk: "edited", on: "sql", match: moved("waiting"), when: "after", leaves: "waiting", ends: "success", runs: 1 },
  { name: "after an answer, before what is remembered with it", walk: "remembered", on: "sql", match: /^commit.*into documents.*"grant"/, when: "before", leaves: "open", ends: "success", runs: 1 },
  { name: "after an answer was remembered", walk: "remembered", on: "sql", match: /^commit.*into documents.*"grant"/, when: "after", leaves: "open", ends: "success", runs: 1 },
  { name: "before an approved call is started", walk: "asked with a key", on: "sql", match: moved("started"), when: "before", leaves: "open", ends: "success", runs: 1 },
  { name: "after an approved call was started", walk: "asked", on: "sql", match: moved("started"), when: "after", leaves: "open", ends: "interrupted", runs: 0 },
  { name: "before a start is written down", walk: "keyed", on: "write", match: line("start", "plain"), when: "before", leaves: "open", ends: "interrupted", runs: 0 },
  { name: "in the middle of writing down a start", walk: "plain", on: "write", match: line("start", "plain"), when: "half", leaves: "nothing", ends: "nothing", runs: 0 },
  { name: "after a start was written down", walk: "plain", on: "write", match: line("start", "plain"), when: "after", leaves: "interrupted", ends: "interrupted", runs: 0 },
  { name: "while the tool of a stored call runs", walk: "asked with a key", on: "write", match: /marks .*asked/, when: "after", leaves: "open", ends: "interrupted", runs: 1 },
  { name: "before a result is held", walk: "held", on: "sql", match: entered("held", "held"), when: "before", leaves: "interrupted", ends: "interrupted", runs: 1 },
  { name: "after a result was held", walk: "held", on: "sql", match: entered("held", "held"), when: "after", leaves: "held", ends: "success", runs: 1 },
  { name: "after the result of a keyed call was held", walk: "held with a key", on: "sql", match: moved("held"), when: "after", leaves: "held", ends: "success", runs: 1 },
  { name: "after a result was released", walk: "held with a key", on: "sql", match: answered('"approved.*:true'), when: "after", leaves: "open", ends: "success", runs: 1 },
  { name: "before an end is written down", walk: "keyed", on: "write", match: line("end", "plain"), when: "before", leaves: "open", ends: "interrupted", runs: 1 },
  { name: "in the middle of writing down an end", walk: "plain", on: "write", match: line("end", "plain"), when: "half", leaves: "interrupted", ends: "interrupted", runs: 1 },
  { name: "after an end was written down, before its row is closed", walk: "keyed", on: "write", match: line("end", "plain"), when: "after", leaves: "success", ends: "success", runs: 1 },
  { name: "after the row of a keyed call was closed", walk: "keyed", on: "sql", match: moved("ended"), when: "after", leaves: "success", ends: "success", runs: 1 },
]

const named = arrows.map((arrow) => [arrow.name, arrow] as const)

test.concurrent.for(named)("kill -9 %s: nothing told is lost, nothing runs twice", async ([, arrow], { expect, onTestFinished }) => {
  const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const { problems, counted } = await killTenTimes(dir, planOf(arrow))
  console.log(`kill -9 ${arrow.name}: ${counted.kills} kills, ${counted.told} calls told as ended, ${counted.runs} runs.`)
  expect(problems).toEqual([])
  expect(counted.kills).toBe(10)
})
