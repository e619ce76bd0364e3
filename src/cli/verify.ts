import type { Session } from "./house.ts"
import { answer, jsonText, say, tell } from "./output.ts"
import { withApp } from "./session.ts"

/** Whether the record is as it was written; if not, exit 1 and the first record that is not. */
export function verify(session: Session, { head }: { head?: string }): Promise<number> {
  return withApp(session, {}, async ({ audit }) => {
    const verified = await audit.verify(head)
    if (session.flags.json) tell(session, jsonText(verified, session.house))
    else if (!verified.ok) say(session, `${verified.record}: ${verified.problem}`)
    else {
      const { records, chains } = verified
      tell(session, `ok: ${counted(records, "record")} in ${counted(chains, "chain")}, as they were written.`)
    }
    return verified.ok ? 0 : 1
  })
}

/** A short text to keep elsewhere, for `verify --head`. */
export function showHead(session: Session): Promise<number> {
  return withApp(session, {}, async ({ audit }) => {
    const head = await audit.head()
    answer(session, { head }, head)
    return 0
  })
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`
}
