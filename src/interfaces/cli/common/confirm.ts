import type { CliContext } from "./context.ts"
import { isAttended } from "./open-app.ts"
import { UsageError } from "./usage.ts"

/** Asks the person at the terminal to confirm what was just shown. Without a terminal, `--yes` is required. */
export async function confirm(context: CliContext, question: string, yes: boolean): Promise<boolean> {
  const { io } = context
  if (yes) return true
  if (!isAttended(io)) {
    throw new UsageError(
      "There is no terminal to ask for confirmation. Check what is shown above; if it is right, add --yes.",
    )
  }
  const { createInterface } = await import("node:readline/promises")
  const lines = createInterface({ input: io.stdin, output: io.stderr })
  try {
    const reply = await lines.question(`${question} [y/N] `)
    return /^\s*y(es)?\s*$/i.test(reply)
  } finally {
    lines.close()
  }
}
