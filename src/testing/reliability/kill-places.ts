import { test } from "vitest"
import { temporaryFolderFor } from "./temporary-folder.ts"
import type { Failpoint } from "./app-process.ts"
import { killRepeatedly, killCount, type KillPlan } from "./kill-repeatedly.ts"

/** The place at which a process is killed: a failpoint without its name. */
export type KillPlace = Omit<Failpoint, "name">
export type WatchedOperation = Pick<Failpoint, "on" | "match">
export type Workload = Omit<KillPlan, "point" | "tools">

/** One row of a table: where a process is killed, what it does, and at which hits of the failpoint, in turn. */
export type KillPlaceRow = [name: string, workload: Workload, place: KillPlace, nth?: readonly number[]]

export const before = (operation: WatchedOperation): KillPlace => ({ ...operation, when: "before" })
export const halfway = (operation: WatchedOperation): KillPlace => ({ ...operation, when: "half" })
export const after = (operation: WatchedOperation): KillPlace => ({ ...operation, when: "after" })
export const inMainThread = (place: KillPlace): KillPlace => ({ ...place, thread: "main" })
export const inMoverThread = (place: KillPlace): KillPlace => ({ ...place, thread: "mover" })

/** The commit of a transaction that contains this statement. */
export const commit = (statement: string): WatchedOperation => ({
  on: "sql",
  match: new RegExp(`^commit.*${statement}`),
})

/** A tool that every agent may call. */
export const publicTools = [{ name: "plain", permission: { level: "public" as const } }]

/** Kills a process at each place. A new process then checks what is stored. */
export function testKillPlaces(rows: readonly KillPlaceRow[]): void {
  test.concurrent.for(rows)(
    "kill -9 %s: everything acknowledged is stored",
    async (row, { expect, onTestFinished }) => {
      const [name, workload, place, nth] = row
      const plan = { point: { name, ...place }, tools: publicTools, ...workload, ...(nth && { nth }) }
      const { problems, counts } = await killRepeatedly(temporaryFolderFor(onTestFinished), plan)
      console.log(
        `kill -9 ${name}: ${counts.kills} kills, ${counts.acknowledged} calls acknowledged, ${counts.runs} runs.`,
      )
      expect(problems).toEqual([])
      expect(counts.kills).toBe(killCount)
    },
  )
}
