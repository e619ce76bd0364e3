import type { LoadedConfig } from "../config/load.ts"
import type { App } from "../model/app.ts"
import { approveCommand } from "./show-pending.ts"
import type { OpenOptions, CliContext } from "./context.ts"
import { attributeAnswers } from "./attribute-answers.ts"
import { printMessage } from "./output.ts"
import { isAttended, isInsideTool } from "./open-app.ts"
import { UsageError } from "./usage.ts"

/** Asks the person at this terminal. Without one, the call waits in the approval queue. */
export async function terminalOptions(
  context: CliContext,
  { yes, nameOf, onInterrupt }: { yes: boolean; nameOf: () => Promise<string>; onInterrupt?: () => void },
): Promise<OpenOptions> {
  const { io } = context
  const print = (text: string) => printMessage(context, text)
  if (yes && isInsideTool(io))
    throw new UsageError("--yes is for people, and this runs inside a tool (QM_INSIDE is set). Leave it out.")
  if (!yes && !isAttended(io)) return { print }
  const { terminalAdapter } = await import("../approval-ui/terminal.ts")
  const adapter = terminalAdapter({ input: io.stdin, output: io.stderr, yes, onInterrupt })
  return { print, approvals: attributeAnswers(adapter, nameOf) }
}

/** Whether a call that needs approval waits for an answer from another terminal or program. */
export function waitsForRemoteAnswer({ io }: CliContext, { config }: LoadedConfig): boolean {
  return !isAttended(io) && config.approvals?.unattended !== "reject"
}

/** Prints each waiting call on stderr with the command that approves it. */
export function announceWaitingCalls(context: CliContext, { on, approvals }: App): void {
  on("TOOL_CALL_WAITING", ({ callId }) => {
    // A call that has already ended needs no announcement.
    void announce(callId).catch(() => {})
  })
  async function announce(callId: string): Promise<void> {
    const item = await approvals.show(callId)
    if (item === undefined) return
    if (item.note !== undefined) {
      const { askedAgainText } = await import("../approval-ui/item-text.ts")
      printMessage(context, askedAgainText(item).trimStart())
    }
    printMessage(context, `Waiting for a person: ${await approveCommand({ ...item, callId })}`)
  }
}
