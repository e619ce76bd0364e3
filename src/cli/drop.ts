import type { Session } from "./house.ts"
import { answer } from "./output.ts"
import { withPerson } from "./session.ts"
import { clock, readSince } from "./since.ts"
import { UsageError } from "./usage.ts"

/** Removes what is old from the record, once a person has said twice that it should go. */
export async function dropRecords(session: Session, flags: { before: string; yes?: boolean }): Promise<number> {
  const before = readSince(flags.before, Date.now(), "--before")
  if (flags.yes !== true) {
    throw new UsageError(
      `This removes what was recorded before ${clock(before)} for good. Make a copy with 'qm backup', then add --yes.`,
    )
  }
  return withPerson(session, async ({ audit }, by) => {
    const dropped = await audit.drop(before, by.id)
    const { segments, records } = dropped
    const sentence =
      records === 0
        ? "Nothing was dropped: no whole part of the record is that old."
        : `Dropped ${records} records in ${segments} ${segments === 1 ? "part" : "parts"}. 'qm audit verify' goes on from there.`
    answer(session, dropped, sentence)
    return 0
  })
}
