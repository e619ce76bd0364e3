import type { CliContext } from "../../common/context.ts"
import { isAttended } from "../../common/open-app.ts"
import { UsageError } from "../../common/usage.ts"

/** How long to wait for people. With a terminal the person there is asked, so that is to the end unless it is said. */
export function waitTime({ io }: CliContext, given: string | true | undefined, hint = ""): number | undefined {
  if (given === true) return undefined
  if (given === undefined) return isAttended(io) ? undefined : 0
  if (/^\d{1,9}(\.\d+)?$/.test(given)) return Number(given) * 1000
  throw new UsageError(`--wait takes a number of seconds, and '${given}' is none.${hint}`)
}
