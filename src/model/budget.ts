import { createContext, Script } from "node:vm"

let room: { context: { work?: (() => void) | undefined }; script: Script } | undefined

/** Does some work that awaits nothing, for so many milliseconds at most; false when it had to be stopped. */
export function within(milliseconds: number, work: () => void): boolean {
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
