import { setTimeout as sleep } from "node:timers/promises"
import type { PendingItem } from "../model/approval.ts"
import { showPendingItem } from "./show-pending.ts"
import type { CliContext } from "./context.ts"
import { onBrokenPipe, printMessage } from "./output.ts"
import { withApp } from "./open-app.ts"
import { cancelOnSignal } from "./signals.ts"

const pollMs = 250

/** Shows each pending item once, and again when it has a new revision. With --json, one item per line. */
export async function watchApprovals(context: CliContext): Promise<number> {
  const { io, flags } = context
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  const { signal } = controller
  onBrokenPipe(io.stdout, () => controller.abort())
  try {
    return await withApp(context, {}, async ({ approvals }) => {
      if (!flags.json) printMessage(context, "Watching for approvals. Press Ctrl-C to stop.")
      const shown = new Set<string>()
      while (!signal.aborted) {
        const items = await approvals.list(flags.agent === undefined ? {} : { agentId: flags.agent })
        for (const item of items.filter((each) => isNew(each, shown)))
          await showPendingItem(context, item, { whole: false })
        await sleep(pollMs, undefined, { signal }).catch(() => {})
      }
      return 0
    })
  } finally {
    stop()
  }
}

function isNew({ callId, kind, revision }: PendingItem, shown: Set<string>): boolean {
  const name = `${callId} ${kind} ${revision}`
  const before = shown.size
  return shown.add(name).size > before
}
