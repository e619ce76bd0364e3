import { test } from "vitest"
import { temporaryFolderFor } from "./temporary-folder.ts"
import { killRepeatedly, killCount } from "./kill-repeatedly.ts"
import { commit, type KillPlace, type WatchedOperation } from "./kill-places.ts"
import { killPlanOf, type Transition, type StateAfterKill, type ScenarioName } from "./call-scenarios.ts"

/** One row of a table: where the process is killed, the state of the call after that, its final ending and its runs. */
export type TransitionRow = [
  name: string,
  scenario: ScenarioName,
  place: KillPlace,
  afterKill: StateAfterKill,
  ends: Transition["ends"],
  runs: 0 | 1,
]

/** The row of a call is inserted with this state. */
export const rowInserted = (state: string): WatchedOperation => ({
  on: "sql",
  match: new RegExp(`^insert into "calls".*"${state}"`),
})

/** The row of a call changes to this state. */
export const rowMovedTo = (state: string): WatchedOperation => ({
  on: "sql",
  match: new RegExp(`^update "calls" set .*\\["${state}"`),
})

/** An answer that contains this text is written to the row of a call. */
export const rowAnswered = (what: string): WatchedOperation => ({
  on: "sql",
  match: new RegExp(`^update "calls" set .*case state.*${what}`),
})

/** One of several votes is written. */
export const voteWritten: WatchedOperation = { on: "sql", match: /^update "calls" set "votes".*ann/ }

/** The grant for a remembered answer is written. */
export const grantWritten = commit('into documents.*"grant"')

/** An entry of this kind is written to the journal. */
export const entryWritten = (kind: string): WatchedOperation => ({
  on: "write",
  match: new RegExp(`"kind":"${kind}"[^\\n]*"tool":"(?!noise)`),
})

/** The tool writes its mark. */
export const toolMarked: WatchedOperation = { on: "write", match: /marks \S+ (?!noise)/ }

/** Kills a process at each place and checks the state of the call after it. */
export function testTransitions(rows: readonly TransitionRow[]): void {
  test.concurrent.for(rows)("kill -9 %s: nothing acknowledged is lost, nothing runs twice", async (row, context) => {
    const { expect, onTestFinished } = context
    const [name, scenario, place, afterKill, ends, runs] = row
    const plan = killPlanOf({ point: { name, ...place }, scenario, afterKill, ends, runs })
    const { problems, counts } = await killRepeatedly(temporaryFolderFor(onTestFinished), plan)
    console.log(
      `kill -9 ${name}: ${counts.kills} kills, ${counts.acknowledged} calls acknowledged, ${counts.runs} runs.`,
    )
    expect(problems).toEqual([])
    expect(counts.kills).toBe(killCount)
  })
}
