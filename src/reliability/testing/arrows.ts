import { test } from "vitest"
import { folderFor } from "./folder.ts"
import { killTenTimes } from "./kill.ts"
import { commit, type Place, type Spot } from "./places.ts"
import { planOf, type Arrow, type Left, type WalkName } from "./walks.ts"

/** One row of a table: where a call is killed, what that leaves, how it ends in the end, and how often its tool ran. */
export type ArrowRow = [name: string, walk: WalkName, place: Place, leaves: Left, ends: Arrow["ends"], runs: 0 | 1]

/** The row of a call is made in that state. */
export const entered = (state: string): Spot => ({ on: "sql", match: new RegExp(`^insert into "calls".*"${state}"`) })

/** The row of a call goes on to that state. */
export const moved = (state: string): Spot => ({ on: "sql", match: new RegExp(`^update "calls" set .*\\["${state}"`) })

/** The row of a call is given an answer with that in it. */
export const answered = (what: string): Spot => ({
  on: "sql",
  match: new RegExp(`^update "calls" set .*case state.*${what}`),
})

/** One vote of several is counted. */
export const voted: Spot = { on: "sql", match: /^update "calls" set "votes".*ann/ }

/** An answer is remembered for good. */
export const remembered = commit('into documents.*"grant"')

/** A line of that kind is written down. */
export const line = (kind: string): Spot => ({
  on: "write",
  match: new RegExp(`"kind":"${kind}"[^\\n]*"tool":"(?!noise)`),
})

/** The tool leaves its mark. */
export const marked: Spot = { on: "write", match: /marks \S+ (?!noise)/ }

/** Kills ten times at each place, and looks each time at what that left. */
export function testArrows(rows: readonly ArrowRow[]): void {
  test.concurrent.for(rows)("kill -9 %s: nothing told is lost, nothing runs twice", async (row, context) => {
    const { expect, onTestFinished } = context
    const [name, walk, place, leaves, ends, runs] = row
    const plan = planOf({ point: { name, ...place }, walk, leaves, ends, runs })
    const { problems, counted } = await killTenTimes(folderFor(onTestFinished), plan)
    console.log(`kill -9 ${name}: ${counted.kills} kills, ${counted.told} calls told as ended, ${counted.runs} runs.`)
    expect(problems).toEqual([])
    expect(counted.kills).toBe(10)
  })
}
