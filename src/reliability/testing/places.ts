import { test } from "vitest"
import { folderFor } from "./folder.ts"
import type { Failpoint } from "./house-process.ts"
import { killTenTimes, type Plan } from "./kill.ts"

/** Where a process is killed, without the name of it. */
export type Place = Omit<Failpoint, "name">
export type Spot = Pick<Failpoint, "on" | "match">
export type Walk = Omit<Plan, "point" | "tools">

/** One row of a table: where a process is killed, what it is doing, and at which times it comes there, by turns. */
export type PlaceRow = [name: string, walk: Walk, place: Place, nth?: readonly number[]]

export const before = (spot: Spot): Place => ({ ...spot, when: "before" })
export const halfway = (spot: Spot): Place => ({ ...spot, when: "half" })
export const after = (spot: Spot): Place => ({ ...spot, when: "after" })
export const inMain = (place: Place): Place => ({ ...place, thread: "main" })
export const inMover = (place: Place): Place => ({ ...place, thread: "mover" })

/** A transaction with that statement in it is made to last. */
export const commit = (statement: string): Spot => ({ on: "sql", match: new RegExp(`^commit.*${statement}`) })

/** A tool that anyone may call. */
export const tools = [{ name: "plain", permission: { level: "public" as const } }]

/** Kills ten times at each place; a fresh process looks each time at what is there. */
export function testPlaces(rows: readonly PlaceRow[]): void {
  test.concurrent.for(rows)("kill -9 %s: what was told is there", async (row, { expect, onTestFinished }) => {
    const [name, walk, place, nth] = row
    const plan = { point: { name, ...place }, tools, ...walk, ...(nth && { nth }) }
    const { problems, counted } = await killTenTimes(folderFor(onTestFinished), plan)
    console.log(`kill -9 ${name}: ${counted.kills} kills, ${counted.told} calls told as ended, ${counted.runs} runs.`)
    expect(problems).toEqual([])
    expect(counted.kills).toBe(10)
  })
}
