import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { existsSync } from "node:fs"
import { followChanges } from "../../../../store/change-feed.ts"
import type { AgentActivity } from "../../../../agents/society/overview.ts"
import { printableJson } from "../../../../lib/printable.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { agentRows, stateText } from "./agent-tree.ts"
import type { CliContext } from "../../common/context.ts"
import { onBrokenPipe, printMessage, printOutput } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"
import { cancelOnSignal } from "../../common/signals.ts"

/** Interval of checking whether the data folder is still there. */
const lookMs = 1000

/** Shows who does what until Ctrl-C: a tree in a terminal, else a line for each change. */
export async function watchAgents(context: CliContext): Promise<number> {
  const { io, flags } = context
  const { controller, stop } = cancelOnSignal(io.leave, () => {})
  onBrokenPipe(io.stdout, () => controller.abort())
  try {
    return await withApp(context, {}, async (app, { dataDir }) => {
      // Open data can still be read, but nothing new comes.
      const isOver = () => controller.signal.aborted || !existsSync(dataDir)
      const news = followChanges(app.changes, controller.signal)
      const watched = { app, isOver, next: () => news.next(lookMs) }
      await (io.stdout.isTTY && !flags.json ? drawTree(context, watched) : printChanges(context, watched))
      news.stop()
      if (!controller.signal.aborted)
        printMessage(context, "The data folder was removed, so there is nothing to watch any more.")
      return 0
    })
  } finally {
    stop()
  }
}

interface Watched {
  app: Quartermaster
  isOver(): boolean
  next(): Promise<void>
}

async function drawTree({ io }: CliContext, { app, isOver, next }: Watched): Promise<void> {
  const { LiveScreen } = await import("../chat/live-screen.ts")
  const paint = await terminalStyleFor(io.stdout, io.env)
  let activity: readonly AgentActivity[] = await app.society.overview()
  const tree = () => agentRows(activity, { columns: screen.columns - 1, paint })
  const screen = new LiveScreen(io.stdout, () => {
    const room = Math.max(3, (io.stdout.rows || 24) - 2)
    const all = tree()
    const more = all.length > room ? [paint.dim(`… and ${all.length - room + 1} more`)] : []
    const rows = [...all.slice(0, more.length > 0 ? room - 1 : room), ...more, paint.dim("Press Ctrl-C to stop.")]
    return { rows, cursor: { row: rows.length - 1, column: 0 } }
  })
  screen.resume()
  const onResize = () => screen.drawNow()
  io.stdout.on("resize", onResize)
  while (!isOver()) {
    await next()
    activity = await app.society.overview()
    screen.draw()
  }
  io.stdout.off("resize", onResize)
  // The last screen stays.
  screen.pause()
  io.stdout.write(`${tree().join("\n")}\n`)
}

/** Prints an agent when what it does has changed. With --json, everything that is known of it. */
async function printChanges(context: CliContext, { app, isOver, next }: Watched): Promise<void> {
  const { flags } = context
  if (!flags.json) printMessage(context, "Watching the agents. Press Ctrl-C to stop.")
  const shown = new Map<string, string>()
  while (!isOver()) {
    const activity = await app.society.overview()
    for (const each of activity) {
      const text = stateText(each, activity)
      if (shown.get(each.agentId) === text) continue
      shown.set(each.agentId, text)
      printOutput(context, flags.json ? printableJson(each) : `${each.agentId} (${each.role}) ${text}`)
    }
    await next()
  }
}
