import type { Session } from "./house.ts"
import { isAttended } from "./session.ts"
import { UsageError } from "./usage.ts"

/** Whether the person here agrees to what was just shown. Where nobody sits, `--yes` must have said so. */
export async function confirm(session: Session, question: string, yes: boolean): Promise<boolean> {
  const { io } = session
  if (yes) return true
  if (!isAttended(io)) {
    throw new UsageError("Nobody can be asked here. Look at what is shown above; if it is right, say so with --yes.")
  }
  const { createInterface } = await import("node:readline/promises")
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  try {
    const said = await lines.question(`${question} [y/N] `)
    return /^\s*y(es)?\s*$/i.test(said)
  } finally {
    lines.close()
  }
}
