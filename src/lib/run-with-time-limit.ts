import { createContext, Script } from "node:vm"

let sandbox: { context: { work?: () => void }; script: Script } | undefined

/** Limit of tries of work that was stopped because the machine was busy. */
const mostTries = 5

/**
 * Runs synchronous work for at most about this much processor time. Returns false when it had to be stopped. On a busy
 * machine the work is prepared and started again, each time with twice the limit.
 */
export function runWithTimeLimit(
  milliseconds: number,
  makeReady: () => () => void,
  onStopped: () => void = () => {},
): boolean {
  for (let tries = 1; ; tries++) {
    const work = makeReady()
    const before = process.cpuUsage()
    if (isDoneBy(milliseconds * 2 ** (tries - 1), work)) return true
    const { user, system } = process.cpuUsage(before)
    onStopped()
    if (tries === mostTries || (user + system) / 1000 > milliseconds / 2) return false
  }
}

/** Node can stop synchronous code only by wall-clock time. */
function isDoneBy(milliseconds: number, work: () => void): boolean {
  sandbox ??= { context: createContext({}) as { work?: () => void }, script: new Script("work()") }
  const { context, script } = sandbox
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
