import type { AppProcess, TimedResult } from "./app-process.ts"

/** Time until the common moment: long enough for the commands to arrive. */
const delayMs = 8

export interface SimultaneousRun<T> {
  values: T[]
  /** True if at some moment all commands were running. */
  isOverlapping: boolean
}

/** Lets several processes run a command at the same moment. */
export async function runAtOnce<T>(
  commands: readonly (readonly [child: AppProcess, name: string, ...args: readonly unknown[]])[],
): Promise<SimultaneousRun<T>> {
  const moment = Date.now() + delayMs
  const results = await Promise.all(
    commands.map(([child, name, ...args]): Promise<TimedResult<T>> => child.runAt(moment, name, args)),
  )
  const isOverlapping = Math.max(...results.map(({ began }) => began)) < Math.min(...results.map(({ ended }) => ended))
  return { values: results.map(({ value }) => value), isOverlapping }
}
