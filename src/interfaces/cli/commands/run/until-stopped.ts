import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { LoadedConfig } from "../../../../config/load.ts"
import { askAtTerminal } from "../approvals/ask-at-terminal.ts"
import type { CliContext } from "../../common/context.ts"
import { isAttended, personOf, withApp } from "../../common/open-app.ts"
import { divertStdout, onBrokenPipe, printMessage } from "../../common/output.ts"
import { cancelOnSignal } from "../../common/signals.ts"

/** The session of a command that makes calls until it is done or stopped. */
export interface CallingSession {
  app: Quartermaster
  loaded: LoadedConfig
  /** Aborted by Ctrl-C, also at the card of an approval, by SIGTERM, and when nobody reads stdout any more. */
  signal: AbortSignal
  /** Does what Ctrl-C does. */
  interrupt(): void
  /** Writes to stdout. Whatever else is printed there meanwhile goes to stderr. */
  write(text: string): void
}

/**
 * Opens the app for a command that makes calls. The person at the terminal is asked about them, and can stop it. With
 * `cards` the command shows what waits itself.
 */
export async function untilStopped(
  context: CliContext,
  work: (session: CallingSession) => Promise<number>,
  { cards = false } = {},
): Promise<number> {
  const { io } = context
  const { controller, interrupt, stop } = cancelOnSignal(io.leave, () =>
    printMessage(context, "Stopping. Press Ctrl-C again to exit immediately."),
  )
  onBrokenPipe(io.stdout, () => controller.abort())
  const stdout = divertStdout(io)
  try {
    return await withApp(context, { print: (text) => printMessage(context, text) }, async (app, loaded) => {
      const person = async () => (await personOf(context, app, loaded)).id
      if (cards && isAttended(io)) app.approvals.attach("queue")
      else await askAtTerminal(context, app, { yes: false, person, onInterrupt: interrupt })
      return work({ app, loaded, signal: controller.signal, interrupt, write: stdout.write })
    })
  } finally {
    stdout.restore()
    stop()
  }
}
