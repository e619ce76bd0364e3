import type { App } from "../model/app.ts"
import { yesTo } from "./answers.ts"
import type { Loaded, OpenOptions, Session } from "./house.ts"
import { namedPerson } from "./named-person.ts"
import { say } from "./output.ts"
import { isAttended, isInside } from "./session.ts"
import { UsageError } from "./usage.ts"

/** The person at the terminal. Without one the call waits at the desk, where a person answers from elsewhere. */
export function askedBy(
  session: Session,
  { yes, nameOf }: { yes: boolean; nameOf: () => Promise<string> },
): OpenOptions {
  const { io, house } = session
  const print = (text: string) => say(session, text)
  if (yes && isInside(io))
    throw new UsageError("--yes is for people, and this runs inside a tool (QM_INSIDE is set). Leave it out.")
  return yes || isAttended(io) ? { print, approvals: namedPerson(house.person({ yes }).approvals, nameOf) } : { print }
}

/** Whether nobody here answers, and nobody has said that this is a no. */
export function waitsElsewhere({ io }: Session, { config }: Loaded): boolean {
  return !isAttended(io) && config.approvals?.unattended !== "reject"
}

/** Tells whoever reads stderr what waits and how to answer it. */
export function sayWhatWaits(session: Session, { on, desk }: App): void {
  on("TOOL_CALL_WAITING", ({ callId }) => {
    void desk.show(callId).then(
      (item) => item && say(session, `Waiting for a person: ${yesTo({ ...item, callId })}`),
      // It has ended while it was looked for.
      () => {},
    )
  })
}
