import { agentOfEntries } from "../../common/known-names.ts"
import { followChanges } from "../../../../store/change-feed.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { answerHere, canAnswerHere } from "./answer-at-terminal.ts"
import { showPendingItem } from "./show-pending.ts"
import type { CliContext } from "../../common/context.ts"
import { onBrokenPipe, printMessage } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { cancelOnSignal } from "../../common/signals.ts"

/** Shows what waits and takes answers until Ctrl-C. Without a terminal, each item is printed once with the commands. */
export async function watchApprovals(context: CliContext): Promise<number> {
  const { controller, interrupt, stop } = cancelOnSignal(context.io.leave, () => {})
  const { signal } = controller
  try {
    if (!canAnswerHere(context)) return await printPending(context, controller)
    const idleText = "Nothing waits for a person. What arrives is shown here. Press Ctrl-C to stop."
    return await withPerson(context, async (app, by) => {
      await answerHere(context, app, by.id, { signal, interrupt, idleText })
      return 0
    })
  } finally {
    stop()
  }
}

/** Prints each pending item once, and again when it has a new revision. With --json, one item per line. */
function printPending(context: CliContext, controller: AbortController): Promise<number> {
  const { io, flags } = context
  const { signal } = controller
  onBrokenPipe(io.stdout, () => controller.abort())
  return withApp(context, {}, async (app) => {
    const agent = agentOfEntries(context, app)
    if (!flags.json) printMessage(context, "Watching for approvals. Press Ctrl-C to stop.")
    const shown = new Set<string>()
    const news = followChanges(app.changes, signal)
    while (!signal.aborted) {
      const items = await app.approvals.list(agent === undefined ? {} : { agentId: agent })
      for (const item of items.filter((each) => isNew(each, shown)))
        await showPendingItem(context, item, { whole: false })
      await news.next()
    }
    news.stop()
    return 0
  })
}

function isNew({ callId, kind, revision }: PendingItem, shown: Set<string>): boolean {
  const name = `${callId} ${kind} ${revision}`
  const before = shown.size
  return shown.add(name).size > before
}
