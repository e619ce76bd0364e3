import { CommanderError } from "commander"
import { StoreUnavailable } from "../model/ending.ts"
import type { House, Io } from "./house.ts"
import { onReaderGone, say } from "./output.ts"
import { runProgram } from "./program.ts"
import { CannotDo, NotAllowed, parserSentence, UsageError } from "./usage.ts"

/** The command line: reads the words, runs the command, and returns the exit code. It never ends the process. */
export async function main(argv: readonly string[], io: Io, house: House): Promise<number> {
  onReaderGone(io.stdout)
  onReaderGone(io.stderr)
  try {
    return await runProgram(argv, io, house)
  } catch (error) {
    return explain(error, io, house)
  }
}

/** What could not be done, in one place: a sentence on stderr and a code. */
function explain(error: unknown, io: Io, house: House): number {
  const fault = (code: number, text: string) => {
    say({ io, house }, text)
    return code
  }
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : fault(2, parserSentence(error.message))
  if (error instanceof UsageError) return fault(2, error.message)
  if (error instanceof NotAllowed) return fault(3, error.message)
  if (error instanceof CannotDo || error instanceof StoreUnavailable) return fault(1, error.message)
  if (error instanceof Error && error.name === "ConfigError") return fault(2, error.message)
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return fault(1, `Quartermaster itself failed. This is a defect; please report it.\n${what}`)
}
