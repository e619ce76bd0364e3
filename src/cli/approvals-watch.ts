import { setTimeout as sleep } from "node:timers/promises"
import type { DeskItem } from "../model/approval.ts"
import { showItem } from "./answers.ts"
import type { Session } from "./house.ts"
import { onReaderGone, say } from "./output.ts"
import { withApp } from "./session.ts"
import { cancelOnSignal } from "./signals.ts"

const everyMs = 250

/** Shows each thing that waits once, and again when it has a new revision; an item a line for programs. */
export async function watchDesk(session: Session): Promise<number> {
  const { io, flags } = session
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  const { signal } = controller
  onReaderGone(io.stdout, () => controller.abort())
  try {
    return await withApp(session, {}, async ({ desk }) => {
      if (!flags.json) say(session, "Watching the desk. Press Ctrl-C to end.")
      const shown = new Set<string>()
      while (!signal.aborted) {
        const items = await desk.list(flags.agent === undefined ? {} : { agentId: flags.agent })
        for (const item of items.filter((each) => isNew(each, shown))) await showItem(session, item, { whole: false })
        await sleep(everyMs, undefined, { signal }).catch(() => {})
      }
      return 0
    })
  } finally {
    stop()
  }
}

function isNew({ callId, kind, revision }: DeskItem, shown: Set<string>): boolean {
  const name = `${callId} ${kind} ${revision}`
  const before = shown.size
  return shown.add(name).size > before
}
