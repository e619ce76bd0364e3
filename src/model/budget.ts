import { createContext, Script } from "node:vm"

let room: { context: { work?: (() => void) | undefined }; script: Script } | undefined

/** How often work is begun that was stopped although the processor was busy with others. */
const mostTries = 5

/**
 * Does some work that awaits nothing, for about so many milliseconds of the processor's time at most; false when it had
 * to be stopped. On a busy machine it is begun anew, each time with everything made ready again and with twice as long.
 */
export function within(milliseconds: number, makeReady: () => () => void, onStopped: () => void = () => {}): boolean {
  for (let tries = 1; ; tries++) {
    const work = makeReady()
    const before = process.cpuUsage()
    if (isDoneBy(milliseconds * 2 ** (tries - 1), work)) return true
    const { user, system } = process.cpuUsage(before)
    onStopped()
    if (tries === mostTries || (user + system) / 1000 > milliseconds / 2) return false
  }
}

/** The clock on the wall is the only one that can stop a thread. */
function isDoneBy(milliseconds: number, work: () => void): boolean {
  room ??= { context: createContext({}) as { work?: () => void }, script: new Script("work()") }
  const { context, script } = room
  const outer = context.work
  context.work = work
  try {
    script.runInContext(context, { timeout: milliseconds })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false
    throw error
  } finally {
    context.work = outer
  }
}
