import { CommanderError } from "commander"
import { StoreUnavailable } from "../../core/ending.ts"
import { ConfigError } from "../../config/config-error.ts"
import type { Runtime, Io } from "./common/context.ts"
import { onBrokenPipe, printMessage } from "./common/output.ts"
import { runProgram } from "./program.ts"
import { CannotDo, CannotOpen, NotAllowed, UsageError } from "./common/usage.ts"

/** Runs the command line and returns the exit code. It never ends the process. */
export async function main(argv: readonly string[], io: Io, runtime: Runtime): Promise<number> {
  onBrokenPipe(io.stdout)
  onBrokenPipe(io.stderr)
  try {
    return await runProgram(argv, io, runtime)
  } catch (error) {
    return explain(error, io)
  }
}

/** Prints an error as a sentence on stderr and returns the exit code for it. */
function explain(error: unknown, io: Io): number {
  const fail = (code: number, text: string) => {
    printMessage({ io }, text)
    return code
  }
  // The help or the version was printed.
  if (error instanceof CommanderError) return 0
  if (error instanceof UsageError || error instanceof CannotOpen || error instanceof ConfigError)
    return fail(2, error.message)
  if (error instanceof NotAllowed) return fail(3, error.message)
  if (error instanceof CannotDo || error instanceof StoreUnavailable) return fail(1, error.message)
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return fail(1, `Quartermaster itself failed. This is a defect; please report it.\n${details}`)
}
