import type { CliContext } from "../../common/context.ts"
import { printResult } from "../../common/output.ts"
import { withPerson } from "../../common/open-app.ts"
import { formatTime, parseMoment } from "../../common/time-text.ts"
import { UsageError } from "../../common/usage.ts"

/** Removes old records from the audit log. Requires --yes. */
export async function dropRecords(context: CliContext, flags: { before: string; yes?: boolean }): Promise<number> {
  const before = parseMoment(flags.before, Date.now(), "--before")
  if (flags.yes !== true) {
    throw new UsageError(
      `This permanently removes records from before ${formatTime(before)}. Make a copy with 'qm backup', then add --yes.`,
    )
  }
  return withPerson(context, async ({ audit }, by) => {
    const dropped = await audit.drop(before, by.id)
    const { segments, records } = dropped
    const sentence =
      records === 0
        ? "Nothing was dropped: no complete segment of the audit log is that old."
        : `Dropped ${records} records in ${segments} ${segments === 1 ? "segment" : "segments"}. 'qm audit verify' checks the remaining ones.`
    printResult(context, dropped, sentence)
    return 0
  })
}
