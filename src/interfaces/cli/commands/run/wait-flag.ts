import type { CliContext } from "../../common/context.ts"
import { isAttended } from "../../common/open-app.ts"
import { UsageError } from "../../common/usage.ts"

/** Returns the time to wait for people: to the end if a terminal's person can be asked, unless a time is given. */
export function waitTime({ io }: CliContext, given: string | true | undefined, hint = ""): number | undefined {
  if (given === true) return undefined
  if (given === undefined) return isAttended(io) ? undefined : 0
  if (/^\d{1,9}(\.\d+)?$/.test(given)) return Number(given) * 1000
  throw new UsageError(`--wait takes a number of seconds, and '${given}' is none.${hint}`)
}
